mod start;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use super::child::Ending;
use super::job::Job;
use super::mark_socket::MarkSocket;
use super::output::Output;
use super::plan::Plan;
use super::run_cgroup::RunCgroup;
use super::summary::{Display, Summary};
use crate::meter::sensor::Boards;
use crate::meter::session::PERIOD_OF_OTHERS;
use crate::meter::{Clock, ClockReading, Session, SystemClock};
use crate::model::Mark;

pub use start::StartError;

/// A counter may wrap unseen in a longer pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Runs the plan's command to its end, or follows the plan's process, and measures it.
///
/// Signals are received by the calling thread, so threads that already run must block theirs.
///
/// # Errors
///
/// If the command cannot be started or the process cannot be followed. What fails later becomes a
/// note in the log.
pub fn track<'p>(
    plan: &'p Plan,
    display: Option<&'p mut dyn Display>,
) -> Result<Summary, StartError> {
    let mut tracker = Tracker::start(plan, display)?;
    // A fault of the tracker must not end the job: the command is waited for in any case.
    let watched = catch_unwind(AssertUnwindSafe(|| tracker.watch()));
    let ending = watched.unwrap_or_else(|_| {
        let note = "the tracker failed; the log ends early".to_owned();
        tracker.output.recorder.note(note);
        Ending::Unknown
    });
    let Tracker {
        mut job,
        session,
        mut output,
        ended,
        cgroup,
        ..
    } = tracker;
    let end = ended.unwrap_or_else(|| session.now());
    let measurement = session.stop_at(&end);
    output.measured(&measurement, ended.is_some());
    let ending = match ending {
        Ending::Unknown if job.child.is_ours() => outlast(&mut job, &mut output),
        ending => ending,
    };
    let summary = output.finish(measurement, ending);
    drop(cgroup);
    Ok(summary)
}

/// Waits for a command that goes on after the measuring.
fn outlast(job: &mut Job, output: &mut Output) -> Ending {
    // Nobody reads marks any more, so they must not wake this process.
    job.mark_socket = None;
    loop {
        let events = job.events(SystemClock.now());
        if let Some(ending) = events.ending {
            return ending;
        }
        if events.must_stop {
            output.clear_display();
            job.stop_along();
        }
        job.wait(Duration::MAX);
    }
}

struct Tracker<'p> {
    job: Job,
    session: Session,
    output: Output<'p>,
    /// The control group of the command, which is removed at the end.
    cgroup: Option<RunCgroup>,
    /// Gives the GPU boards, if their library was not loaded before the start.
    boards: Option<Receiver<Boards>>,
    /// When the command was seen to have ended.
    ended: Option<ClockReading>,
}

impl Tracker<'_> {
    /// Samples until the command ends or the time is up.
    fn watch(&mut self) -> Ending {
        let interval = self.output.plan.interval;
        let duration = self.output.plan.duration;
        let mut next_tick = interval;
        loop {
            let now = self.session.now();
            let at = self.session.elapsed_at(&now);
            if duration.is_some_and(|duration| at >= duration) {
                return Ending::Unknown;
            }
            if at >= next_tick && !self.session.is_settling() {
                self.tick(&now, None);
                next_tick = next_after(next_tick, interval, at);
            } else if at >= self.session.next_read() {
                self.session.read_at(&now);
            }
            self.add_late_boards();
            self.output.notes(self.session.take_notes());

            let mut next = self.session.next_read();
            if !self.session.is_settling() {
                next = next.min(next_tick);
            }
            let next = next.min(duration.unwrap_or(Duration::MAX));
            if !self.job.wait(next.saturating_sub(at)) {
                continue;
            }
            // A mark that was sent just before the end is older than the end.
            let ending = self.handle_events();
            self.take_marks();
            if let Some(ending) = ending {
                return ending;
            }
            if self.job.has_vanished() {
                self.output.recorder.note(format!(
                    "impact did not start this process; its last {} ms may be missing",
                    PERIOD_OF_OTHERS.as_millis()
                ));
                return Ending::Unknown;
            }
        }
    }

    fn tick(&mut self, now: &ClockReading, mark: Option<Mark>) {
        let sample = self.session.sample_at(now, mark);
        self.output.sample(sample);
    }

    fn add_late_boards(&mut self) {
        let boards = self.boards.as_ref().and_then(|found| found.try_recv().ok());
        if let Some(boards) = boards {
            self.boards = None;
            self.session.add_boards(boards);
        }
    }

    fn take_marks(&mut self) {
        while let Some(received) = self.job.mark_socket.as_ref().and_then(MarkSocket::next) {
            let now = self.ended.unwrap_or_else(|| self.session.now());
            self.tick(&now, Some(received.mark.clone()));
            if let Some(mark_socket) = &self.job.mark_socket {
                mark_socket.acknowledge(&received);
            }
        }
    }

    /// Passes on what has happened to the job; gives its end.
    fn handle_events(&mut self) -> Option<Ending> {
        let now = self.session.now();
        let events = self.job.events(now);
        for child in events.reaped {
            self.session
                .child_ended(child.pid, child.time, child.max_resident_bytes);
        }
        if events.ending.is_some() && self.job.child.is_ours() {
            self.ended = Some(now);
        }
        if events.must_stop {
            self.stop_along();
        }
        events.ending
    }

    /// Stops with the command, and does not count a long pause.
    fn stop_along(&mut self) {
        let before = self.session.now();
        self.tick(&before, None);
        self.output.clear_display();
        self.job.stop_along();
        let now = self.session.now();
        let pause = now.monotonic.saturating_sub(before.monotonic);
        if pause > LONGEST_PAUSE.min(self.session.longest_period()) {
            self.session.skip();
            self.output.recorder.note(format!(
                "after {:.3} s: stopped for {:.1} s, which is not counted",
                self.session.elapsed_at(&now).as_secs_f64(),
                pause.as_secs_f64()
            ));
        }
    }
}

/// The next tick that lies ahead; missed ticks are left out.
fn next_after(due: Duration, interval: Duration, now: Duration) -> Duration {
    let mut next = due + interval;
    if next <= now {
        let missed = now.saturating_sub(due).as_nanos() / interval.as_nanos().max(1);
        next = due + interval * (missed as u32 + 1);
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_that_were_missed_are_not_made_up_for() {
        let second = Duration::from_secs(1);
        assert_eq!(next_after(second, second, second), second * 2);
        assert_eq!(next_after(second, second, second * 7 / 2), second * 4);
    }
}
