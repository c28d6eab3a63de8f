use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::process::{
    Pid, PidfdFlags, Signal, getpgid, getpgrp, kill_process, pidfd_open, set_child_subreaper,
};
use rustix::termios::{tcgetpgrp, tcsetpgrp};

use super::signals::Inherited;
use super::spawn::{Launch, Started};
use crate::meter::reaped_usage::{ReapedUsage, Status};
use crate::meter::run_cgroup::RunCgroup;

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
pub(crate) enum ChildEvent {
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
        cgroup: Option<&RunCgroup>,
    ) -> io::Result<(Self, Started)> {
        let _ = set_child_subreaper(Some(rustix::process::getpid()));
        let started = launch.start(inherited, cgroup.map(|cgroup| cgroup.handle.as_fd()))?;
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

    /// Hears what all children have to say, and gives the last event of this one.
    pub(crate) fn reap(&self, reaped: &mut ReapedUsage) -> ChildEvent {
        let mut event = ChildEvent::None;
        while let Some(Status { pid, word }) = reaped.wait() {
            if pid != self.pid.as_raw_pid() as u32 {
                continue;
            }
            if libc::WIFEXITED(word) {
                event = ChildEvent::Ended(Ending::Exited(libc::WEXITSTATUS(word) as u8));
            } else if libc::WIFSIGNALED(word) {
                event = ChildEvent::Ended(Ending::Killed(libc::WTERMSIG(word) as u8));
            } else if libc::WIFSTOPPED(word) {
                event = ChildEvent::Stopped;
            } else if libc::WIFCONTINUED(word) {
                event = ChildEvent::Continued;
            }
        }
        event
    }

    /// The terminal, where the command has made a group of its own the foreground, as shells do.
    pub(crate) fn own_terminal(&self) -> Option<(File, Pid)> {
        let group = getpgid(Some(self.pid)).ok()?;
        let terminal = File::open("/dev/tty").ok()?;
        let is_in_front = tcgetpgrp(&terminal).is_ok_and(|front| front == group);
        (is_in_front && group != getpgrp()).then_some((terminal, group))
    }

    /// Stops this process as its command was stopped, and sets the command going again afterwards.
    pub(crate) fn stop_along(&self) {
        let terminal = self.own_terminal();
        let _ = kill_process(rustix::process::getpid(), Signal::STOP);
        if !self.is_ours {
            return;
        }
        if let Some((terminal, group)) = terminal {
            let _ = tcsetpgrp(terminal, group);
        }
        // Whoever continued only us meant both; a second SIGCONT does no harm.
        let _ = kill_process(self.pid(), Signal::CONT);
    }
}
