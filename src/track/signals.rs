use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use rustix::process::{Pid, Signal};

use crate::meter::process_tree::parent;

/// What is handed on to the command when it reaches us.
const FORWARDED: [libc::c_int; 15] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGWINCH,
    libc::SIGTSTP,
    libc::SIGCONT,
    libc::SIGXCPU,
    libc::SIGVTALRM,
    libc::SIGPROF,
    libc::SIGIO,
    libc::SIGPWR,
];
/// What else we must hear of, or must not be stopped or ended by: a log as large as a file may be is
/// no reason to end.
const HEARD: [libc::c_int; 4] = [libc::SIGCHLD, libc::SIGTTIN, libc::SIGTTOU, libc::SIGXFSZ];

/// Whether we were started with SIGPIPE ignored, as systemd starts services.
static PIPE_WAS_IGNORED: AtomicBool = AtomicBool::new(false);

/// Which of the three streams were closed when we were started, a bit each.
static CLOSED_STREAMS: AtomicU8 = AtomicU8::new(0);

/// Rust ignores SIGPIPE and opens closed streams before `main`, so the loader has to look before that.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK_BEFORE_MAIN: extern "C" fn() = {
    extern "C" fn look() {
        PIPE_WAS_IGNORED.store(is_ignored(libc::SIGPIPE), Ordering::Relaxed);
        // SAFETY: asks for the flags of a file that may or may not be open.
        let is_closed = |stream: &i32| unsafe { libc::fcntl(*stream, libc::F_GETFD) } < 0;
        let closed = (0..3)
            .filter(is_closed)
            .fold(0, |bits, stream| bits | 1 << stream);
        CLOSED_STREAMS.store(closed, Ordering::Relaxed);
    }
    look
};

/// How signals were dealt with when we were started.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inherited {
    mask: libc::sigset_t,
    /// Whoever ignores this one is not told how its children end.
    child_signal: libc::sighandler_t,
}

impl Inherited {
    /// Sets everything back, as the command should find it.
    pub(crate) fn restore(&self) {
        // SAFETY: both were filled in by the kernel; the calls are safe after a fork.
        unsafe {
            libc::signal(libc::SIGCHLD, self.child_signal);
            if !PIPE_WAS_IGNORED.load(Ordering::Relaxed) {
                libc::signal(libc::SIGPIPE, libc::SIG_DFL);
            }
            let closed = CLOSED_STREAMS.load(Ordering::Relaxed);
            for stream in (0..3).filter(|stream| closed & (1 << stream) != 0) {
                libc::close(stream);
            }
            libc::sigprocmask(
                libc::SIG_SETMASK,
                &raw const self.mask,
                std::ptr::null_mut(),
            );
        }
    }
}

/// A signal that reached us, and who sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub(crate) signal: libc::c_int,
    /// The kernel sent it, as a terminal does to all of its foreground group.
    pub(crate) from_kernel: bool,
    pub(crate) sender: u32,
}

impl Arrival {
    pub(crate) fn is_child_event(self) -> bool {
        self.signal == libc::SIGCHLD
    }

    /// Whether it asks us to stop, as Ctrl-Z does.
    pub(crate) fn is_stop(self) -> bool {
        [libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU].contains(&self.signal)
    }

    /// Hands the signal on, unless the command has had it already as a member of our group.
    pub(crate) fn forward_to(self, command: Pid) {
        if !FORWARDED.contains(&self.signal)
            || self.is_from_terminal_of(command)
            || self.is_from_group_of(command)
        {
            return;
        }
        if let Some(signal) = Signal::from_named_raw(self.signal) {
            let _ = rustix::process::kill_process(command, signal);
        }
    }

    /// The keys of a terminal reach all of our group, but not a command that has made its own.
    fn is_from_terminal_of(self, command: Pid) -> bool {
        let group = rustix::process::getpgid(Some(command));
        self.from_kernel && group.is_ok_and(|group| group == rustix::process::getpgrp())
    }

    /// A job that signals its own group has reached itself.
    fn is_from_group_of(self, command: Pid) -> bool {
        let group = |pid| rustix::process::getpgid(Some(pid)).ok();
        Pid::from_raw(self.sender as i32).is_some_and(|sender| {
            group(sender).is_some()
                && group(sender) == group(command)
                && is_descendant(sender, command)
        })
    }
}

/// Whether a process descends from another, as far as the living show.
fn is_descendant(mut process: Pid, ancestor: Pid) -> bool {
    for _ in 0..64 {
        if process == ancestor {
            return true;
        }
        let parent = parent(Path::new(&format!("/proc/{process}")));
        match parent.and_then(|pid| Pid::from_raw(pid as i32)) {
            Some(parent) => process = parent,
            None => return false,
        }
    }
    false
}

/// Signals as messages: held back from interrupting us, and read when we choose.
#[derive(Debug)]
pub(crate) struct Signals {
    fd: OwnedFd,
    pub(crate) inherited: Inherited,
    /// Holding a signal back makes it heard even by who was told to ignore it, as by nohup.
    ignored: Vec<libc::c_int>,
}

impl Signals {
    /// Holds back all signals we deal with, in this thread and those it starts.
    pub(crate) fn hold() -> io::Result<Self> {
        let mut set = MaybeUninit::<libc::sigset_t>::zeroed();
        let mut before = MaybeUninit::<libc::sigset_t>::zeroed();
        // SAFETY: the sets are initialised by sigemptyset and sigprocmask before they are read.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            for signal in FORWARDED.iter().chain(&HEARD) {
                libc::sigaddset(set.as_mut_ptr(), *signal);
            }
            let set = set.assume_init();
            if libc::sigprocmask(libc::SIG_BLOCK, &raw const set, before.as_mut_ptr()) != 0 {
                return Err(io::Error::last_os_error());
            }
            let ignored = FORWARDED.into_iter().filter(|s| is_ignored(*s)).collect();
            let fd = libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(Self {
                fd: OwnedFd::from_raw_fd(fd),
                inherited: Inherited {
                    mask: before.assume_init(),
                    child_signal: libc::signal(libc::SIGCHLD, libc::SIG_DFL),
                },
                ignored,
            })
        }
    }

    /// Whether the signal asks us to end, when there is nobody to hand it on to.
    pub(crate) fn is_end(&self, arrival: Arrival) -> bool {
        let ends = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM];
        ends.contains(&arrival.signal) && !self.is_ignored(arrival)
    }

    /// Whether we were told not to listen to it, as by nohup.
    pub(crate) fn is_ignored(&self, arrival: Arrival) -> bool {
        self.ignored.contains(&arrival.signal)
    }

    /// The next signal that is waiting, if any.
    pub(crate) fn next(&self) -> Option<Arrival> {
        let mut info = MaybeUninit::<libc::signalfd_siginfo>::zeroed();
        let size = size_of::<libc::signalfd_siginfo>();
        // SAFETY: the kernel writes at most `size` bytes, and all bytes are valid numbers.
        let info = unsafe {
            let length = libc::read(self.fd.as_raw_fd(), info.as_mut_ptr().cast(), size);
            if length != size as isize {
                return None;
            }
            info.assume_init()
        };
        Some(Arrival {
            signal: info.ssi_signo as libc::c_int,
            from_kernel: info.ssi_code == libc::SI_KERNEL,
            sender: info.ssi_pid,
        })
    }
}

fn is_ignored(signal: libc::c_int) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: without a new action the kernel only fills in the old one; zeroes are valid as well.
    unsafe {
        libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr());
        action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
