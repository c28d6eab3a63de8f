//! The socket through which a tracker receives marks.
//!
//! It is an abstract Unix socket: it disappears with the tracker and needs no file, whose path could be
//! too long.

use std::ffi::OsString;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{RecvFlags, SocketAddrAny, sockopt};
use rustix::process::Uid;

use super::mark_message::{LONGEST, RunAnswer, Sent, SentMark, receive};
use crate::meter::{Clock as _, ClockReading, SystemClock};
use crate::model::{Environment, Mark};

/// The environment variable that names the tracker's socket.
pub const VARIABLE: &str = "IMPACT_TRACKER";
/// The socket's name is this and the run's id.
pub(super) const NAME: &str = "impact-";
/// After this many messages of others in a row the listener pauses, so that a flood costs next to nothing.
const MOST_DROPPED: usize = 16;
const PAUSE: Duration = Duration::from_millis(50);
/// The listener rests this long before it waits for the next mark: to send one to a waiting listener takes ten times
/// as long, and the job must not pay for that.
const REST: Duration = Duration::from_millis(2);
/// A query is not longer.
const LONGEST_QUERY: usize = 64;
/// Marks that wait for their sample have at most this many bytes; others are dropped and counted.
const MOST_WAITING_BYTES: usize = 256 << 10;

/// The tracker's end of the socket.
#[derive(Debug)]
pub(crate) struct MarkSocket {
    socket: UnixDatagram,
    run: String,
    followed: Option<FollowedOwner>,
    is_closed: AtomicBool,
    taking: Mutex<()>,
    waiting_bytes: AtomicUsize,
    /// Marks that came faster than they could be recorded.
    lost: AtomicU64,
    /// Messages of trusted senders that are none.
    not_understood: AtomicU64,
}

/// A process that is followed, and whose it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FollowedOwner {
    pub(crate) pid: u32,
    pub(crate) uid: Option<Uid>,
}

/// What was in the socket.
enum Message {
    Marks(ReceivedMarks),
    /// Of another user, or no mark.
    Dropped,
    None,
}

/// Marks that have arrived in one message.
#[derive(Debug)]
pub(crate) struct ReceivedMarks {
    /// With the monotonic time that the sender gives.
    pub(crate) marks: Vec<(Mark, Option<Duration>)>,
    pub(crate) arrived: ClockReading,
    /// Where the sender waits for an answer.
    pub(crate) sender: Option<SocketAddr>,
    bytes: usize,
}

impl MarkSocket {
    pub(crate) fn open(run: &str, followed: Option<FollowedOwner>) -> io::Result<Self> {
        let name = SocketAddr::from_abstract_name(format!("{NAME}{run}"))?;
        let socket = UnixDatagram::bind_addr(&name)?;
        socket.set_nonblocking(true)?;
        sockopt::set_socket_passcred(&socket, true)?;
        Ok(Self {
            socket,
            run: run.to_owned(),
            followed,
            is_closed: AtomicBool::new(false),
            taking: Mutex::new(()),
            waiting_bytes: AtomicUsize::new(0),
            lost: AtomicU64::new(0),
            not_understood: AtomicU64::new(0),
        })
    }

    /// The value of the variable in the command's environment.
    pub(crate) fn address(&self) -> OsString {
        address_of(&self.run)
    }

    /// The next marks; messages of other users are dropped.
    pub(crate) fn next(&self) -> Option<ReceivedMarks> {
        for _ in 0..MOST_DROPPED {
            match self.receive() {
                Message::Marks(received) => return Some(received),
                Message::Dropped => {}
                Message::None => return None,
            }
        }
        None
    }

    /// Gives all marks to `receive`, until that returns false or the socket is closed.
    pub(crate) fn listen(&self, mut receive: impl FnMut(ReceivedMarks) -> bool) {
        let mut dropped = 0;
        let mut must_rest = false;
        while !self.is_closed.load(Ordering::Relaxed) {
            let held = self.hold();
            let message = self.receive();
            if let Message::Marks(received) = message {
                dropped = 0;
                must_rest |= received.sender.is_none();
                if !receive(received) {
                    return;
                }
                continue;
            }
            drop(held);
            match message {
                Message::Dropped => {
                    dropped += 1;
                    if dropped % MOST_DROPPED == 0 {
                        std::thread::sleep(PAUSE);
                    }
                }
                _ if must_rest => {
                    must_rest = false;
                    std::thread::sleep(REST);
                }
                _ => {
                    let mut socket = [PollFd::new(&self.socket, PollFlags::IN)];
                    let _ = poll(&mut socket, None);
                }
            }
        }
    }

