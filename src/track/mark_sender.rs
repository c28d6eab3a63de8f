//! How a process of a job finds its tracker and sends a mark to it.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::net::{RecvFlags, sockopt};

use super::mark_message::{Asked, Query, RunAnswer, SentMark, receive};
use super::mark_socket::{NAME, address_of};
use crate::files;
use crate::model::Mark;

/// How long `impact mark` waits for the answer; it must not delay the job.
const PATIENCE: Duration = Duration::from_millis(250);
/// How long it waits for the answers of trackers that may follow it.
const QUERY_PATIENCE: Duration = Duration::from_millis(100);
/// More sockets of trackers are not asked.
const MOST_ASKED: usize = 256;
/// More ancestors of a process are not looked at.
const MOST_ANCESTORS: usize = 64;
const LARGEST_SOCKET_TABLE: u64 = 16 << 20;

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
    let socket = socket_with_address(PATIENCE)?;
    let message = serde_json::to_vec(&SentMark::from(mark))?;
    socket.send_to_addr(&message, &socket_address(address)?)?;
    Ok(match socket.recv(&mut [0; 16]) {
        Ok(_) => Delivery::Measured,
        Err(_) => Delivery::Unanswered,
    })
}

fn socket_address(address: &OsStr) -> io::Result<SocketAddr> {
    let name = address.as_bytes().strip_prefix(b"@");
    SocketAddr::from_abstract_name(name.ok_or(io::ErrorKind::InvalidInput)?)
}

/// A socket that can be answered.
fn socket_with_address(patience: Duration) -> io::Result<UnixDatagram> {
    let socket = UnixDatagram::unbound()?;
    // Makes the kernel give the socket a unique address, and say who answers.
    sockopt::set_socket_passcred(&socket, true)?;
    socket.set_read_timeout(Some(patience))?;
    socket.set_write_timeout(Some(patience))?;
    Ok(socket)
}

/// The address of the tracker that writes the log of this run.
#[must_use]
pub fn tracker_of_run(id: &str) -> OsString {
    address_of(id)
}

/// The address of a tracker that follows one of these processes; the first process that has one decides.
#[must_use]
pub fn tracker_of_process(procfs: &Path, pids: &[u32]) -> Option<OsString> {
    let run = follower(procfs, pids).ok()??;
    Some(address_of(&run))
}

/// Asks all trackers of the machine which process they follow.
fn follower(procfs: &Path, pids: &[u32]) -> io::Result<Option<String>> {
    let runs = trackers(procfs);
    if runs.is_empty() {
        return Ok(None);
    }
    let socket = socket_with_address(QUERY_PATIENCE)?;
    let query = serde_json::to_vec(&Query { query: Asked::Run })?;
    let asked = runs.iter().take(MOST_ASKED).filter(|run| {
        let address = socket_address(&address_of(run));
        address.is_ok_and(|address| socket.send_to_addr(&query, &address).is_ok())
    });
    let asked = asked.count();
    let deadline = Instant::now() + QUERY_PATIENCE;
    let mut nearest = None;
    for _ in 0..asked {
        let Ok(answer) = answer(&socket) else { break };
        if let Some((run, followed)) = answer
            && let Some(place) = pids.iter().position(|pid| *pid == followed)
            && runs.contains(&run)
        {
            let found = (place, run);
            nearest = Some(nearest.map_or(found.clone(), |known| found.min(known)));
        }
        if Instant::now() > deadline || matches!(nearest, Some((0, _))) {
            break;
        }
    }
    Ok(nearest.map(|(_, run)| run))
}

/// The next answer: a run and the process that its tracker follows. None from whom this process cannot trust: anybody
/// can take the name of a socket, and would read the marks.
fn answer(socket: &UnixDatagram) -> io::Result<Option<(String, u32)>> {
    let mut text = [0; 256];
    let answer = receive(socket, &mut text, RecvFlags::empty())?;
    let is_trusted = answer
        .by
        .is_some_and(|by| by.uid.is_root() || by.uid == rustix::process::getuid());
    let answer: Option<RunAnswer> = serde_json::from_slice(&text[..answer.bytes]).ok();
    let answer = answer.filter(|_| is_trusted);
    Ok(answer.and_then(|answer| Some((answer.run, answer.followed?))))
}

/// The runs whose trackers have a socket on this machine.
fn trackers(procfs: &Path) -> BTreeSet<String> {
    let table = files::read(&procfs.join("net/unix"), LARGEST_SOCKET_TABLE).unwrap_or_default();
    let table = String::from_utf8_lossy(&table);
    let names = table
        .lines()
        .filter_map(|line| line.split_whitespace().nth(7));
    names
        .filter_map(|name| name.strip_prefix('@')?.strip_prefix(NAME))
        .map(str::to_owned)
        .collect()
}

/// A process and its ancestors, the nearest first.
#[must_use]
pub fn ancestors(procfs: &Path, pid: u32) -> Vec<u32> {
    std::iter::successors(Some(pid), |pid| parent(procfs, *pid))
        .take(MOST_ANCESTORS)
        .collect()
}

fn parent(procfs: &Path, pid: u32) -> Option<u32> {
    let stat = files::read(&procfs.join(pid.to_string()).join("stat"), 4096).ok()?;
    let text = String::from_utf8_lossy(&stat);
    // The name of the program may contain spaces and parentheses.
    let (_, fields) = text.rsplit_once(')')?;
    let parent = fields.split_whitespace().nth(1)?.parse().ok()?;
    (parent > 0).then_some(parent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Edge;

    #[test]
    fn a_mark_without_a_tracker_returns_at_once() {
        let address = OsStr::new("@impact-nobody-of-this-name");
        let mark = Mark::new("train", Edge::Start);
        assert_eq!(send(address, &mark), Delivery::NoTracker);
        assert_eq!(send(OsStr::new(""), &mark), Delivery::NoTracker);
    }

    #[test]
    fn the_ancestors_of_a_process_begin_with_itself_and_its_parent() {
        let ancestors = ancestors(Path::new("/proc"), std::process::id());
        let parent = std::os::unix::process::parent_id();
        assert_eq!(ancestors[..2], [std::process::id(), parent]);
    }
}
