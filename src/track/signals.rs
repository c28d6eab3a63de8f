use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use rustix::process::{Pid, Signal};

use crate::meter::process_tree::parent;

/// Signals that are forwarded to the command.
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
/// Other signals that are received. SIGTTIN, SIGTTOU and SIGXFSZ must not stop or end the tracker.
const RECEIVED: [libc::c_int; 4] = [libc::SIGCHLD, libc::SIGTTIN, libc::SIGTTOU, libc::SIGXFSZ];

/// Whether this process was started with SIGPIPE ignored, as systemd does.
static PIPE_WAS_IGNORED: AtomicBool = AtomicBool::new(false);

/// Which of the three standard streams were closed at the start, one bit each.
static CLOSED_STREAMS: AtomicU8 = AtomicU8::new(0);

/// Reads both before `main`, because Rust ignores SIGPIPE and opens closed streams before that.
#[used]
#[unsafe(link_section = ".init_array")]
static READ_BEFORE_MAIN: extern "C" fn() = {
    extern "C" fn read() {
        PIPE_WAS_IGNORED.store(is_ignored(libc::SIGPIPE), Ordering::Relaxed);
        // SAFETY: asks for the flags of a file that may or may not be open.
        let is_closed = |stream: &i32| unsafe { libc::fcntl(*stream, libc::F_GETFD) } < 0;
        let closed = (0..3)
            .filter(is_closed)
            .fold(0, |bits, stream| bits | 1 << stream);
        CLOSED_STREAMS.store(closed, Ordering::Relaxed);
    }
    read
};

/// The signal settings with which this process was started.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inherited {
    mask: libc::sigset_t,
    /// The action for SIGCHLD, which the tracker must not ignore.
    child_signal: libc::sighandler_t,
}

impl Inherited {
    /// Restores them for the command.
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

/// A received signal and its sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub(crate) signal: libc::c_int,
    /// Sent by the kernel, as for the keys of a terminal, which signal the whole foreground group.
    pub(crate) from_kernel: bool,
    pub(crate) sender: u32,
}

impl Arrival {
    pub(crate) fn is_child_event(self) -> bool {
        self.signal == libc::SIGCHLD
    }

    /// Whether it asks to stop, as Ctrl-Z does.
    pub(crate) fn is_stop(self) -> bool {
        [libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU].contains(&self.signal)
    }

    /// Forwards the signal, unless the command has received it as a member of the same process group.
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

    /// Keys of the terminal signal the whole process group, but not a command in its own group.
    fn is_from_terminal_of(self, command: Pid) -> bool {
        let group = rustix::process::getpgid(Some(command));
        self.from_kernel && group.is_ok_and(|group| group == rustix::process::getpgrp())
    }

    /// A job that signals its own group has already received the signal.
    fn is_from_group_of(self, command: Pid) -> bool {
        let group = |pid| rustix::process::getpgid(Some(pid)).ok();
        Pid::from_raw(self.sender as i32).is_some_and(|sender| {
            group(sender).is_some()
                && group(sender) == group(command)
                && is_descendant(sender, command)
        })
    }
}

/// Whether a process is a descendant of another, as far as its ancestors still run.
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

/// Receives signals through a file descriptor; they are blocked otherwise.
#[derive(Debug)]
pub(crate) struct Signals {
    fd: OwnedFd,
    pub(crate) inherited: Inherited,
    /// Signals that were ignored at the start, as by nohup: a blocked signal is received all the same.
    ignored: Vec<libc::c_int>,
}

impl Signals {
    /// Blocks all received signals, in this thread and those it starts.
    pub(crate) fn hold() -> io::Result<Self> {
        let mut set = MaybeUninit::<libc::sigset_t>::zeroed();
        let mut before = MaybeUninit::<libc::sigset_t>::zeroed();
        // SAFETY: the sets are initialised by sigemptyset and sigprocmask before they are read.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            for signal in FORWARDED.iter().chain(&RECEIVED) {
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

    /// Whether the signal ends the tracker when there is no command to forward it to.
    pub(crate) fn is_end(&self, arrival: Arrival) -> bool {
        let ends = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM];
        ends.contains(&arrival.signal) && !self.is_ignored(arrival)
    }

    /// Whether the signal was ignored at the start, as by nohup.
    pub(crate) fn is_ignored(&self, arrival: Arrival) -> bool {
        self.ignored.contains(&arrival.signal)
    }

    /// The next pending signal.
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