    /// While this is held, [`listen`](Self::listen) has given away all that it has taken from the socket.
    pub(crate) fn hold(&self) -> MutexGuard<'_, ()> {
        self.taking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends [`listen`](Self::listen).
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
    }

    fn receive(&self) -> Message {
        let mut text = [0; LONGEST];
        let Ok(datagram) = receive(&self.socket, &mut text, RecvFlags::DONTWAIT) else {
            return Message::None;
        };
        let is_trusted = datagram.by.is_some_and(|by| self.is_trusted(by.uid));
        if !is_trusted && datagram.bytes > LONGEST_QUERY {
            return Message::Dropped;
        }
        let sender = datagram.sender.as_ref().and_then(return_address);
        let marks = match serde_json::from_slice(&text[..datagram.bytes]) {
            // All users may ask, so that nobody waits for an answer in vain.
            Ok(Sent::Query(_)) => {
                self.tell_run(sender.as_ref());
                return Message::Dropped;
            }
            _ if !is_trusted => return Message::Dropped,
            Ok(Sent::Mark(mark)) => vec![mark],
            Ok(Sent::Marks(marks)) => marks,
            Err(_) => return self.drop_unread(),
        };
        let marks: Vec<_> = marks.into_iter().map(SentMark::into_parts).collect();
        if marks.is_empty() || marks.iter().any(|(mark, _)| mark.check().is_err()) {
            return self.drop_unread();
        }
        let bytes = datagram.bytes;
        if self.waiting_bytes.fetch_add(bytes, Ordering::Relaxed) > MOST_WAITING_BYTES {
            self.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
            self.lost.fetch_add(marks.len() as u64, Ordering::Relaxed);
            return Message::Dropped;
        }
        Message::Marks(ReceivedMarks {
            marks,
            arrived: SystemClock.now(),
            sender,
            bytes,
        })
    }

    /// The user of the tracker, root, and the user whose process is followed.
    fn is_trusted(&self, uid: Uid) -> bool {
        let owner = self.followed.and_then(|followed| followed.uid);
        uid.is_root() || uid == rustix::process::getuid() || Some(uid) == owner
    }

    fn drop_unread(&self) -> Message {
        self.not_understood.fetch_add(1, Ordering::Relaxed);
        Message::Dropped
    }

    fn tell_run(&self, sender: Option<&SocketAddr>) {
        let answer = RunAnswer {
            run: self.run.clone(),
            followed: self.followed.map(|followed| followed.pid),
        };
        if let (Some(sender), Ok(answer)) = (sender, serde_json::to_vec(&answer)) {
            let _ = self.socket.send_to_addr(&answer, sender);
        }
    }

    /// The marks are in a sample: tells the sender, and makes room for others.
    pub(crate) fn measured(&self, received: &ReceivedMarks) {
        self.waiting_bytes
            .fetch_sub(received.bytes, Ordering::Relaxed);
        if let Some(sender) = &received.sender {
            let _ = self.socket.send_to_addr(b"measured", sender);
        }
    }

    /// What of the messages is not in the log.
    pub(crate) fn notes(&self) -> Vec<String> {
        let lost = self.lost.load(Ordering::Relaxed);
        let lost = (lost > 0)
            .then(|| format!("marks came faster than they could be recorded; left out: {lost}"));
        let unread = self.not_understood.load(Ordering::Relaxed);
        let unread = (unread > 0).then(|| {
            format!("messages to the tracker's socket that could not be read as marks: {unread}")
        });
        lost.into_iter().chain(unread).collect()
    }
}

/// The address of a run's tracker.
pub(super) fn address_of(run: &str) -> OsString {
    OsString::from(format!("@{NAME}{run}"))
}

