//! The socket through which `impact mark` sends a mark to the tracker.
//!
//! It is an abstract Unix socket: it disappears with the tracker and needs no file, whose path could be
//! too long.

use std::ffi::{OsStr, OsString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SocketAddrAny, recvmsg, sockopt,
};

use crate::model::{Environment, Mark};

/// The environment variable that names the tracker's socket.
pub const VARIABLE: &str = "IMPACT_TRACKER";
/// How long `impact mark` waits for the answer; it must not delay the job.
const PATIENCE: Duration = Duration::from_millis(250);
const LONGEST: usize = 4096;
/// At most this many bad messages are dropped in a row, so that a flood cannot keep the tracker busy.
const MOST_DROPPED: usize = 64;
/// The socket's name is this and the run's id.
const NAME: &str = "impact-";

/// The tracker's end of the socket.
#[derive(Debug)]
pub(crate) struct MarkSocket {
    socket: UnixDatagram,
    name: String,
}

/// A mark that has arrived, and the address of its sender.
#[derive(Debug)]
pub(crate) struct ReceivedMark {
    pub(crate) mark: Mark,
    sender: Option<SocketAddr>,
}

impl MarkSocket {
    pub(crate) fn open(id: &str) -> io::Result<Self> {
        let name = format!("{NAME}{id}");
        let socket = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
        socket.set_nonblocking(true)?;
        sockopt::set_socket_passcred(&socket, true)?;
        Ok(Self { socket, name })
    }

    /// The value of the variable in the command's environment.
    pub(crate) fn address(&self) -> OsString {
        OsString::from(format!("@{}", self.name))
    }

    /// The next mark; messages of other users are dropped.
    pub(crate) fn next(&self) -> Option<ReceivedMark> {
        for _ in 0..MOST_DROPPED {
            let mut text = [0; LONGEST];
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmCredentials(1))];
            let mut control = RecvAncillaryBuffer::new(&mut space);
            let mut parts = [io::IoSliceMut::new(&mut text)];
            let message =
                recvmsg(&self.socket, &mut parts, &mut control, RecvFlags::DONTWAIT).ok()?;
            let trusted = control.drain().any(|message| {
                matches!(message, RecvAncillaryMessage::ScmCredentials(who)
                    if who.uid == rustix::process::getuid() || who.uid.is_root())
            });
            let sender = message.address.as_ref().and_then(return_address);
            let mark = serde_json::from_slice(&text[..message.bytes]);
            if let (true, Ok(mark)) = (trusted, mark) {
                return Some(ReceivedMark { mark, sender });
            }
        }
        None
    }

    /// Tells the sender that the mark has been measured.
    pub(crate) fn acknowledge(&self, received: &ReceivedMark) {
        if let Some(sender) = &received.sender {
            let _ = self.socket.send_to_addr(b"measured", sender);
        }
    }
}

fn return_address(address: &SocketAddrAny) -> Option<SocketAddr> {
    let address = rustix::net::SocketAddrUnix::try_from(address.clone()).ok()?;
    SocketAddr::from_abstract_name(address.abstract_name()?).ok()
}

impl AsFd for MarkSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// The id of the run that this process is part of, if its tracker is on this machine.
///
/// Launchers copy the variable to other machines, whose processes that tracker does not measure.
#[must_use]
pub fn outer_run(environment: &Environment) -> Option<String> {
    let address = environment.raw(VARIABLE)?;
    let name = address.strip_prefix('@')?;
    let tracker = SocketAddr::from_abstract_name(name).ok()?;
    UnixDatagram::unbound().ok()?.connect_addr(&tracker).ok()?;
    name.strip_prefix(NAME).map(str::to_owned)
}

/// What happened to a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// A sample was taken for it.
    Measured,
    /// Sent, but the tracker did not answer in time.
    Unanswered,
    /// There is no tracker.
    NoTracker,
}

/// Sends a mark to the tracker at `address` and waits a moment for it to be measured.
#[must_use]
pub fn send(address: &OsStr, mark: &Mark) -> Delivery {
    try_send(address, mark).unwrap_or(Delivery::NoTracker)
}

fn try_send(address: &OsStr, mark: &Mark) -> io::Result<Delivery> {
    let name = address
        .as_bytes()
        .strip_prefix(b"@")
        .ok_or(io::ErrorKind::InvalidInput)?;
    let socket = UnixDatagram::unbound()?;
    // Makes the kernel give the socket a unique address for the answer.
    sockopt::set_socket_passcred(&socket, true)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.set_write_timeout(Some(PATIENCE))?;
    let received = serde_json::to_vec(mark)?;
    socket.send_to_addr(&received, &SocketAddr::from_abstract_name(name)?)?;
    Ok(match socket.recv(&mut [0; 16]) {
        Ok(_) => Delivery::Measured,
        Err(_) => Delivery::Unanswered,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Edge;

    fn mark(name: &str) -> Mark {
        Mark {
            name: name.to_owned(),
            edge: Edge::Start,
        }
    }

    #[test]
    fn a_mark_arrives_and_its_sender_hears_of_it() {
        let id = format!("test-{}", std::process::id());
        let socket = MarkSocket::open(&id).unwrap();
        let address = socket.address();
        let sender = std::thread::spawn(move || send(&address, &mark("train")));
        let received = loop {
            if let Some(received) = socket.next() {
                break received;
            }
            assert!(!sender.is_finished(), "it was not sent");
            std::thread::yield_now();
        };
        assert_eq!(received.mark, mark("train"));
        socket.acknowledge(&received);
        assert_eq!(sender.join().unwrap(), Delivery::Measured);
    }

    #[test]
    fn two_marks_of_one_process_do_not_disturb_each_other() {
        let id = format!("test-two-{}", std::process::id());
        let socket = MarkSocket::open(&id).unwrap();
        let senders = ["a", "b"].map(|name| {
            let address = socket.address();
            std::thread::spawn(move || send(&address, &mark(name)))
        });
        // Both wait for an answer, so both sockets are open at the same time.
        let received = senders.each_ref().map(|_| {
            loop {
                if let Some(received) = socket.next() {
                    break received;
                }
                assert!(senders.iter().any(|sender| !sender.is_finished()));
                std::thread::yield_now();
            }
        });
        for received in &received {
            socket.acknowledge(received);
        }
        for sender in senders {
            assert_ne!(sender.join().unwrap(), Delivery::NoTracker);
        }
    }

    #[test]
    fn a_mark_without_a_tracker_returns_at_once() {
        let address = OsStr::new("@impact-nobody-of-this-name");
        assert_eq!(send(address, &mark("train")), Delivery::NoTracker);
        assert_eq!(send(OsStr::new(""), &mark("train")), Delivery::NoTracker);
    }
}
