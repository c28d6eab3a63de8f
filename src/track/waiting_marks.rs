use std::sync::Arc;
use std::time::Duration;

use super::mark_socket::{MarkSocket, ReceivedMarks};
use crate::meter::{ClockReading, Session};
use crate::model::Mark;

/// After this many samples for marks in a row, the next waits.
const BURST: u32 = 64;
/// Marks then take a sample this often, so that they cost about 1 % of a processor.
const PERIOD: Duration = Duration::from_millis(20);
/// A time that lies further back is not believed.
const LONGEST_AGO: Duration = Duration::from_secs(60);

/// Marks that have arrived and are in no sample yet.
#[derive(Debug)]
pub(super) struct WaitingMarks {
    socket: Option<Arc<MarkSocket>>,
    messages: Vec<ReceivedMarks>,
    /// When the sample could have been taken that would come after all others, each a period after the last.
    spent_until: Duration,
}

impl WaitingMarks {
    pub(super) fn new(socket: Option<Arc<MarkSocket>>) -> Self {
        Self {
            socket,
            messages: Vec::new(),
            spent_until: Duration::ZERO,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    pub(super) fn push(&mut self, received: ReceivedMarks) {
        self.messages.push(received);
    }

    /// Where marks arrive.
    pub(super) fn socket(&self) -> Option<Arc<MarkSocket>> {
        self.socket.clone()
    }

    /// Takes what has arrived since the listener stopped.
    pub(super) fn receive(&mut self) {
        while let Some(received) = self.socket.as_ref().and_then(|socket| socket.next()) {
            self.messages.push(received);
        }
    }

    /// How long to wait with the sample for these marks; none if there are none.
    pub(super) fn wait(&self, now: &ClockReading) -> Option<Duration> {
        if self.messages.is_empty() {
            return None;
        }
        // A sender that waits sends nothing else meanwhile.
        if self.messages.iter().any(|message| message.sender.is_some()) {
            return Some(Duration::ZERO);
        }
        let free_at = self.spent_until.saturating_sub(PERIOD * (BURST - 1));
        Some(free_at.saturating_sub(now.monotonic))
    }

    /// The marks for a sample at this instant, in order of time.
    pub(super) fn marks(&mut self, session: &Session, now: &ClockReading) -> Vec<Mark> {
        if self.messages.is_empty() {
            return Vec::new();
        }
        self.spent_until = self.spent_until.max(now.monotonic) + PERIOD;
        let at = session.elapsed_at(now);
        let mut marks = Vec::new();
        for message in &self.messages {
            let arrived = message.arrived.monotonic;
            for (mark, sent_at) in &message.marks {
                let believed = sent_at
                    .filter(|at| *at <= arrived && arrived.saturating_sub(*at) <= LONGEST_AGO);
                // A sender that waits for its sample means the instant of the sample.
                let time = believed.or(message.sender.is_none().then_some(arrived));
                let elapsed = time.map(|time| session.elapsed_at(&now.back_at(time)).min(at));
                marks.push(Mark {
                    elapsed: elapsed.map(|elapsed| elapsed.as_secs_f64()),
                    ..mark.clone()
                });
            }
        }
        let end = at.as_secs_f64();
        marks.sort_by(|a, b| {
            let time = |mark: &Mark| mark.elapsed.unwrap_or(end);
            time(a).total_cmp(&time(b))
        });
        marks
    }

    /// The marks are in a sample.
    pub(super) fn measured(&mut self) {
        for message in self.messages.drain(..) {
            if let Some(socket) = &self.socket {
                socket.measured(&message);
            }
        }
    }

    /// What of the marks is not in the log.
    pub(super) fn notes(&self) -> Vec<String> {
        let socket = self.socket.as_ref();
        socket.map(|socket| socket.notes()).unwrap_or_default()
    }
}
