mod end;
mod start;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::child::{Child, ChildEvent, Ending};
use super::info_writer::InfoWriter;
use super::mark_socket::MarkSocket;
use super::plan::Plan;
use super::recorder::Recorder;
use super::signals::Signals;
use super::summary::{Display, LiveStatus, Summary};
use crate::grid::intensity::IntensityPoller;
use crate::meter::clock::ClockReading;
use crate::meter::counter_lag::{CounterLag, POLL_PERIOD};
use crate::meter::recent_totals::RecentTotals;
use crate::meter::sampler::Sampler;
use crate::meter::sensor::accelerator::{Board, POWER_PERIOD_S};
use crate::meter::sensor::{Accelerator, Boards};
use crate::model::Mark;
use crate::model::info::GpuCard;

pub use start::StartError;

/// A pause longer than this may hide a counter's wrap.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Who is not our child takes along what it did since we last looked.
const GAP_OF_OTHERS: Duration = Duration::from_millis(250);

/// A command that is stopped later than this after we were asked to stop is stopped by another.
const STOP_PATIENCE: Duration = Duration::from_secs(1);

/// Runs the plan's command to its end, or follows the plan's process, and measures it.
///
/// Signals are heard by the calling thread: threads that run already must hold theirs back.
pub fn track<'p>(
    plan: &'p Plan,
    display: Option<&'p mut dyn Display>,
) -> Result<Summary, StartError> {
    let mut tracker = Tracker::start(plan, display)?;
    // A fault of ours must not cost the job its end: it is waited for in any case.
    let watched = catch_unwind(AssertUnwindSafe(|| tracker.watch()));
    let ending = watched.unwrap_or_else(|_| {
        tracker
            .recorder
            .note("the tracker failed; the log ends early".to_owned());
        Ending::Unknown
    });
    let elapsed = tracker.last_sample();
    let ending = match ending {
        Ending::Unknown if tracker.child.is_ours() => tracker.outlast(),
        ending => ending,
    };
    Ok(tracker.finish(ending, elapsed))
}

struct Tracker<'p> {
    plan: &'p Plan,
    display: Option<&'p mut dyn Display>,
    sampler: Sampler,
    recorder: Recorder,
    info_writer: InfoWriter,
    signals: Signals,
    mark_socket: Option<MarkSocket>,
    child: Child,
    boards: Option<Receiver<Boards>>,
    grid: Option<IntensityPoller>,
    lag: CounterLag,
    is_lag_known: bool,
    recent_totals: RecentTotals,
    last_awake: ClockReading,
    /// What this process had used when it became a tracker: an exec keeps its clock.
    cpu_at_start: Duration,
    /// Ctrl-Z reaches us and the command in any order: we stop once both are known.
    stop_asked: Option<ClockReading>,
    is_stopped: bool,
    /// The measuring is over, though the command may go on.
    is_over: bool,
    /// When the command was seen to have ended.
    ended: Option<ClockReading>,
    /// Who said the carbon intensities recorded so far.
    realtime_sources: BTreeSet<String>,
}

