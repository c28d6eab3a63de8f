use std::mem::MaybeUninit;
use std::time::Duration;

use super::sensor::CpuTimes;

/// What the dead of the run have used: the children this process has waited for, and theirs.
#[derive(Debug, Default)]
pub(crate) struct ReapedUsage {
    /// Children that whoever became us had already: no part of the run.
    not_counted: Vec<u32>,
    time: CpuTimes,
    /// Bytes of the one that had most memory.
    largest: Option<u64>,
}

/// News of a child, as the kernel writes it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Status {
    pub(crate) pid: u32,
    pub(crate) word: libc::c_int,
}

impl ReapedUsage {
    pub(crate) fn without(not_counted: Vec<u32>) -> Self {
        Self {
            not_counted,
            ..Self::default()
        }
    }

    pub(crate) fn time(&self) -> CpuTimes {
        self.time
    }

    pub(crate) fn largest(&self) -> Option<u64> {
        self.largest
    }

    pub(crate) fn is_not_counted(&self, pid: u32) -> bool {
        self.not_counted.contains(&pid)
    }

    /// The next child that has something to say, without waiting for it to say it.
    pub(crate) fn wait(&mut self) -> Option<Status> {
        let options = libc::WNOHANG | libc::WUNTRACED | libc::WCONTINUED;
        let mut word = 0;
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the kernel fills in both; all zeros are valid should it not.
        let (pid, usage) = unsafe {
            let pid = libc::wait4(-1, &raw mut word, options, usage.as_mut_ptr());
            (pid, usage.assume_init())
        };
        let pid = u32::try_from(pid).ok().filter(|pid| *pid > 0)?;
        if libc::WIFEXITED(word) || libc::WIFSIGNALED(word) {
            self.add_usage(pid, &usage);
        }
        Some(Status { pid, word })
    }

    fn add_usage(&mut self, pid: u32, usage: &libc::rusage) {
        if let Some(at) = self.not_counted.iter().position(|other| *other == pid) {
            self.not_counted.swap_remove(at);
            return;
        }
        let time = |t: libc::timeval| Duration::new(t.tv_sec as u64, t.tv_usec as u32 * 1000);
        self.time = self.time.plus(CpuTimes {
            user: time(usage.ru_utime),
            system: time(usage.ru_stime),
        });
        self.largest = self.largest.max(Some(usage.ru_maxrss as u64 * 1024));
    }
}
