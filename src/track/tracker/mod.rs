mod end;
mod start;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::child::{Child, Ending, News};
use super::info_writer::InfoWriter;
use super::mark_socket::MarkSocket;
use super::plan::Plan;
use super::recorder::Recorder;
use super::signals::Signals;
use super::summary::{Display, LiveStatus, Summary};
use crate::grid::intensity::Background;
use crate::meter::clock::ClockReading;
use crate::meter::counter_lag::{CounterLag, GLANCE};
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
    screen: Option<&'p mut dyn Display>,
) -> Result<Summary, StartError> {
    let mut tracker = Tracker::start(plan, screen)?;
    // A fault of ours must not cost the job its end: it is waited for in any case.
    let watched = catch_unwind(AssertUnwindSafe(|| tracker.watch()));
    let ending = watched.unwrap_or_else(|_| {
        tracker
            .record
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
    screen: Option<&'p mut dyn Display>,
    witness: Sampler,
    record: Recorder,
    scribe: InfoWriter,
    signals: Signals,
    mailbox: Option<MarkSocket>,
    child: Child,
    boards: Option<Receiver<Boards>>,
    grid: Option<Background>,
    lag: CounterLag,
    is_lag_known: bool,
    trail: RecentTotals,
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
            self.mind_the_gap(&now);
            let at = self.witness.elapsed(&now);
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
                self.witness.glimpse(at);
                next_read = at.saturating_add(self.gap());
            }
            self.take_in_late_boards(at);
            self.collect_notes();

            let mut until = next_tick.min(next_read).saturating_sub(at);
            if let Some(duration) = self.plan.duration {
                until = until.min(duration.saturating_sub(at));
            }
            if !self.is_lag_known {
                until = GLANCE;
            }
            if !self.await_news(until) {
                continue;
            }
            // A mark sent just before the end is older than the end.
            let ending = self.hear_signals();
            self.open_mail();
            if let Some(ending) = ending {
                return ending;
            }
            if self.has_vanished() {
                self.record.note(format!(
                    "it was not ours to wait for: what it did in its last {} ms may be missing",
                    GAP_OF_OTHERS.as_millis()
                ));
                return Ending::Unknown;
            }
        }
    }

    /// Sleeps until something happens, but no longer than this; says whether it did.
    fn await_news(&self, until: Duration) -> bool {
        let mut sources = vec![PollFd::new(&self.signals, PollFlags::IN)];
        sources.extend(
            self.mailbox
                .iter()
                .map(|mail| PollFd::new(mail, PollFlags::IN)),
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
        let mut gap = self.witness.panel.longest_gap();
        if self.witness.panel.has_gauges() {
            gap = gap.min(Duration::from_secs_f64(POWER_PERIOD_S));
        }
        if !self.child.is_ours() {
            gap = gap.min(GAP_OF_OTHERS);
        }
        gap
    }

    fn tick(&mut self, now: &ClockReading, mark: Option<Mark>) {
        let mut sample = self.witness.sample(now, mark);
        if let Some(latest) = self.grid.as_ref().and_then(Background::latest) {
            sample.observed.realtime_carbon_intensity = Some(latest.intensity.get());
            self.realtime_sources.insert(latest.source);
        }
        self.record.sample(&sample);
        self.trail
            .pass(self.witness.elapsed(now), self.witness.panel.totals());
        self.scribe.sampled(self.witness.take_rarity());
        if let Some(screen) = &mut self.screen {
            screen.show(&LiveStatus::of(
                &sample,
                self.plan.region.as_ref(),
                self.plan.pue,
            ));
        }
    }

    fn clear_screen(&mut self) {
        if let Some(screen) = &mut self.screen {
            screen.clear();
        }
    }

    fn collect_notes(&mut self) {
        let grid = self.grid.iter().flat_map(Background::notices);
        for note in self.witness.panel.take_notes().into_iter().chain(grid) {
            self.record.note(note);
        }
    }

    /// While the machine slept, counters may have gone anywhere: nothing is counted for that time.
    fn mind_the_gap(&mut self, now: &ClockReading) {
        let slept = now.slept_since(&self.last_awake);
        if slept > Duration::from_millis(500) {
            let at = self.witness.elapsed(now);
            self.witness.panel.resume(at);
            self.record.note(format!(
                "after {:.3} s: the machine slept for {:.0} s, which is not counted",
                at.as_secs_f64(),
                slept.as_secs_f64()
            ));
        }
        self.last_awake = *now;
    }

    fn learn_lag(&mut self, at: Duration) {
        self.witness.panel.read_lively(at);
        let totals = self.witness.panel.totals();
        self.lag.glance(&self.witness.sighting(at, totals));
        if self.lag.is_settled() {
            self.set_right_at_start();
        }
    }

    fn set_right_at_start(&mut self) {
        let correction = self.lag.correction_at_start();
        self.witness.panel.correct(&correction);
        self.is_lag_known = true;
    }

    fn take_in_late_boards(&mut self, at: Duration) {
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
            self.record
                .note(format!("accelerators are counted from {seconds:.3} s on"));
        }
        for note in self.witness.take_in(boards, at) {
            self.record.note(note);
        }
    }

    fn open_mail(&mut self) {
        while let Some(letter) = self.mailbox.as_ref().and_then(MarkSocket::next) {
            let now = self.ended.unwrap_or_else(ClockReading::now);
            self.tick(&now, Some(letter.mark.clone()));
            if let Some(mailbox) = &self.mailbox {
                mailbox.acknowledge(&letter);
            }
        }
    }

    /// Hands signals on, waits for the dead, and stops when the command is stopped.
    fn hear_signals(&mut self) -> Option<Ending> {
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
        match self.child.reap(self.witness.reaped()) {
            News::Ended(ending) => {
                self.ended = Some(now);
                return Some(ending);
            }
            News::Stopped => self.is_stopped = true,
            News::Continued => self.is_stopped = false,
            News::None => {}
        }
        // A command that went on all the same was not stopped by what we were asked to stop by.
        let is_asked = |asked: &ClockReading| {
            self.witness
                .elapsed(&now)
                .saturating_sub(self.witness.elapsed(asked))
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
        self.clear_screen();
        self.child.stop_along();
        self.stop_asked = None;
        self.is_stopped = false;
        if self.is_over {
            return;
        }
        let now = ClockReading::now();
        let at = self.witness.elapsed(&now);
        let pause = at.saturating_sub(self.witness.elapsed(&before));
        if pause > LONGEST_PAUSE.min(self.gap()) {
            self.witness.panel.resume(at);
            self.record.note(format!(
                "after {:.3} s: stopped for {:.1} s, which is not counted",
                at.as_secs_f64(),
                pause.as_secs_f64()
            ));
        }
    }

    /// The end of a process that is not our child shows in its handle.
    fn has_vanished(&self) -> bool {
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
