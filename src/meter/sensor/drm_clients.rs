//! Who works on a board, by the kernel's descriptions of open files (drm-usage-stats).

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::files;
use crate::meter::throttle::Throttle;

/// More open files are not looked at in one sample.
const MOST_OPEN_FILES: usize = 4096;
/// More open files of all processes are not looked at.
const MOST_OPEN_FILES_OF_ALL: usize = 1 << 18;
/// The kernel's description of an open file is smaller.
const LARGEST_DESCRIPTION: u64 = 64 << 10;
/// Looking at the open files of all processes may take one such part of the time.
const PART_OF_THE_TIME: u32 = 5_000;
const SHORTEST_PAUSE: Duration = Duration::from_secs(5);
/// The host's pid namespace; the number is the same in every kernel.
const HOST_NAMESPACE: &str = "pid:[4026531836]";

/// The programs that have one board open, and how much each has worked on it.
#[derive(Debug)]
pub(super) struct DrmClients {
    /// The /proc with the processes.
    folder: PathBuf,
    /// The board's address on the PCI bus, by which open files name it.
    address: String,
    /// What each client had done when it was last read.
    done: BTreeMap<String, u64>,
    /// Processes that had the board open when all were last looked at.
    users: BTreeSet<u32>,
    /// Whether there may be processes that cannot be looked at.
    are_some_hidden: bool,
    throttle: Throttle,
    /// Whether clients have been read before.
    has_been_read: bool,
}

/// What was done on a board since the last reading.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct BoardUse {
    pub(super) run: RunWork,
    /// Work of the others that can be seen.
    pub(super) others: u64,
    /// Whether work is counted in nanoseconds, not in cycles.
    pub(super) is_in_time: bool,
    /// Whether a program has queues whose work the kernel does not see.
    pub(super) has_own_queues: bool,
    pub(super) are_some_hidden: bool,
}

/// The work of the run on a board.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum RunWork {
    /// The run does not have the board open.
    #[default]
    NotOpen,
    /// Its driver does not count work.
    NotCounted,
    Counted(u64),
}

impl RunWork {
    fn add(&mut self, step: u64) {
        *self = match self {
            Self::Counted(sum) => Self::Counted(sum.saturating_add(step)),
            _ => Self::Counted(step),
        };
    }
}

/// One open file of a board.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Client {
    id: Option<String>,
    work: Option<u64>,
    is_in_time: bool,
}

/// What a process has open.
#[derive(Debug, Default)]
struct OpenFiles {
    clients: BTreeMap<String, Client>,
    /// AMD's compute driver, whose queues belong to the program.
    has_own_queues: bool,
}

