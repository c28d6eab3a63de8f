use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::str::SplitAsciiWhitespace;
use std::time::Duration;

use super::newest_pid::NewestPid;
use super::reaped_usage::ReapedUsage;
use super::sensor::{CpuTimes, KernelFile, Roots, tick};

/// Files of processes leave this many for everything else.
const KEPT_FREE: usize = 32;

/// Whose descendants are the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TreeRoot {
    /// All children of this process from now on, also those it inherits and those that have ended.
    Ours,
    /// This process and its descendants.
    Process(u32),
}

/// The processes of a run, and the CPU time of them and of those that have ended.
///
/// The kernel adds the time of an ended process to the process that waited for it. So a child that
/// was too short to be seen alive is counted as well.
#[derive(Debug)]
pub(crate) struct ProcessTree {
    folder: PathBuf,
    root: TreeRoot,
    pub(crate) reaped: ReapedUsage,
    alive: BTreeMap<u32, Process>,
    /// This many of their files may stay open; the others are opened for each reading.
    most_open: usize,
    newest_pid: NewestPid,
    tick: Duration,
    last: CpuTimes,
    /// Time of ended processes that were not waited for.
    unclaimed: Duration,
}

#[derive(Debug, Default)]
struct Process {
    stat: Option<KernelFile>,
    /// Its CPU time as last read.
    times: CpuTimes,
}

/// The fields of /proc/<pid>/stat that are needed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Record {
    own: CpuTimes,
    /// Of the children it has waited for, and theirs.
    ended_children: CpuTimes,
    threads: u32,
}

impl ProcessTree {
    pub(crate) fn of(root: TreeRoot, roots: &Roots) -> Self {
        let folder = roots.processes().to_owned();
        let not_counted = match root {
            TreeRoot::Ours => children(&folder, std::process::id(), 2),
            TreeRoot::Process(_) => Vec::new(),
        };
        let may_open = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        Self {
            newest_pid: NewestPid::of(&folder),
            folder,
            root,
            reaped: ReapedUsage::without(not_counted),
            alive: BTreeMap::new(),
            most_open: may_open.map_or(usize::MAX, |files| {
                (files as usize).saturating_sub(KEPT_FREE) / 2
            }),
            tick: tick(),
            last: CpuTimes::default(),
            unclaimed: Duration::ZERO,
        }
    }

    /// Whether somebody else waits for the ended processes.
    pub(crate) fn is_not_waited_for(&self) -> bool {
        matches!(self.root, TreeRoot::Process(_))
    }

    pub(crate) fn processes(&self) -> Vec<u32> {
        self.alive.keys().copied().collect()
    }

    /// The run's CPU time so far; never less than before.
    pub(crate) fn read(&mut self) -> CpuTimes {
        if self.newest_pid.has_changed() {
            self.find_processes();
        }
        let mut now = self.sum();
        // /proc counts in ticks, so one tick may go missing when a process ends.
        let noise = self.tick * 2 * (self.alive.len() as u32 + 1);
        let missing = |now: CpuTimes, unclaimed: Duration, last: CpuTimes| {
            last.total().saturating_sub(now.total() + unclaimed)
        };
        if missing(now, self.unclaimed, self.last) > noise {
            // A process may just be ending and be counted nowhere; read once more.
            now = self.sum();
            let missing = missing(now, self.unclaimed, self.last);
            if missing > noise {
                self.unclaimed += missing;
            }
        }
        now.user += self.unclaimed;
        if now.total() > self.last.total() {
            self.last = now;
        }
        self.last
    }

    /// The processes at which the search for descendants starts.
    fn roots(&self) -> Vec<u32> {
        match self.root {
            TreeRoot::Ours => children(&self.folder, std::process::id(), 2),
            // A process that loses its parent gets another one, but still belongs to the run.
            TreeRoot::Process(pid) => {
                let known = self.alive.iter().filter(|(_, process)| process.is_here());
                let known = known.map(|(pid, _)| *pid);
                known.chain([pid]).collect()
            }
        }
    }

    /// Whether a process found in the tree is not part of the run.
    fn is_excluded(&self, pid: u32) -> bool {
        let is_tracker = pid == std::process::id() && self.root != TreeRoot::Process(pid);
        is_tracker || self.reaped.is_not_counted(pid)
    }

