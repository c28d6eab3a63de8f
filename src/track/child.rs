use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, getpgid, getpgrp, pidfd_open, set_child_subreaper};
use rustix::termios::tcgetpgrp;

use super::open_files::OpenFileLimit;
use super::run_cgroup::RunCgroup;
use super::signals::Inherited;
use super::spawn::{Launch, Started};
use crate::meter::CpuTimes;

/// The command being measured: started by this process, or found running.
#[derive(Debug)]
pub(crate) struct Child {
    pid: Pid,
    is_ours: bool,
    /// Becomes readable when the process ends; old kernels have no such handle.
    handle: Option<OwnedFd>,
}

/// How the command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// It exited with this code.
    Exited(u8),
    /// This signal killed it.
    Killed(u8),
    /// It is not a child of the tracker, or still ran when the time was up.
    Unknown,
}

impl Ending {
    /// The exit code that a shell would give.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Exited(code) => code,
            Self::Killed(signal) => 128 + signal,
            Self::Unknown => 0,
        }
    }
}

/// What waiting for the children has shown about the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChildEvent {
    None,
    /// The command has been stopped, as by Ctrl-Z.
    Stopped,
    Continued,
    Ended(Ending),
}

/// An ended child and the resources that it and its own ended children have used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reaped {
    pub(crate) pid: u32,
    pub(crate) time: CpuTimes,
    pub(crate) max_resident_bytes: u64,
}

impl Child {
    /// Starts the command; says when it began and whether it is in the control group.
    ///
    /// This process becomes the parent of all processes that the command leaves behind, so that they
    /// are counted too.
    pub(crate) fn start(
        launch: Launch,
        inherited: &Inherited,
        files: &OpenFileLimit,
        cgroup: Option<&RunCgroup>,
    ) -> io::Result<(Self, Started)> {
        let _ = set_child_subreaper(Some(rustix::process::getpid()));
        let started = launch.start(inherited, files, cgroup.map(|cgroup| cgroup.handle.as_fd()))?;
        let child = Self {
            pid: started.pid,
            is_ours: true,
            handle: pidfd_open(started.pid, PidfdFlags::NONBLOCK).ok(),
        };
        Ok((child, started))
    }

    /// Attaches to a running process.
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

    /// Whether the command was started by the tracker.
    pub(crate) fn is_ours(&self) -> bool {
        self.is_ours
    }

    /// Can be polled for the end of the process.
    pub(crate) fn handle(&self) -> Option<BorrowedFd<'_>> {
        self.handle.as_ref().map(AsFd::as_fd)
    }

    /// Waits for all children without blocking; gives the last event of this one.
    pub(crate) fn reap(&self, reaped: &mut Vec<Reaped>) -> ChildEvent {
        let mut event = ChildEvent::None;
        while let Some((child, status)) = wait() {
            if libc::WIFEXITED(status) || libc::WIFSIGNALED(status) {
                reaped.push(child);
            }
            if child.pid != self.pid.as_raw_pid() as u32 {
                continue;
            }
            if libc::WIFEXITED(status) {
                event = ChildEvent::Ended(Ending::Exited(libc::WEXITSTATUS(status) as u8));
            } else if libc::WIFSIGNALED(status) {
                event = ChildEvent::Ended(Ending::Killed(libc::WTERMSIG(status) as u8));
            } else if libc::WIFSTOPPED(status) {
                event = ChildEvent::Stopped;
            } else if libc::WIFCONTINUED(status) {
                event = ChildEvent::Continued;
            }
        }
        event
    }

    /// The terminal, if the command has made its own process group the foreground one, as shells do.
    pub(crate) fn own_terminal(&self) -> Option<(File, Pid)> {
        let group = getpgid(Some(self.pid)).ok()?;
        let terminal = File::open("/dev/tty").ok()?;
        let is_in_front = tcgetpgrp(&terminal).is_ok_and(|front| front == group);
        (is_in_front && group != getpgrp()).then_some((terminal, group))
    }
}

/// The next child whose state has changed, with its resources and its status as `wait4` gives it.
fn wait() -> Option<(Reaped, libc::c_int)> {
    let options = libc::WNOHANG | libc::WUNTRACED | libc::WCONTINUED;
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the kernel fills in both; all zeros are valid if it does not.
    let (pid, usage) = unsafe {
        let pid = libc::wait4(-1, &raw mut status, options, usage.as_mut_ptr());
        (pid, usage.assume_init())
    };
    let time = |t: libc::timeval| Duration::new(t.tv_sec as u64, t.tv_usec as u32 * 1000);
    let child = Reaped {
        pid: u32::try_from(pid).ok().filter(|pid| *pid > 0)?,
        time: CpuTimes {
            user: time(usage.ru_utime),
            system: time(usage.ru_stime),
        },
        max_resident_bytes: usage.ru_maxrss as u64 * 1024,
    };
    Some((child, status))
}
