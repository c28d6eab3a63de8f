//! The connection to a program that has started the tracker to measure itself, such as a Python interpreter.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{AddressFamily, SocketType, sockopt};
use serde::Serialize;

use super::summary::Summary;

/// The other side reads two lines; one that does not must not hold up the tracker.
const PATIENCE: Duration = Duration::from_millis(500);
/// The word that ends the measurement.
const STOP: &[u8] = b"stop";

/// An open socket to the program that started the tracker.
///
/// The tracker writes a line of JSON when it counts, or why it cannot, and one when the log is complete. It ends the measurement when it
/// reads `stop`. That the other side closes the socket ends nothing: the process is followed until it ends.
#[derive(Debug)]
pub struct Control {
    stream: UnixStream,
    is_closed: AtomicBool,
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Event<'a> {
    Started {
        id: &'a str,
        /// None if no log can be written.
        run: Option<&'a Path>,
        /// Where marks are sent.
        marks: Option<&'a str>,
        pid: u32,
    },
    /// Nothing is measured.
    Failed { error: &'a str },
    Ended {
        run: Option<&'a Path>,
        notes: &'a [String],
    },
}

impl Control {
    /// Takes over a descriptor that this process has inherited.
    ///
    /// # Errors
    ///
    /// If it is not a connected Unix stream socket.
    pub fn inherited(descriptor: RawFd) -> io::Result<Self> {
        if descriptor <= 2 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // SAFETY: the number is only looked at; a descriptor that is not open is an error of the calls.
        let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
        if sockopt::socket_domain(borrowed)? != AddressFamily::UNIX
            || sockopt::socket_type(borrowed)? != SocketType::STREAM
        {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        rustix::io::fcntl_setfd(borrowed, rustix::io::FdFlags::CLOEXEC)?;
        // SAFETY: it is open, and the caller has inherited it for this purpose; nothing else here uses it.
        let stream = UnixStream::from(unsafe { OwnedFd::from_raw_fd(descriptor) });
        stream.peer_addr()?;
        stream.set_nonblocking(false)?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_read_timeout(Some(Duration::from_millis(1)))?;
        Ok(Self {
            stream,
            is_closed: AtomicBool::new(false),
        })
    }

    /// Goes on as a process that is no child of the one that started this one.
    ///
    /// That one may wait for all its children, or end them; it must not meet the tracker there. Call this before
    /// threads are started.
    ///
    /// # Errors
    ///
    /// If no process can be started.
    pub fn detach() -> io::Result<()> {
        // SAFETY: there is one thread, so nothing is copied in the middle of a change.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => Ok(()),
            // SAFETY: ends the first process and leaves everything to the second.
            _ => unsafe { libc::_exit(0) },
        }
    }

    /// Can be polled for a word of the other side; none when it can say nothing any more.
    pub(super) fn handle(&self) -> Option<BorrowedFd<'_>> {
        (!self.is_closed.load(Ordering::Relaxed)).then(|| self.stream.as_fd())
    }

    /// Whether the other side wants the measurement to end.
    pub(super) fn is_stopped(&self) -> bool {
        let Some(handle) = self.handle() else {
            return false;
        };
        let mut handle = [PollFd::new(&handle, PollFlags::IN)];
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        if !matches!(poll(&mut handle, Some(&now)), Ok(ready) if ready > 0) {
            return false;
        }
        let mut word = [0; STOP.len()];
        match (&self.stream).read_exact(&mut word) {
            Ok(()) if word == STOP => true,
            // Closed, or somebody who speaks another language.
            _ => {
                self.is_closed.store(true, Ordering::Relaxed);
                false
            }
        }
    }

    /// Says that energy is counted from now on.
    pub(super) fn started(&self, id: &str, run: Option<&Path>, marks: Option<&str>) {
        self.tell(&Event::Started {
            id,
            run,
            marks,
            pid: std::process::id(),
        });
    }

    /// Says why nothing is measured.
    pub fn failed(&self, error: &str) {
        self.tell(&Event::Failed { error });
    }

    /// Says that the log is complete, and that nothing follows.
    pub(super) fn ended(&self, summary: &Summary) {
        self.tell(&Event::Ended {
            run: summary.run.as_deref(),
            notes: &summary.notes,
        });
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    fn tell(&self, event: &Event) {
        let Ok(mut line) = serde_json::to_vec(event) else {
            return;
        };
        line.push(b'\n');
        // Nobody may listen any more.
        let _ = (&self.stream).write_all(&line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::os::fd::IntoRawFd;

    fn pair() -> (UnixStream, Control) {
        let (theirs, ours) = UnixStream::pair().unwrap();
        (theirs, Control::inherited(ours.into_raw_fd()).unwrap())
    }

    #[test]
    fn the_word_stop_ends_the_measurement() {
        let (mut theirs, control) = pair();
        assert!(!control.is_stopped());
        theirs.write_all(b"stop").unwrap();
        assert!(control.is_stopped());
    }

    #[test]
    fn a_closed_socket_or_another_word_ends_nothing() {
        let (theirs, control) = pair();
        drop(theirs);
        assert!(!control.is_stopped());
        assert!(control.handle().is_none());
        let (mut theirs, control) = pair();
        theirs.write_all(b"GET / HTTP/1.1").unwrap();
        assert!(!control.is_stopped());
        assert!(control.handle().is_none());
    }

    #[test]
    fn the_start_says_where_marks_go() {
        let (theirs, control) = pair();
        control.started("5e0c", Some(Path::new("logs/a")), Some("@impact-5e0c"));
        let mut line = String::new();
        BufReader::new(theirs).read_line(&mut line).unwrap();
        let event: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(event["event"], "started");
        assert_eq!(event["run"], "logs/a");
        assert_eq!(event["marks"], "@impact-5e0c");
    }

    #[test]
    fn what_is_no_connected_socket_is_refused() {
        assert!(Control::inherited(1).is_err());
        assert!(Control::inherited(987_654).is_err());
        let file = tempfile::tempfile().unwrap();
        let number = file.into_raw_fd();
        assert!(Control::inherited(number).is_err());
        // SAFETY: `inherited` has not taken it over.
        drop(unsafe { OwnedFd::from_raw_fd(number) });
    }
}
