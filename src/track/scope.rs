use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::tree::RunTime;
use crate::sensor::{KernelFile, Roots};

const NAME: &str = "impact-";
const CGROUP2_MAGIC: u64 = 0x6367_7270;

/// A control group of our own for the run: the kernel then counts its CPU time exactly.
#[derive(Debug)]
pub(crate) struct Scope {
    folder: PathBuf,
    parent: PathBuf,
    times: KernelFile,
    /// The folder itself, for starting a process inside.
    pub(crate) handle: File,
}

impl Scope {
    /// Makes a group below our own; nothing where that is not allowed, as often.
    pub(crate) fn make(roots: &Roots) -> Option<Self> {
        let parent = own_group(roots)?;
        sweep(&parent);
        let folder = parent.join(format!("{NAME}{}", std::process::id()));
        fs::create_dir(&folder).ok()?;
        let made = Self::open(&folder, &parent);
        if made.is_err() {
            let _ = fs::remove_dir(&folder);
        }
        made.ok()
    }

    fn open(folder: &Path, parent: &Path) -> io::Result<Self> {
        let times = KernelFile::open(&folder.join("cpu.stat"))?;
        // Both must be writable for a process to be started inside.
        for group in [folder, parent] {
            OpenOptions::new()
                .write(true)
                .open(group.join("cgroup.procs"))?;
        }
        Ok(Self {
            folder: folder.to_owned(),
            parent: parent.to_owned(),
            times,
            handle: File::open(folder)?,
        })
    }

    pub(crate) fn read(&self) -> io::Result<RunTime> {
        let mut buffer = [0; 512];
        let text = self.times.text(&mut buffer)?;
        parse(text).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
    }

    /// The processes in the group and in groups they made below it.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let mut processes = Vec::new();
        let mut groups = vec![self.folder.clone()];
        while let Some(group) = groups.pop() {
            let list = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
            processes.extend(list.lines().filter_map(|pid| pid.parse::<u32>().ok()));
            let inside = fs::read_dir(&group).into_iter().flatten().flatten();
            groups.extend(
                inside
                    .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
                    .map(|entry| entry.path()),
            );
        }
        processes.sort_unstable();
        processes
    }
}

/// What still runs goes back to where it would have been without us.
impl Drop for Scope {
    fn drop(&mut self) {
        if fs::remove_dir(&self.folder).is_ok() {
            return;
        }
        let parent = OpenOptions::new()
            .write(true)
            .open(self.parent.join("cgroup.procs"));
        if let Ok(mut parent) = parent {
            for pid in self.processes() {
                let _ = parent.write_all(pid.to_string().as_bytes());
            }
        }
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Our own group of the second version of control groups.
fn own_group(roots: &Roots) -> Option<PathBuf> {
    let groups = fs::read_to_string(roots.processes().join("self/cgroup")).ok()?;
    let path = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    ["fs/cgroup", "fs/cgroup/unified"]
        .iter()
        .map(|mount| roots.sys(mount))
        .find(|mount| rustix::fs::statfs(mount).is_ok_and(|fs| fs.f_type as u64 == CGROUP2_MAGIC))
        .map(|mount| mount.join(path))
}

/// Removes the empty groups of trackers that were killed.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix(NAME));
        if owner.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

fn parse(text: &str) -> Option<RunTime> {
    let field = |name: &str| -> Option<Duration> {
        text.lines().find_map(|line| {
            let (key, value) = line.split_once(' ')?;
            (key == name).then(|| value.parse().ok().map(Duration::from_micros))?
        })
    };
    let system = field("system_usec")?;
    Some(RunTime {
        user: field("usage_usec")?.saturating_sub(system),
        system,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_of_a_group_are_read_as_the_kernel_writes_them() {
        let times = parse("usage_usec 1500\nuser_usec 1000\nsystem_usec 500\nnice_usec 0\n");
        assert_eq!(times.unwrap().total(), Duration::from_micros(1500));
        assert_eq!(parse("nr_periods 0\n"), None);
    }
}
