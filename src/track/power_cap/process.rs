use std::io::{self, BufRead as _, BufReader};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use rustix::process::{Pid, WaitOptions, waitpid};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::keeper::{Keeper, Selection, Wanted};
use crate::meter::Roots;
use crate::meter::power_cap::CapError;
use crate::meter::sensor::board_error::DriverError;
use crate::track::board_process::{leave_the_job, receive, send};

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(3);
/// A driver that hangs for so long ends the process, in seconds. That frees its locks, and its records stay.
const LONGEST_ANSWER: u32 = 30;

/// The process that sets caps and takes them back when the connection ends.
///
/// It is no child of this process: a job that waits for its children does not meet it, and it outlives this process.
#[derive(Debug)]
pub(crate) struct PowerCapProcess {
    stream: BufReader<UnixStream>,
}

/// What it is asked, a line of JSON each.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) enum Question {
    Show,
    Hold(Wanted),
    Release,
    Recover,
    Set(Wanted),
    Reset(Selection),
}

impl PowerCapProcess {
    /// Starts the process. It is a copy of the calling thread only, so call this before other threads are started.
    pub(crate) fn start(roots: &Roots) -> io::Result<Self> {
        let (own_end, keepers_end) = UnixStream::pair()?;
        // SAFETY: neither child returns from here, and neither runs a destructor of the parent's values.
        match unsafe { libc::fork() } {
            -1 => return Err(io::Error::last_os_error()),
            0 => unsafe {
                if libc::fork() == 0 {
                    drop(own_end);
                    libc::setsid();
                    leave_the_job(c"impact-caps", &keepers_end);
                    allow_alarm();
                    keep(roots, &keepers_end);
                }
                libc::_exit(0)
            },
            pid => {
                let child = Pid::from_raw(pid).expect("a new process has an id");
                let _ = rustix::io::retry_on_intr(|| waitpid(Some(child), WaitOptions::empty()));
            }
        }
        own_end.set_write_timeout(Some(PATIENCE))?;
        Ok(Self {
            stream: BufReader::new(own_end),
        })
    }

    /// Asks and waits for the answer. After an error, the process is not to be asked again.
    pub(crate) fn ask<T: DeserializeOwned>(&mut self, question: Question) -> Result<T, CapError> {
        let gone = || CapError::Driver("the process that sets power caps has ended".to_owned());
        send(self.stream.get_mut(), &question).map_err(|_| gone())?;
        match receive(&mut self.stream, PATIENCE) {
            Ok(answer) => answer,
            Err(DriverError::NoAnswer { seconds }) => Err(CapError::NoAnswer { seconds }),
            Err(_) => Err(gone()),
        }
    }
}

/// Lets the alarm end this process, whatever the parent did with that signal.
fn allow_alarm() {
    // SAFETY: system calls on this process alone; the set is initialised before it is used.
    unsafe {
        libc::signal(libc::SIGALRM, libc::SIG_DFL);
        let mut alarm = std::mem::MaybeUninit::uninit();
        libc::sigemptyset(alarm.as_mut_ptr());
        libc::sigaddset(alarm.as_mut_ptr(), libc::SIGALRM);
        libc::sigprocmask(libc::SIG_UNBLOCK, alarm.as_ptr(), std::ptr::null_mut());
    }
}

/// Ends this process if what follows takes too long.
fn limit_time(seconds: u32) {
    // SAFETY: a system call without memory.
    unsafe { libc::alarm(seconds) };
}

/// Answers until the connection ends, and gives back what is still held.
fn keep(roots: &Roots, socket: &UnixStream) {
    let mut keeper = Keeper::new(roots, socket);
    let _ = catch_unwind(AssertUnwindSafe(|| answer(&mut keeper, socket)));
    limit_time(LONGEST_ANSWER);
    let _ = catch_unwind(AssertUnwindSafe(|| keeper.release()));
}

fn answer(keeper: &mut Keeper, socket: &UnixStream) -> io::Result<()> {
    let mut questions = BufReader::new(socket.try_clone()?);
    let mut socket = socket.try_clone()?;
    let mut line = Vec::new();
    loop {
        line.clear();
        if questions.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let question = serde_json::from_slice(&line)?;
        limit_time(LONGEST_ANSWER);
        match question {
            Question::Show => send(&mut socket, &keeper.show())?,
            Question::Hold(wanted) => send(&mut socket, &keeper.hold(wanted))?,
            Question::Release => send(&mut socket, &keeper.release())?,
            Question::Recover => send(&mut socket, &keeper.recover())?,
            Question::Set(wanted) => send(&mut socket, &keeper.set(wanted))?,
            Question::Reset(selection) => send(&mut socket, &keeper.reset(selection))?,
        }
        limit_time(0);
    }
}
