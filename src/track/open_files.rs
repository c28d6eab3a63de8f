use std::fs::File;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The limit of open files, raised for the tracker and restored for the command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpenFileLimit {
    before: libc::rlimit,
}

/// Enough for the counters of a large machine.
const WANTED: u64 = 1024;

impl OpenFileLimit {
    /// Streams, signals, marks, the start of the command, and the files of the log.
    pub(crate) const LEAST: u64 = 14;

    /// Raises the limit as far as it may be; the error is a limit that is too small.
    pub(crate) fn raise() -> Result<Self, u64> {
        let limit = getrlimit(Resource::Nofile);
        let number = |limit: Option<u64>| limit.unwrap_or(libc::RLIM_INFINITY);
        let before = libc::rlimit {
            rlim_cur: number(limit.current),
            rlim_max: number(limit.maximum),
        };
        let mut allowed = before.rlim_cur;
        let wanted = WANTED.min(before.rlim_max);
        if allowed < wanted {
            let raised = Rlimit {
                current: Some(wanted),
                ..limit
            };
            if setrlimit(Resource::Nofile, raised).is_ok() {
                allowed = wanted;
            }
        }
        if allowed < Self::LEAST {
            return Err(allowed);
        }
        Ok(Self { before })
    }

    /// Restores the limit for the command, between fork and exec.
    pub(crate) fn restore(&self) {
        // SAFETY: a call that is safe after a fork, with a limit that the kernel has given.
        unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const self.before) };
    }
}

/// Files that are kept open while sensors are opened, so that some are left for the log.
#[derive(Debug)]
pub(crate) struct FileReserve {
    _files: Vec<File>,
}

impl FileReserve {
    /// Samples, their flushing, messages, the info and its folder.
    const FILES: usize = 5;

    pub(crate) fn new() -> Self {
        let open = |_| File::open("/dev/null").ok();
        Self {
            _files: (0..Self::FILES).filter_map(open).collect(),
        }
    }
}
