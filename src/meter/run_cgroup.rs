use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::newest_pid::NewestPid;
use super::sensor::alive::is_alive;
use super::sensor::cgroup_cpu_time::mounts;
use super::sensor::{CgroupCpuTime, CpuTimes, KernelFile, Roots};

const NAME: &str = "impact-";
const CGROUP2_MAGIC: u64 = 0x6367_7270;

/// A control group of our own for the run: the kernel then counts its CPU time exactly.
#[derive(Debug)]
pub(crate) struct RunCgroup {
    folder: PathBuf,
    parent: PathBuf,
    times: CgroupCpuTime,
    members: KernelFile,
    counts: KernelFile,
    newest_pid: NewestPid,
    has_new_processes: bool,
    processes: Vec<u32>,
    /// Its name in the processes' own files.
    name: String,
    /// The folder itself, for starting a process inside.
    pub(crate) handle: File,
}

impl RunCgroup {
    /// Makes a group below our own; nothing where that is not allowed, as often.
    pub(crate) fn make(roots: &Roots) -> Option<Self> {
        let own = group_of(roots.processes(), "self")?;
        let parent = mount(roots)?.join(own.trim_start_matches('/'));
        sweep(&parent);
        let name = format!("{}/{NAME}{}", own.trim_end_matches('/'), std::process::id());
        let folder = mount(roots)?.join(name.trim_start_matches('/'));
        fs::create_dir(&folder).ok()?;
        let made = Self::open(&folder, &parent, name, NewestPid::of(roots.processes()));
        if made.is_err() {
            let _ = fs::remove_dir(&folder);
        }
        made.ok()
    }

    fn open(folder: &Path, parent: &Path, name: String, newest_pid: NewestPid) -> io::Result<Self> {
        let times = CgroupCpuTime::of(folder)?;
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
            members: KernelFile::open(&folder.join("cgroup.procs"))?,
            counts: KernelFile::open(&folder.join("cgroup.stat"))?,
            newest_pid,
            has_new_processes: false,
            processes: Vec::new(),
            name,
            handle: File::open(folder)?,
        })
    }

    pub(crate) fn read(&self) -> io::Result<CpuTimes> {
        self.times.read()
    }

    /// The processes in the group and in groups they made below it.
    pub(crate) fn processes(&mut self) -> &[u32] {
        if self.newest_pid.has_changed() {
            self.has_new_processes = true;
            self.processes = self.find_processes();
        } else {
            // Nobody was born who could have the number of one who died.
            self.processes.retain(|pid| is_alive(*pid));
        }
        &self.processes
    }

    /// Whether processes were born somewhere since this was last asked.
    pub(crate) fn take_has_new_processes(&mut self) -> bool {
        std::mem::take(&mut self.has_new_processes)
    }

    /// Whether a process has left for another group, as container engines and `systemd-run` make it.
    pub(crate) fn was_left_by(&self, processes: &Path, pid: u32) -> bool {
        group_of(processes, &pid.to_string()).is_some_and(|group| {
            let below = group.strip_prefix(&self.name);
            below.is_none_or(|rest| !rest.is_empty() && !rest.starts_with(['/', ' ']))
        })
    }

    fn find_processes(&self) -> Vec<u32> {
        let mut buffer = [0; 4096];
        let own = self.members.text(&mut buffer).unwrap_or_default();
        let is_whole = own.len() < 4000;
        let mut processes: Vec<u32> = pids(own).collect();
        if !is_whole || self.has_groups_below() {
            processes.clear();
            for group in groups_from(&self.folder) {
                let list = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
                processes.extend(pids(&list));
            }
        }
        processes.sort_unstable();
        processes
    }

    fn has_groups_below(&self) -> bool {
        let mut buffer = [0; 256];
        let counts = self.counts.text(&mut buffer).unwrap_or_default();
        !counts.starts_with("nr_descendants 0\n")
    }
}

fn pids(list: &str) -> impl Iterator<Item = u32> {
    list.lines().filter_map(|pid| pid.parse().ok())
}

/// The group and all below it.
fn groups_from(folder: &Path) -> Vec<PathBuf> {
    let mut groups = vec![folder.to_owned()];
    let mut visited = 0;
    while let Some(group) = groups.get(visited) {
        let entries = fs::read_dir(group).into_iter().flatten().flatten();
        let below = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let below: Vec<PathBuf> = below.map(|entry| entry.path()).collect();
        groups.extend(below);
        visited += 1;
    }
    groups
}

/// What still runs goes back to where it would have been without us.
impl Drop for RunCgroup {
    fn drop(&mut self) {
        if remove(&self.folder) {
            return;
        }
        let parent = OpenOptions::new()
            .write(true)
            .open(self.parent.join("cgroup.procs"));
        if let Ok(mut parent) = parent {
            for pid in self.find_processes() {
                let _ = parent.write_all(pid.to_string().as_bytes());
            }
        }
        remove(&self.folder);
    }
}

/// Removes a group and those below it, if nobody is in them; says whether it is gone.
fn remove(folder: &Path) -> bool {
    for group in groups_from(folder).iter().rev() {
        let _ = fs::remove_dir(group);
    }
    !folder.exists()
}

/// The group of a process in the second version of control groups, as its own file names it.
fn group_of(processes: &Path, process: &str) -> Option<String> {
    let groups = fs::read_to_string(processes.join(process).join("cgroup")).ok()?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    group.starts_with('/').then(|| group.to_owned())
}

/// Where that version is mounted.
fn mount(roots: &Roots) -> Option<PathBuf> {
    mounts(roots)
        .into_iter()
        .find(|mount| rustix::fs::statfs(mount).is_ok_and(|fs| fs.f_type as u64 == CGROUP2_MAGIC))
}

/// Removes the empty groups of trackers that were killed.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix(NAME));
        if owner.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
            remove(&entry.path());
        }
    }
}