    fn find_processes(&mut self) {
        let mut to_visit = self.roots();
        let mut found = BTreeMap::new();
        while let Some(pid) = to_visit.pop() {
            if self.is_excluded(pid) || found.contains_key(&pid) {
                continue;
            }
            let known = self.alive.remove(&pid);
            let known = known.filter(|process| process.stat.is_none() || process.is_here());
            let may_stay_open = found.len() < self.most_open;
            let mut process = match known.map_or_else(|| self.open_process(pid, may_stay_open), Ok)
            {
                Ok(process) => process,
                Err(error) if has_ended(&error) => continue,
                Err(_) => Process::default(),
            };
            let threads = process.read(&self.folder, pid, self.tick).unwrap_or(1);
            to_visit.extend(children(&self.folder, pid, threads));
            found.insert(pid, process);
        }
        self.alive = found;
    }

    fn open_process(&self, pid: u32, may_stay_open: bool) -> io::Result<Process> {
        let stat = open(&self.folder, pid)?;
        Ok(Process {
            stat: may_stay_open.then_some(stat),
            ..Process::default()
        })
    }

    /// The living processes of the run that are not among `known`, which is in ascending order.
    pub(crate) fn others_than(&self, known: &[u32]) -> Vec<u32> {
        let mut to_visit = self.roots();
        let mut visited = BTreeSet::new();
        while let Some(pid) = to_visit.pop() {
            if !self.is_excluded(pid) && visited.insert(pid) {
                to_visit.extend(children(&self.folder, pid, 2));
            }
        }
        visited.retain(|pid| known.binary_search(pid).is_err());
        visited.into_iter().collect()
    }

    /// Reads parents before children, so that a process that ends meanwhile is not counted twice.
    fn sum(&mut self) -> CpuTimes {
        let (tick, folder) = (self.tick, &self.folder);
        let mut sum = match self.root {
            TreeRoot::Ours => self.reaped.time(),
            TreeRoot::Process(_) => CpuTimes::default(),
        };
        self.alive.retain(|pid, process| {
            let outcome = process.read(folder, *pid, tick);
            let is_left = !outcome.is_err_and(|error| has_ended(&error));
            if is_left {
                sum = sum.plus(process.times);
            }
            is_left
        });
        sum
    }
}

impl Process {
    /// Reads its CPU time; gives the number of its threads.
    fn read(&mut self, folder: &Path, pid: u32, tick: Duration) -> io::Result<u32> {
        let mut buffer = [0; 512];
        let stat = match &self.stat {
            Some(stat) => stat.bytes(&mut buffer)?,
            None => open(folder, pid)?.bytes(&mut buffer)?,
        };
        let record =
            Record::parse(stat, tick).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
        self.times = record.times(cpu_clock(pid));
        Ok(record.threads)
    }

    /// Whether the process of the open file still exists.
    fn is_here(&self) -> bool {
        let stat = self.stat.as_ref();
        stat.is_some_and(|stat| stat.bytes(&mut [0; 8]).is_ok())
    }
}

fn open(folder: &Path, pid: u32) -> io::Result<KernelFile> {
    KernelFile::open(&folder.join(format!("{pid}/stat")))
}

/// Whether a process could not be read because it has ended.
fn has_ended(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH)
}

impl Record {
    fn parse(stat: &[u8], tick: Duration) -> Option<Self> {
        let mut fields = after_name(stat)?;
        let mut number = |skip: usize| -> Option<u64> { fields.nth(skip)?.parse().ok() };
        let ticks = |count: u64| Duration::from_nanos(count * tick.as_nanos() as u64);
        Some(Self {
            own: CpuTimes {
                user: ticks(number(11)?),
                system: ticks(number(0)?),
            },
            ended_children: CpuTimes {
                user: ticks(number(0)?),
                system: ticks(number(0)?),
            },
            threads: number(2)? as u32,
        })
    }

    /// All its CPU time; its own part from its CPU clock, where that can be read.
    fn times(self, clock: Option<Duration>) -> CpuTimes {
        let own = clock.map_or(self.own, |total| CpuTimes {
            user: total.saturating_sub(self.own.system),
            system: self.own.system.min(total),
        });
        own.plus(self.ended_children)
    }
}