impl Tracker<'_> {
    /// Samples until the command ends or the time is up.
    fn watch(&mut self) -> Ending {
        let mut next_tick = self.plan.interval;
        let mut next_read = self.gap();
        loop {
            let now = ClockReading::now();
            self.skip_suspend(&now);
            let at = self.sampler.elapsed(&now);
            if self.plan.duration.is_some_and(|duration| at >= duration) {
                return Ending::Unknown;
            }
            if !self.is_lag_known {
                self.learn_lag(at);
            } else if at >= next_tick {
                self.tick(&now, None);
                next_tick = next_after(next_tick, self.plan.interval, at);
                next_read = at.saturating_add(self.gap());
            } else if at >= next_read {
                self.sampler.read_between_samples(at);
                next_read = at.saturating_add(self.gap());
            }
            self.add_late_boards(at);
            self.collect_notes();

            let mut until = next_tick.min(next_read).saturating_sub(at);
            if let Some(duration) = self.plan.duration {
                until = until.min(duration.saturating_sub(at));
            }
            if !self.is_lag_known {
                until = POLL_PERIOD;
            }
            if !self.wait_for_event(until) {
                continue;
            }
            // A mark sent just before the end is older than the end.
            let ending = self.handle_signals();
            self.take_marks();
            if let Some(ending) = ending {
                return ending;
            }
            if self.has_ended() {
                self.recorder.note(format!(
                    "it was not ours to wait for: what it did in its last {} ms may be missing",
                    GAP_OF_OTHERS.as_millis()
                ));
                return Ending::Unknown;
            }
        }
    }

    /// Sleeps until something happens, but no longer than this; says whether it did.
    fn wait_for_event(&self, until: Duration) -> bool {
        let mut sources = vec![PollFd::new(&self.signals, PollFlags::IN)];
        sources.extend(
            self.mark_socket
                .iter()
                .map(|socket| PollFd::new(socket, PollFlags::IN)),
        );
        let handle = self.child.handle();
        sources.extend(
            handle
                .iter()
                .map(|handle| PollFd::new(handle, PollFlags::IN)),
        );
        let timeout = Timespec {
            tv_sec: until.as_secs().min(86_400) as i64,
            tv_nsec: i64::from(until.subsec_nanos()),
        };
        !matches!(poll(&mut sources, Some(&timeout)), Ok(0))
    }

    /// How soon the meters must be read again, whatever is logged.
    fn gap(&self) -> Duration {
        let mut gap = self.sampler.sensors.longest_gap();
        if self.sampler.sensors.has_gauges() {
            gap = gap.min(Duration::from_secs_f64(POWER_PERIOD_S));
        }
        if !self.child.is_ours() {
            gap = gap.min(GAP_OF_OTHERS);
        }
        gap
    }

    fn tick(&mut self, now: &ClockReading, mark: Option<Mark>) {
        let mut sample = self.sampler.sample(now, mark);
        if let Some(latest) = self.grid.as_ref().and_then(IntensityPoller::latest) {
            sample.observed.realtime_carbon_intensity = Some(latest.intensity.get());
            self.realtime_sources.insert(latest.source());
        }
        self.recorder.sample(&sample);
        self.recent_totals
            .push(self.sampler.elapsed(now), self.sampler.sensors.totals());
        self.info_writer.sample_written();
        if let Some(display) = &mut self.display {
            display.show(&LiveStatus::of(&sample));
        }
    }

    fn clear_display(&mut self) {
        if let Some(display) = &mut self.display {
            display.clear();
        }
    }

    fn collect_notes(&mut self) {
        let grid = self.grid.iter().flat_map(IntensityPoller::notices);
        for note in self.sampler.sensors.take_notes().into_iter().chain(grid) {
            self.recorder.note(note);
        }
    }

    /// While the machine slept, counters may have gone anywhere: nothing is counted for that time.
    fn skip_suspend(&mut self, now: &ClockReading) {
        let slept = now.slept_since(&self.last_awake);
        if slept > Duration::from_millis(500) {
            let at = self.sampler.elapsed(now);
            self.sampler.sensors.resume(at);
            self.recorder.note(format!(
                "after {:.3} s: the machine slept for {:.0} s, which is not counted",
                at.as_secs_f64(),
                slept.as_secs_f64()
            ));
        }
        self.last_awake = *now;
    }

    fn learn_lag(&mut self, at: Duration) {
        self.sampler.sensors.read_lively(at);
        let totals = self.sampler.sensors.totals();
        self.lag.observe(&self.sampler.timed_totals(at, totals));
        if self.lag.is_settled() {
            self.correct_start();
        }
    }

    fn correct_start(&mut self) {
        let correction = self.lag.correction_at_start();
        self.sampler.sensors.correct(&correction);
        self.is_lag_known = true;
    }

    fn add_late_boards(&mut self, at: Duration) {
        let Some(boards) = self
            .boards
            .as_ref()
            .and_then(|boards| boards.try_recv().ok())
        else {
            return;
        };
        self.boards = None;
        if !boards.found.is_empty() {
            let seconds = at.as_secs_f64();
            self.recorder
                .note(format!("accelerators are counted from {seconds:.3} s on"));
        }
        for note in self.sampler.add_boards(boards, at) {
            self.recorder.note(note);
        }
    }

    fn take_marks(&mut self) {
        while let Some(received) = self.mark_socket.as_ref().and_then(MarkSocket::next) {
            let now = self.ended.unwrap_or_else(ClockReading::now);
            self.tick(&now, Some(received.mark.clone()));
            if let Some(mark_socket) = &self.mark_socket {
                mark_socket.acknowledge(&received);
            }
        }
    }

    /// Hands signals on, waits for the dead, and stops when the command is stopped.
    fn handle_signals(&mut self) -> Option<Ending> {
        let now = ClockReading::now();
        while let Some(arrival) = self.signals.next() {
            if arrival.is_child_news() {
                continue;
            }
            if arrival.is_stop() {
                self.stop_asked = Some(now);
            }
            if self.child.is_ours() {
                arrival.forward_to(self.child.pid());
            } else if self.signals.is_end(arrival) {
                return Some(Ending::Unknown);
            } else if arrival.is_stop() && !self.signals.is_ignored(arrival) {
                self.stop_along();
            }
        }
        if !self.child.is_ours() {
            return None;
        }
        match self.child.reap(self.sampler.reaped()) {
            ChildEvent::Ended(ending) => {
                self.ended = Some(now);
                return Some(ending);
            }
            ChildEvent::Stopped => self.is_stopped = true,
            ChildEvent::Continued => self.is_stopped = false,
            ChildEvent::None => {}
        }
        // A command that went on all the same was not stopped by what we were asked to stop by.
        let is_asked = |asked: &ClockReading| {
            self.sampler
                .elapsed(&now)
                .saturating_sub(self.sampler.elapsed(asked))
                < STOP_PATIENCE
        };
        if self.is_stopped
            && (self.stop_asked.as_ref().is_some_and(is_asked)
                || self.child.own_terminal().is_some())
        {
            self.stop_along();
        }
        None
    }

    fn stop_along(&mut self) {
        let before = ClockReading::now();
        if !self.is_over {
            self.tick(&before, None);
        }
        self.clear_display();
        self.child.stop_along();
        self.stop_asked = None;
        self.is_stopped = false;
        if self.is_over {
            return;
        }
        let now = ClockReading::now();
        let at = self.sampler.elapsed(&now);
        let pause = at.saturating_sub(self.sampler.elapsed(&before));
        if pause > LONGEST_PAUSE.min(self.gap()) {
            self.sampler.sensors.resume(at);
            self.recorder.note(format!(
                "after {:.3} s: stopped for {:.1} s, which is not counted",
                at.as_secs_f64(),
                pause.as_secs_f64()
            ));
        }
    }

    /// The end of a process that is not our child shows in its handle.
    fn has_ended(&self) -> bool {
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

/// The next tick on the grid of intervals that still lies ahead.
fn next_after(due: Duration, interval: Duration, now: Duration) -> Duration {
    let mut next = due + interval;
    if next <= now {
        let missed = now.saturating_sub(due).as_nanos() / interval.as_nanos().max(1);
        next = due + interval * (missed as u32 + 1);
    }
    next
}

/// The boards as the info lists them, and their driver.
fn cards(boards: &[Box<dyn Accelerator>]) -> (Vec<GpuCard>, Option<String>) {
    let boards: Vec<Board> = boards.iter().map(|board| board.board()).collect();
    let driver = boards.iter().find_map(|board| board.driver.clone());
    let card = |board: Board| GpuCard {
        uuid: Some(board.uuid),
        name: board.name,
        memory_bytes: board.memory_bytes,
        power_limit_w: board.power_limit_w,
    };
    (boards.into_iter().map(card).collect(), driver)
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