fn return_address(address: &SocketAddrAny) -> Option<SocketAddr> {
    let address = rustix::net::SocketAddrUnix::try_from(address.clone()).ok()?;
    SocketAddr::from_abstract_name(address.abstract_name()?).ok()
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

/// Names all runs that a command is part of for a tracker inside it, the outermost first.
pub(crate) const OUTER_RUNS: &str = "IMPACT_OUTER_RUNS";
/// More trackers inside each other are a mistake.
const MOST_OUTER_RUNS: usize = 64;
const LONGEST_ID: usize = 64;

/// The runs that this process is part of, the outermost first; the last is [`outer_run`].
pub(crate) fn outer_runs(environment: &Environment) -> Vec<String> {
    let Some(inner) = outer_run(environment) else {
        return Vec::new();
    };
    let named = environment.get(OUTER_RUNS).unwrap_or_default();
    let runs: Vec<String> = named
        .split(',')
        .filter(|id| !id.is_empty() && id.len() <= LONGEST_ID)
        .take(MOST_OUTER_RUNS)
        .map(str::to_owned)
        .collect();
    // A launcher may have changed one of the variables only.
    if runs.last() == Some(&inner) {
        runs
    } else {
        vec![inner]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Edge;
    use crate::track::mark_sender::{Delivery, send};

    /// A socket of a name that no other test has.
    fn socket(test: &str) -> MarkSocket {
        MarkSocket::open(&format!("test-{test}-{}", std::process::id()), None).unwrap()
    }

    fn send_text(socket: &MarkSocket, text: &str) {
        let sender = UnixDatagram::unbound().unwrap();
        let name = format!("{NAME}{}", socket.run);
        let address = SocketAddr::from_abstract_name(name).unwrap();
        sender.send_to_addr(text.as_bytes(), &address).unwrap();
    }

    /// The next marks, as long as one of the senders may still send some.
    fn wait<T>(socket: &MarkSocket, senders: &[std::thread::JoinHandle<T>]) -> ReceivedMarks {
        loop {
            if let Some(received) = socket.next() {
                return received;
            }
            assert!(senders.iter().any(|sender| !sender.is_finished()));
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_mark_arrives_and_its_sender_hears_of_it() {
        let socket = socket("one");
        let address = socket.address();
        let train = Mark::new("train", Edge::Start);
        let sent = train.clone();
        let sender = [std::thread::spawn(move || send(&address, &sent))];
        let received = wait(&socket, &sender);
        assert_eq!(received.marks, [(train, None)]);
        socket.measured(&received);
        let [sender] = sender;
        assert_eq!(sender.join().unwrap(), Delivery::Measured);
    }

    #[test]
    fn marks_are_taken_from_the_own_user_root_and_the_owner_of_the_followed_process() {
        let owner = Uid::from_raw(4711);
        let stranger = Uid::from_raw(4712);
        let followed = FollowedOwner {
            pid: 1,
            uid: Some(owner),
        };
        let run = format!("test-trust-{}", std::process::id());
        let socket = MarkSocket::open(&run, Some(followed)).unwrap();
        for uid in [rustix::process::getuid(), Uid::ROOT, owner] {
            assert!(socket.is_trusted(uid), "{uid:?}");
        }
        assert!(!socket.is_trusted(stranger));
        drop(socket);
        assert!(!MarkSocket::open(&run, None).unwrap().is_trusted(owner));
    }

    #[test]
    fn two_marks_of_one_process_do_not_disturb_each_other() {
        let socket = socket("two");
        let senders = ["a", "b"].map(|name| {
            let address = socket.address();
            std::thread::spawn(move || send(&address, &Mark::new(name, Edge::Start)))
        });
        // Both wait for an answer, so both sockets are open at the same time.
        let received = [wait(&socket, &senders), wait(&socket, &senders)];
        for received in &received {
            socket.measured(received);
        }
        for sender in senders {
            assert_ne!(sender.join().unwrap(), Delivery::NoTracker);
        }
    }

    #[test]
    fn several_marks_in_a_message_arrive_with_their_times_and_nobody_waits() {
        let socket = socket("several");
        send_text(
            &socket,
            r#"[{"name":"a","edge":"start","at_ns":5},{"name":"a","edge":"end","at_ns":7}]"#,
        );
        let received = socket.next().unwrap();
        assert!(received.sender.is_none());
        let at = |n: usize| received.marks[n].1.unwrap().as_nanos();
        assert_eq!((at(0), at(1)), (5, 7));
        assert!(socket.notes().is_empty());
    }

    #[test]
    fn what_is_no_mark_and_what_is_too_much_is_counted() {
        let socket = socket("bad");
        send_text(&socket, "[]");
        send_text(&socket, r#"{"name":"a","count":{"x":-1}}"#);
        assert!(socket.next().is_none());
        assert!(socket.notes()[0].ends_with("as marks: 2"));
        let name = "x".repeat(500);
        let marks = vec![format!("{{\"name\":\"{name}\"}}"); 30].join(",");
        for _ in 0..MOST_WAITING_BYTES / marks.len() + 4 {
            send_text(&socket, &format!("[{marks}]"));
            let _ = socket.next();
        }
        let notes = socket.notes();
        assert!(notes[0].contains("left out: "), "{notes:?}");
    }
}
