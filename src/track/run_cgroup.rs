use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::meter::cgroup::{group_of, groups_from, mount, processes_below};
use crate::meter::sensor::Roots;

const NAME: &str = "impact-";

/// A control group made for the command, so that the kernel counts its CPU time exactly.
#[derive(Debug)]
pub(crate) struct RunCgroup {
    folder: PathBuf,
    parent: PathBuf,
    /// The open folder, for starting a process inside.
    pub(crate) handle: File,
}

impl RunCgroup {
    /// Makes a group below the group of this process; none where that is not allowed, as is common.
    pub(crate) fn make(roots: &Roots) -> Option<Self> {
        let own = group_of(roots.processes(), "self")?;
        let parent = mount(roots)?.join(own.trim_start_matches('/'));
        remove_abandoned(&parent);
        let folder = parent.join(format!("{NAME}{}", std::process::id()));
        fs::create_dir(&folder).ok()?;
        let made = Self::open(&folder, &parent);
        if made.is_err() {
            let _ = fs::remove_dir(&folder);
        }
        made.ok()
    }

    fn open(folder: &Path, parent: &Path) -> io::Result<Self> {
        // Both must be writable for a process to be started inside.
        for group in [folder, parent] {
            OpenOptions::new()
                .write(true)
                .open(group.join("cgroup.procs"))?;
        }
        Ok(Self {
            folder: folder.to_owned(),
            parent: parent.to_owned(),
            handle: File::open(folder)?,
        })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}

/// Removes the group; processes that still run are moved to the parent group.
impl Drop for RunCgroup {
    fn drop(&mut self) {
        if remove(&self.folder) {
            return;
        }
        let parent = OpenOptions::new()
            .write(true)
            .open(self.parent.join("cgroup.procs"));
        if let Ok(mut parent) = parent {
            for pid in processes_below(&self.folder) {
                let _ = parent.write_all(pid.to_string().as_bytes());
            }
        }
        remove(&self.folder);
    }
}

/// Removes a group and those below it if they are empty; says whether it is gone.
fn remove(folder: &Path) -> bool {
    for group in groups_from(folder).iter().rev() {
        let _ = fs::remove_dir(group);
    }
    !folder.exists()
}

/// Removes the empty groups of trackers that were killed.
fn remove_abandoned(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix(NAME));
        if owner.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
            remove(&entry.path());
        }
    }
}
