//! What is sent through the socket of a tracker; `docs/log-format.md` specifies it.

use std::collections::BTreeMap;
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SocketAddrAny, UCred, recvmsg,
};
use serde::{Deserialize, Serialize};

use crate::model::{Edge, Mark};

/// The longest message, in bytes.
pub(super) const LONGEST: usize = 16 << 10;

/// A message to the tracker.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Sent {
    Query(Query),
    Mark(SentMark),
    Marks(Vec<SentMark>),
}

/// A question to the tracker.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Query {
    pub(super) query: Asked,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Asked {
    /// Which run the tracker measures.
    Run,
}

/// The answer to [`Asked::Run`].
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RunAnswer {
    pub(super) run: String,
    /// The process given by `--pid`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) followed: Option<u32>,
}

/// A mark as its sender writes it.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SentMark {
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    edge: Edge,
    #[serde(skip_serializing_if = "Option::is_none")]
    span: Option<u64>,
    /// `CLOCK_MONOTONIC` at the instant that is marked.
    #[serde(skip_serializing_if = "Option::is_none")]
    at_ns: Option<u64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    count: BTreeMap<String, f64>,
}

impl SentMark {
    /// The mark, and the monotonic time that its sender gives.
    pub(super) fn into_parts(self) -> (Mark, Option<Duration>) {
        let mark = Mark {
            name: self.name,
            edge: self.edge,
            span: self.span,
            elapsed: None,
            count: self.count,
        };
        (mark, self.at_ns.map(Duration::from_nanos))
    }
}

impl From<&Mark> for SentMark {
    fn from(mark: &Mark) -> Self {
        Self {
            name: mark.name.clone(),
            edge: mark.edge,
            span: mark.span,
            at_ns: None,
            count: mark.count.clone(),
        }
    }
}

/// A datagram with who sent it, as the kernel says.
pub(super) struct Datagram {
    pub(super) bytes: usize,
    pub(super) by: Option<UCred>,
    pub(super) sender: Option<SocketAddrAny>,
}

/// Receives a datagram through a socket with `SO_PASSCRED`.
pub(super) fn receive(
    socket: &UnixDatagram,
    text: &mut [u8],
    flags: RecvFlags,
) -> io::Result<Datagram> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmCredentials(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [io::IoSliceMut::new(text)];
    let message = recvmsg(socket, &mut parts, &mut control, flags)?;
    let by = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmCredentials(who) => Some(who),
        _ => None,
    });
    Ok(Datagram {
        bytes: message.bytes,
        by,
        sender: message.address,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_mark_several_and_a_question_are_told_apart() {
        let read = |text: &str| serde_json::from_str::<Sent>(text);
        assert!(matches!(read(r#"{"query":"run"}"#), Ok(Sent::Query(_))));
        let one = read(r#"{"name":"a","edge":"end","span":7,"at_ns":1000000001,"count":{"x":2}}"#);
        let Ok(Sent::Mark(sent)) = one else { panic!() };
        let (mark, at) = sent.into_parts();
        assert_eq!((mark.edge, mark.span), (Edge::End, Some(7)));
        assert_eq!(mark.count["x"], 2.0);
        assert_eq!(at, Some(Duration::new(1, 1)));
        let several = read(r#"[{"name":"a"},{"edge":"count","count":{"x":1}}]"#);
        assert!(matches!(several, Ok(Sent::Marks(marks)) if marks.len() == 2));
        for text in ["x", "7", r#"{"name":"a","edge":"middle"}"#, r#"{"name":7}"#] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