impl DrmClients {
    pub(super) fn of(address: String, folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            address,
            done: BTreeMap::new(),
            users: BTreeSet::new(),
            are_some_hidden: false,
            throttle: Throttle::new(PART_OF_THE_TIME, SHORTEST_PAUSE),
            has_been_read: false,
        }
    }

    /// What these processes and all others did since the last call; none if none of these can be read.
    pub(super) fn read(&mut self, run: &[u32], now: Instant) -> Option<BoardUse> {
        let is_first = !std::mem::replace(&mut self.has_been_read, true);
        if self.throttle.is_due(now) {
            self.find_users();
            self.throttle.done(now);
        }
        let mut found = BoardUse {
            are_some_hidden: self.are_some_hidden,
            ..BoardUse::default()
        };
        let mut done = BTreeMap::new();
        let mut is_seen = false;
        let mut left = MOST_OPEN_FILES;
        // A client that the run shares with others is the run's, so the run is read first.
        let run: BTreeSet<u32> = run.iter().copied().collect();
        let others = self.users.difference(&run);
        for (pid, is_of_run) in run
            .iter()
            .map(|pid| (pid, true))
            .chain(others.map(|pid| (pid, false)))
        {
            let Ok(open) = self.open_files(*pid, &mut left) else {
                continue;
            };
            is_seen |= is_of_run;
            if is_of_run && !open.clients.is_empty() && found.run == RunWork::NotOpen {
                found.run = RunWork::NotCounted;
            }
            found.has_own_queues |= open.has_own_queues && !open.clients.is_empty();
            for (id, client) in open.clients {
                let Some(work) = client.work else { continue };
                if done.insert(id.clone(), work).is_some() {
                    continue;
                }
                // A client of the run is new since the last call; one of others may only be found late.
                let new = if is_of_run && !is_first { 0 } else { work };
                let before = self.done.get(&id).copied().unwrap_or(new);
                let step = work.saturating_sub(before);
                found.is_in_time |= client.is_in_time;
                if is_of_run {
                    found.run.add(step);
                } else {
                    found.others += step;
                }
            }
        }
        self.done = done;
        (is_seen && left > 0).then_some(found)
    }

    fn find_users(&mut self) {
        let mut left = MOST_OPEN_FILES_OF_ALL;
        let namespace = std::fs::read_link(self.folder.join("self/ns/pid"));
        // In a container only its own processes can be seen.
        self.are_some_hidden = namespace.is_ok_and(|name| name.as_os_str() != HOST_NAMESPACE);
        let mut users = BTreeSet::new();
        for entry in std::fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .flatten()
        {
            let Some(pid) = entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok())
            else {
                continue;
            };
            match self.open_files(pid, &mut left) {
                Ok(open) if !open.clients.is_empty() => {
                    users.insert(pid);
                }
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    self.are_some_hidden = true;
                }
                _ => {}
            }
        }
        self.are_some_hidden |= left == 0;
        self.users = users;
    }

    fn open_files(&self, pid: u32, left: &mut usize) -> io::Result<OpenFiles> {
        let process = self.folder.join(pid.to_string());
        let mut open = OpenFiles::default();
        for file in std::fs::read_dir(process.join("fdinfo"))?.flatten() {
            if *left == 0 {
                break;
            }
            *left -= 1;
            // A link is read faster than a description.
            if let Ok(target) = std::fs::read_link(process.join("fd").join(file.file_name())) {
                open.has_own_queues |= target == Path::new("/dev/kfd");
                if !target.starts_with("/dev/dri") {
                    continue;
                }
            }
            let text = files::read_text(&file.path(), LARGEST_DESCRIPTION).unwrap_or_default();
            if let Some(client) = Client::parse(&text, &self.address) {
                let number = || format!("{pid}/{}", file.file_name().to_string_lossy());
                let id = client.id.clone().unwrap_or_else(number);
                open.clients.insert(id, client);
            }
        }
        Ok(open)
    }
}

impl Client {
    /// The client that a description is of; none if it is not of this board.
    fn parse(text: &str, address: &str) -> Option<Self> {
        let fields = || text.lines().filter_map(|line| line.split_once(':'));
        let field = |name: &str| {
            fields()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| value.trim())
        };
        if field("drm-pdev")? != address {
            return None;
        }
        let first =
            |value: &str| -> Option<u64> { value.split_ascii_whitespace().next()?.parse().ok() };
        let sum = |prefix: &str| {
            let engines = fields().filter_map(|(key, value)| {
                let engine = key.strip_prefix(prefix)?;
                if engine.starts_with("capacity-") {
                    return None;
                }
                let capacity = field(&format!("drm-engine-capacity-{engine}")).and_then(first);
                Some(first(value)? / capacity.unwrap_or(1).max(1))
            });
            engines.fold(None, |sum: Option<u64>, work| {
                Some(sum.unwrap_or(0).saturating_add(work))
            })
        };
        let time = sum("drm-engine-");
        Some(Self {
            id: field("drm-client-id").map(str::to_owned),
            is_in_time: time.is_some(),
            work: time.or_else(|| sum("drm-cycles-")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: &str = "0000:03:00.0";

    #[test]
    fn engines_are_added_up_and_divided_by_their_number() {
        let text = "drm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\ndrm-client-id:\t42\n\
                    drm-engine-gfx:\t700 ns\ndrm-engine-dec:\t600 ns\ndrm-engine-capacity-dec:\t2\n";
        let client = Client::parse(text, ADDRESS).unwrap();
        assert_eq!(client.work, Some(1000));
        assert_eq!(client.id.as_deref(), Some("42"));
        assert!(client.is_in_time);
        assert_eq!(Client::parse(text, "0000:04:00.0"), None);
    }

    #[test]
    fn cycles_are_work_where_there_is_no_time() {
        let text = "drm-pdev: 0000:03:00.0\ndrm-cycles-rcs: 500\ndrm-total-cycles-rcs: 9000\n";
        let client = Client::parse(text, ADDRESS).unwrap();
        assert_eq!((client.work, client.is_in_time), (Some(500), false));
        let silent = Client::parse("drm-pdev: 0000:03:00.0\n", ADDRESS).unwrap();
        assert_eq!(silent.work, None);
    }
}
