use std::ffi::{CString, OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::ptr;
use std::time::Duration;

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Pid;

use super::open_files::OpenFileLimit;
use super::signals::Inherited;

use crate::model::Environment;

/// The flag of clone3 that starts a process in a control group.
const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;

/// A command prepared to start, so that nothing is allocated between fork and exec.
#[derive(Debug)]
pub(crate) struct Launch {
    arguments: Vec<CString>,
    environment: Vec<CString>,
    /// A pipe through which the child reports when it started, or why it could not. It is opened before
    /// sensors can use up the file descriptors.
    started: OwnedFd,
    report: OwnedFd,
    /// What its streams are instead of those of the tracker.
    nowhere: Option<Nowhere>,
}

/// An open /dev/null.
#[derive(Debug)]
struct Nowhere {
    file: File,
    /// It is the input, and if this is set also the output.
    is_output: bool,
}

impl Launch {
    /// The command with an environment and some additional variables.
    pub(crate) fn new(
        command: &[OsString],
        inherited: &Environment,
        own: &[(&str, &OsStr)],
    ) -> io::Result<Self> {
        let mut environment = Vec::new();
        let mut inherited = inherited.clone();
        inherited.extend(own.iter().copied());
        for (name, value) in inherited.iter() {
            let mut variable = name.to_owned();
            variable.push("=");
            variable.push(value);
            environment.push(CString::new(variable.as_bytes())?);
        }
        let arguments = command.iter().map(|word| CString::new(word.as_bytes()));
        let (started, report) = pipe_with(PipeFlags::CLOEXEC)?;
        Ok(Self {
            arguments: arguments.collect::<Result<_, _>>()?,
            environment,
            started,
            report,
            nowhere: None,
        })
    }

    /// Gives the command no input, and if so wanted discards its output.
    pub(crate) fn detach_streams(&mut self, discard_output: bool) -> io::Result<()> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open("/dev/null")?;
        self.nowhere = Some(Nowhere {
            file,
            is_output: discard_output,
        });
        Ok(())
    }

    /// Sets a variable of the command, or removes one that was inherited.
    pub(crate) fn set(&mut self, name: &str, value: Option<&OsStr>) {
        let start = format!("{name}=").into_bytes();
        self.environment
            .retain(|variable| !variable.as_bytes().starts_with(&start));
        let variable = value.map(|value| [&start, value.as_bytes()].concat());
        let variable = variable.and_then(|bytes| CString::new(bytes).ok());
        self.environment.extend(variable);
    }

    /// Starts the command with the tracker's streams and terminal, inside the control group if possible.
    ///
    /// Starting inside the group is fast; moving the process there later takes tens of milliseconds.
    pub(crate) fn start(
        self,
        inherited: &Inherited,
        files: &OpenFileLimit,
        group: Option<BorrowedFd>,
    ) -> io::Result<Started> {
        let arguments = pointers(&self.arguments);
        let environment = pointers(&self.environment);
        // SAFETY: in the child, only calls that are safe after a fork follow, and no allocation.
        let (pid, is_in_group) = unsafe { fork_into(group)? };
        if pid == 0 {
            // SAFETY: both lists end with a null pointer and live on the parent's copied stack.
            unsafe {
                become_command(
                    &arguments,
                    &environment,
                    inherited,
                    files,
                    self.nowhere.as_ref(),
                    &self.report,
                )
            }
        }
        drop(self.report);
        let mut started = File::from(self.started);
        let pid = Pid::from_raw(pid).expect("a new process has an id");
        let began = read_number(&mut started).map_or(Duration::ZERO, Duration::from_nanos);
        match read_number(&mut started) {
            // The exec has succeeded and closed the pipe.
            None => Ok(Started {
                pid,
                is_in_group,
                began,
            }),
            Some(code) => {
                let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty());
                Err(io::Error::from_raw_os_error(code as i32))
            }
        }
    }
}

/// A started command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Started {
    pub(crate) pid: Pid,
    pub(crate) is_in_group: bool,
    /// The monotonic time at which the child started, read by the child.
    pub(crate) began: Duration,
}

fn read_number(started: &mut File) -> Option<u64> {
    let mut bytes = [0; 8];
    started.read_exact(&mut bytes).ok()?;
    Some(u64::from_ne_bytes(bytes))
}

fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    let ends = std::iter::once(ptr::null());
    strings.iter().map(|s| s.as_ptr()).chain(ends).collect()
}

/// Forks, with the child inside the control group where the kernel supports and allows that.
unsafe fn fork_into(group: Option<BorrowedFd>) -> io::Result<(libc::pid_t, bool)> {
    if let Some(group) = group {
        let arguments = libc::clone_args {
            flags: CLONE_INTO_CGROUP,
            pidfd: 0,
            child_tid: 0,
            parent_tid: 0,
            exit_signal: libc::SIGCHLD as u64,
            stack: 0,
            stack_size: 0,
            tls: 0,
            set_tid: 0,
            set_tid_size: 0,
            cgroup: group.as_raw_fd() as u64,
        };
        // SAFETY: without shared memory this is a fork; the structure is as large as stated.
        let pid = unsafe {
            libc::syscall(
                libc::SYS_clone3,
                &raw const arguments,
                size_of_val(&arguments),
            )
        };
        if pid >= 0 {
            return Ok((pid as libc::pid_t, true));
        }
    }
    // SAFETY: the caller makes only calls that are safe after a fork.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        pid => Ok((pid, false)),
    }
}

/// Executes the command in the forked child, or reports the error and exits.
unsafe fn become_command(
    arguments: &[*const libc::c_char],
    environment: &[*const libc::c_char],
    inherited: &Inherited,
    files: &OpenFileLimit,
    nowhere: Option<&Nowhere>,
    report: &OwnedFd,
) -> ! {
    // SAFETY: all of these may be called between fork and exec.
    unsafe {
        inherited.restore();
        files.restore();
        if let Some(nowhere) = nowhere {
            let streams = if nowhere.is_output { 0..3 } else { 0..1 };
            for stream in streams {
                libc::dup2(nowhere.file.as_raw_fd(), stream);
            }
        }
        let mut now = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now);
        tell(
            report,
            now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64,
        );
        libc::execvpe(arguments[0], arguments.as_ptr(), environment.as_ptr());
        tell(report, *libc::__errno_location() as u64);
        libc::_exit(127)
    }
}

/// Sends a number to the parent with a call that is safe after a fork.
fn tell(report: &OwnedFd, number: u64) {
    let bytes = number.to_ne_bytes();
    // SAFETY: the kernel reads eight bytes of an array that outlives the call.
    unsafe { libc::write(report.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) };
}
