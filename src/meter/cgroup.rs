use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::newest_pid::NewestPid;
use super::sensor::alive::is_alive;
use super::sensor::cgroup_cpu_time::mounts;
use super::sensor::{CgroupCpuTime, CpuTimes, KernelFile, Roots};

const CGROUP2_MAGIC: u64 = 0x6367_7270;

/// The CPU time and the processes of a control group and all groups below it.
#[derive(Debug)]
pub(crate) struct CgroupUsage {
    folder: PathBuf,
    /// The group as /proc/<pid>/cgroup names it.
    name: String,
    times: CgroupCpuTime,
    members: KernelFile,
    counts: KernelFile,
    newest_pid: NewestPid,
    has_new_processes: bool,
    processes: Vec<u32>,
}

impl CgroupUsage {
    pub(crate) fn open(folder: &Path, roots: &Roots) -> io::Result<Self> {
        let mounts = mounts(roots);
        // The longer mount point first: one lies inside the other.
        let below = mounts
            .iter()
            .rev()
            .find_map(|mount| folder.strip_prefix(mount).ok());
        Ok(Self {
            folder: folder.to_owned(),
            name: format!("/{}", below.unwrap_or(folder).display()),
            times: CgroupCpuTime::of(folder)?,
            members: KernelFile::open(&folder.join("cgroup.procs"))?,
            counts: KernelFile::open(&folder.join("cgroup.stat"))?,
            newest_pid: NewestPid::of(roots.processes()),
            has_new_processes: false,
            processes: Vec::new(),
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn cpu_time(&self) -> io::Result<CpuTimes> {
        self.times.read()
    }

    /// The processes in the group and below it, in ascending order.
    pub(crate) fn processes(&mut self) -> &[u32] {
        if self.newest_pid.has_changed() {
            self.has_new_processes = true;
            self.processes = self.find_processes();
        } else {
            // No process was started, so no id can have been given to another one.
            self.processes.retain(|pid| is_alive(*pid));
        }
        &self.processes
    }

    /// Whether processes were started on the machine since this was last asked.
    pub(crate) fn take_has_new_processes(&mut self) -> bool {
        std::mem::take(&mut self.has_new_processes)
    }

    /// Whether a process is in another group, as container engines and `systemd-run` arrange.
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
        if !is_whole || self.has_groups_below() {
            return processes_below(&self.folder);
        }
        let mut processes: Vec<u32> = pids(own).collect();
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

/// The processes of a group and of all groups below it, in ascending order.
pub(crate) fn processes_below(folder: &Path) -> Vec<u32> {
    let mut processes = Vec::new();
    for group in groups_from(folder) {
        let list = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
        processes.extend(pids(&list));
    }
    processes.sort_unstable();
    processes
}

/// The group and all groups below it, parents first.
pub(crate) fn groups_from(folder: &Path) -> Vec<PathBuf> {
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

/// The cgroup v2 of a process, as /proc/<pid>/cgroup names it.
pub(crate) fn group_of(processes: &Path, process: &str) -> Option<String> {
    let groups = fs::read_to_string(processes.join(process).join("cgroup")).ok()?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    group.starts_with('/').then(|| group.to_owned())
}

/// Where cgroup v2 is mounted.
pub(crate) fn mount(roots: &Roots) -> Option<PathBuf> {
    mounts(roots)
        .into_iter()
        .find(|mount| rustix::fs::statfs(mount).is_ok_and(|fs| fs.f_type as u64 == CGROUP2_MAGIC))
}
