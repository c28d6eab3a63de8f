use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, kill_process};
use rustix::termios::tcsetpgrp;

use super::child::{Child, ChildEvent, Ending, Reaped};
use super::control::Control;
use super::signals::Signals;
use crate::meter::ClockReading;

/// A command that is stopped later than this after a stop signal was stopped by something else.
const STOP_PATIENCE: Duration = Duration::from_secs(1);

/// The tracked command and the signals for it.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) child: Child,
    signals: Signals,
    /// Who else may end the measurement.
    control: Option<Arc<Control>>,
    /// When a stop signal arrived. Ctrl-Z reaches the tracker and the command in any order.
    stop_asked: Option<ClockReading>,
    is_stopped: bool,
}

/// What has happened to the job.
#[derive(Debug, Default)]
pub(crate) struct JobEvents {
    /// Children that have ended.
    pub(crate) reaped: Vec<Reaped>,
    pub(crate) ending: Option<Ending>,
    /// A signal that asks the command to end, such as that of Ctrl-C, arrived.
    pub(crate) end_signal: Option<u8>,
    /// The tracker should stop as the command has, with `Job::stop_along`.
    pub(crate) must_stop: bool,
}

impl Job {
    pub(crate) fn new(child: Child, signals: Signals, control: Option<Arc<Control>>) -> Self {
        Self {
            child,
            signals,
            control,
            stop_asked: None,
            is_stopped: false,
        }
    }

    /// Gives the signals back, for the next command.
    pub(crate) fn into_signals(self) -> Signals {
        self.signals
    }

    /// Waits until a signal arrives, the command ends or the time is up.
    pub(crate) fn wait(&self, timeout: Option<Duration>) {
        let control = self.control.as_ref().and_then(|control| control.handle());
        let handles = [self.child.handle(), control];
        let mut sources = vec![PollFd::new(&self.signals, PollFlags::IN)];
        sources.extend(
            handles
                .iter()
                .flatten()
                .map(|handle| PollFd::new(handle, PollFlags::IN)),
        );
        let timeout = timeout.map(timespec);
        let _ = poll(&mut sources, timeout.as_ref());
    }

    /// Waits for a signal after the end of the job; says whether one came that ends the tracker.
    pub(crate) fn wait_after_end(&self, timeout: Duration) -> bool {
        let timeout = timespec(timeout);
        let mut sources = [PollFd::new(&self.signals, PollFlags::IN)];
        let _ = poll(&mut sources, Some(&timeout));
        let mut arrivals = std::iter::from_fn(|| self.signals.next());
        arrivals.any(|arrival| self.signals.is_end(arrival))
    }

    /// Forwards signals to the command and waits for ended children.
    pub(crate) fn events(&mut self, now: ClockReading) -> JobEvents {
        let mut events = JobEvents::default();
        while let Some(arrival) = self.signals.next() {
            if arrival.is_child_event() {
                continue;
            }
            if arrival.is_stop() {
                self.stop_asked = Some(now);
            }
            if self.signals.is_end(arrival) {
                events.end_signal = u8::try_from(arrival.signal).ok();
            }
            if self.child.is_ours() {
                arrival.forward_to(self.child.pid());
            } else if self.signals.is_end(arrival) {
                events.ending = Some(Ending::Unknown);
                return events;
            } else if arrival.is_stop() && !self.signals.is_ignored(arrival) {
                events.must_stop = true;
            }
        }
        if !self.child.is_ours() {
            let control = self.control.as_ref();
            if control.is_some_and(|control| control.is_stopped()) {
                events.ending = Some(Ending::Unknown);
            }
            return events;
        }
        match self.child.reap(&mut events.reaped) {
            ChildEvent::Ended(ending) => {
                events.ending = Some(ending);
                return events;
            }
            ChildEvent::Stopped => self.is_stopped = true,
            ChildEvent::Continued => self.is_stopped = false,
            ChildEvent::None => {}
        }
        // A command that stops long after the signal was stopped by something else.
        let is_recent =
            |asked: ClockReading| now.monotonic.saturating_sub(asked.monotonic) < STOP_PATIENCE;
        events.must_stop = self.is_stopped
            && (self.stop_asked.is_some_and(is_recent) || self.child.own_terminal().is_some());
        events
    }

    /// Stops this process as its command was stopped, and continues the command afterwards.
    pub(crate) fn stop_along(&mut self) {
        let terminal = self.child.own_terminal();
        let _ = kill_process(rustix::process::getpid(), Signal::STOP);
        self.stop_asked = None;
        self.is_stopped = false;
        if !self.child.is_ours() {
            return;
        }
        if let Some((terminal, group)) = terminal {
            let _ = tcsetpgrp(terminal, group);
        }
        // If only the tracker was continued, both were meant; a second SIGCONT does no harm.
        let _ = kill_process(self.child.pid(), Signal::CONT);
    }

    /// Whether a process that is no child of this one has ended, as its handle shows.
    pub(crate) fn has_vanished(&self) -> bool {
        let Some(handle) = self.child.handle().filter(|_| !self.child.is_ours()) else {
            return false;
        };
        let mut handle = [PollFd::new(&handle, PollFlags::IN)];
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        matches!(poll(&mut handle, Some(&now)), Ok(ready) if ready > 0)
    }
}

fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(duration.subsec_nanos()),
    }
}
