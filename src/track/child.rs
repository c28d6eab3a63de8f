use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, kill_process, pidfd_open, set_child_subreaper, wait,
};

use super::scope::Scope;
use super::signals::Inherited;
use super::spawn::{Launch, Started};

/// The command being measured: started by us, or found running.
#[derive(Debug)]
pub(crate) struct Child {
    pid: Pid,
    is_ours: bool,
    /// Becomes readable when the process ends; old kernels have none for us.
    handle: Option<OwnedFd>,
}

/// How the command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    Exited(u8),
    Killed(u8),
    /// Not ours to wait for, or still running when the time was up.
    Unknown,
}

impl Ending {
    /// The exit code a shell would give.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Exited(code) => code,
            Self::Killed(signal) => 128 + signal,
            Self::Unknown => 0,
        }
    }
}

/// What waiting for our children brought to light.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum News {
    None,
    /// The command has been stopped, as by Ctrl-Z.
    Stopped,
    Continued,
    Ended(Ending),
}

impl Child {
    /// Starts the command, and says when it began and whether it is in the group.
    ///
    /// We inherit whatever it leaves behind, so that nothing escapes the count.
    pub(crate) fn start(
        launch: Launch,
        inherited: &Inherited,
        scope: Option<&Scope>,
    ) -> io::Result<(Self, Started)> {
        let _ = set_child_subreaper(Some(rustix::process::getpid()));
        let started = launch.start(inherited, scope.map(|scope| scope.handle.as_fd()))?;
        let child = Self {
            pid: started.pid,
            is_ours: true,
            handle: pidfd_open(started.pid, PidfdFlags::NONBLOCK).ok(),
        };
        Ok((child, started))
    }

    /// Attaches to a process that is running.
    pub(crate) fn find(pid: Pid) -> io::Result<Self> {
        Ok(Self {
            pid,
            is_ours: false,
            handle: Some(pidfd_open(pid, PidfdFlags::NONBLOCK)?),
        })
    }

    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }

    pub(crate) fn is_ours(&self) -> bool {
        self.is_ours
    }

    /// What can be polled for its end.
    pub(crate) fn handle(&self) -> Option<BorrowedFd<'_>> {
        self.handle.as_ref().map(AsFd::as_fd)
    }

    /// Waits for all children that have something to say, without waiting for any to say it.
    pub(crate) fn reap(&self) -> News {
        let mut news = News::None;
        let all = WaitOptions::NOHANG | WaitOptions::UNTRACED | WaitOptions::CONTINUED;
        while let Ok(Some((pid, status))) = wait(all) {
            if pid != self.pid() {
                continue;
            }
            if let Some(code) = status.exit_status() {
                news = News::Ended(Ending::Exited(code as u8));
            } else if let Some(signal) = status.terminating_signal() {
                news = News::Ended(Ending::Killed(signal as u8));
            } else if status.stopped() {
                news = News::Stopped;
            } else if status.continued() {
                news = News::Continued;
            }
        }
        news
    }

    /// Stops this process as its command was stopped, and sets the command going again afterwards.
    pub(crate) fn stop_along(&self) {
        let _ = kill_process(rustix::process::getpid(), Signal::STOP);
        // Whoever continued only us meant both; a second SIGCONT does no harm.
        let _ = kill_process(self.pid(), Signal::CONT);
    }
}