/// The fields of /proc/<pid>/stat after the name.
///
/// The name is in parentheses and may contain any bytes, also parentheses.
fn after_name(stat: &[u8]) -> Option<SplitAsciiWhitespace<'_>> {
    let end = memchr::memrchr(b')', stat)?;
    let rest = std::str::from_utf8(&stat[end + 1..]).ok()?;
    Some(rest.split_ascii_whitespace())
}

/// A process and its living descendants, parents first; no more than this many.
pub(crate) fn with_descendants(folder: &Path, pid: u32, most: usize) -> Vec<u32> {
    let mut found = vec![pid];
    let mut visited = 0;
    while let Some(next) = found.get(visited).copied() {
        visited += 1;
        for child in children(folder, next, 2) {
            if found.len() < most && !found.contains(&child) {
                found.push(child);
            }
        }
    }
    found
}

/// The parent of a process, from its folder in /proc.
pub(crate) fn parent(process: &Path) -> Option<u32> {
    let stat = std::fs::read(process.join("stat")).ok()?;
    after_name(&stat)?.nth(1)?.parse().ok()
}

/// The CPU time of all threads of a process, to the nanosecond and without a file.
pub(crate) fn cpu_clock(pid: u32) -> Option<Duration> {
    /// Scheduler time of a whole process, in the kernel's numbering of clocks.
    const SCHEDULED: libc::clockid_t = 2;
    let clock = (!(pid as libc::clockid_t) << 3) | SCHEDULED;
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: clock_gettime writes one timespec into the one it is given.
    let done = unsafe { libc::clock_gettime(clock, &raw mut time) };
    (done == 0).then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

/// The living children of a process; with one thread, only that thread's list is read.
fn children(folder: &Path, pid: u32, threads: u32) -> Vec<u32> {
    let tasks = folder.join(format!("{pid}/task"));
    let of_task = |task: &Path| std::fs::read_to_string(task.join("children"));
    let lists: Vec<io::Result<String>> = if threads <= 1 {
        vec![of_task(&tasks.join(pid.to_string()))]
    } else {
        std::fs::read_dir(&tasks)
            .into_iter()
            .flatten()
            .flatten()
            .map(|task| of_task(&task.path()))
            .collect()
    };
    if lists.is_empty() || lists.iter().any(Result::is_err) && !has_children_files() {
        return children_by_scan(folder, pid);
    }
    lists
        .iter()
        .flatten()
        .flat_map(|list| list.split_ascii_whitespace())
        .filter_map(|pid| pid.parse().ok())
        .collect()
}

/// Whether the kernel was built to list the children of a thread.
fn has_children_files() -> bool {
    let own = std::process::id();
    Path::new(&format!("/proc/{own}/task/{own}/children")).exists()
}

fn children_by_scan(folder: &Path, parent: u32) -> Vec<u32> {
    std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
            (self::parent(&entry.path()) == Some(parent)).then_some(pid)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &[u8] =
        b"41 (a) b\xd0 (c) S 40 41 41 0 -1 4194560 100 200 0 0 7 3 50 20 20 0 4 0 99 8 9";

    #[test]
    fn a_name_may_hold_parentheses_and_half_a_character() {
        let record = Record::parse(STAT, Duration::from_millis(10)).unwrap();
        assert_eq!(record.own.total(), Duration::from_millis(100));
        assert_eq!(record.ended_children.total(), Duration::from_millis(700));
        assert_eq!(record.threads, 4);
    }

    #[test]
    fn the_clock_of_a_process_refines_its_own_time_only() {
        let record = Record::parse(STAT, Duration::from_millis(10)).unwrap();
        let times = record.times(Some(Duration::from_millis(105)));
        assert_eq!(times.total(), Duration::from_millis(805));
        assert_eq!(times.system, Duration::from_millis(230));
    }

    #[test]
    fn our_own_clock_advances() {
        let before = cpu_clock(std::process::id()).unwrap();
        let busy = (0..1_000_000u64).fold(0, |sum: u64, i| sum.wrapping_mul(31).wrapping_add(i));
        std::hint::black_box(busy);
        assert!(cpu_clock(std::process::id()).unwrap() > before);
    }

    #[test]
    fn a_scan_and_the_children_files_find_the_same() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let own = std::process::id();
        let folder = Path::new("/proc");
        assert!(children(folder, own, 2).contains(&child.id()));
        assert!(children_by_scan(folder, own).contains(&child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
