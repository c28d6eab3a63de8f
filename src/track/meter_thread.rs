//! The thread that reads the sensors.
//!
//! The thread that waits for the job sends it what happens, and does not wait for sensors or the disk.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Duration;

use chrono::{DateTime, FixedOffset};

use super::board_process::BoardProcess;
use super::child::{Ending, Reaped};
use super::log_thread::LogSender;
use super::mark_socket::{MarkSocket, ReceivedMarks};
use super::waiting_marks::WaitingMarks;
use crate::meter::process_tree::cpu_clock;
use crate::meter::sensor::board_error::DriverError;
use crate::meter::sensor::{Boards, Processor};
use crate::meter::session::PERIOD_OF_OTHERS;
use crate::meter::{
    Clock as _, ClockReading, Roots, Scope, ScopeError, SensorSet, Session, SystemClock,
};
use crate::model::info::{GpuCard, SensorNote};
use crate::model::{Component, Pseudonyms, Sample};

/// How long the start waits for the GPU library; boards that come later are added later.
const BOARDS_PATIENCE: Duration = Duration::from_millis(3);
/// How long it waits for a library that was given by its path.
const NAMED_PATIENCE: Duration = Duration::from_secs(1);
/// A counter may wrap unseen in a longer pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// This many events are handled before the time is looked at again.
const MOST_EVENTS_AT_ONCE: usize = 256;

/// What happens to the job.
pub(crate) enum JobEvent {
    /// The command is about to start. Answered when energy is counted.
    Begin(SyncSender<()>),
    Started(StartedJob),
    Reaped(Reaped),
    Marks(ReceivedMarks),
    /// The tracker will be stopped, as by Ctrl-Z. Answered when the display is cleared.
    Stopping(SyncSender<()>),
    Continued,
    Ended(JobEnd),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct StartedJob {
    pub(crate) pid: u32,
    pub(crate) began: ClockReading,
    pub(crate) is_in_group: bool,
}

/// The end of the job, or of what was measured of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JobEnd {
    pub(crate) ending: Ending,
    pub(crate) at: JobEndTime,
    /// Whether a followed process has ended at an unknown time.
    pub(crate) has_vanished: bool,
    /// CPU time of the process that read the boards.
    pub(crate) board_cpu_time: Duration,
}

/// When the job ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JobEndTime(ClockReading);

impl JobEnd {
    pub(crate) fn new(ending: Ending, at: ClockReading) -> Self {
        Self {
            ending,
            at: JobEndTime(at),
            has_vanished: false,
            board_cpu_time: Duration::ZERO,
        }
    }

    /// An end that was not observed.
    pub(crate) fn unknown() -> Self {
        Self::new(Ending::Unknown, SystemClock.now())
    }
}

impl JobEndTime {
    pub(crate) fn local_time(&self) -> DateTime<FixedOffset> {
        let time = DateTime::from_timestamp_micros((self.0.wall * 1e6) as i64);
        time.unwrap_or_default()
            .with_timezone(&chrono::Local)
            .fixed_offset()
    }
}

/// What the thread needs to measure.
pub(crate) struct MeterSetup {
    pub(crate) roots: Roots,
    pub(crate) scope: Scope,
    pub(crate) interval: Duration,
    pub(crate) duration: Option<Duration>,
    pub(crate) boards: Option<BoardProcess>,
    /// Used instead of the ids of boards in a redacted log.
    pub(crate) pseudonyms: Option<Pseudonyms>,
    pub(crate) mark_socket: Option<Arc<MarkSocket>>,
    pub(crate) log: LogSender,
}

/// What is known before the command starts.
pub(crate) struct Prepared {
    pub(crate) gpus: (Vec<GpuCard>, Option<String>),
    pub(crate) sensors: Vec<SensorNote>,
    pub(crate) counters: BTreeMap<Component, u64>,
    pub(crate) processor: Processor,
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) first: Sample,
    pub(crate) notes: Vec<String>,
}

/// Starts the thread. The receiver gets a message when the sensors are ready, or why the scope cannot be measured.
pub(crate) fn start(
    setup: MeterSetup,
) -> (Sender<JobEvent>, Receiver<Result<Prepared, ScopeError>>) {
    let (sender, events) = channel();
    let (ready, prepared) = sync_channel(1);
    // Without a thread nothing is measured, and the sender of `prepared` is dropped.
    let _ = thread::Builder::new()
        .name("meter".to_owned())
        .stack_size(512 * 1024)
        .spawn(move || match Meter::prepare(setup, events) {
            Ok((meter, first)) => {
                if ready.send(Ok(first)).is_ok() {
                    meter.run();
                }
            }
            Err(error) => drop(ready.send(Err(error))),
        });
    (sender, prepared)
}

struct Meter {
    session: Session,
    events: Receiver<JobEvent>,
    log: LogSender,
    marks: WaitingMarks,
    interval: Duration,
    duration: Option<Duration>,
    is_command: bool,
    /// The process that reads the boards, as long as it has not listed them.
    pending_boards: Option<BoardProcess>,
    board_pid: Option<u32>,
    newest_sample: Option<ClockReading>,
    /// When the tracker was stopped, until it continues.
    stopped: Option<ClockReading>,
}

impl Meter {
    fn prepare(
        setup: MeterSetup,
        events: Receiver<JobEvent>,
    ) -> Result<(Self, Prepared), ScopeError> {
        let mut sensors = SensorSet::of_processors(&setup.roots);
        sensors.name_boards_by(setup.pseudonyms);
        let patience = match setup.roots.nvml_lib {
            Some(_) => NAMED_PATIENCE,
            None => BOARDS_PATIENCE,
        };
        let board_pid = setup.boards.as_ref().map(BoardProcess::pid);
        let early = setup.boards.as_ref();
        let early = early.and_then(|boards| boards.boards(patience));
        let pending_boards = setup.boards.filter(|_| early.is_none());
        sensors.add_boards(early.unwrap_or_default(), Duration::ZERO);
        let processor = sensors.processor.clone();
        let (gpus, sensor_notes) = (sensors.gpus(), sensors.sensors());
        let counters = sensors.counters();
        let mut session = Session::prepare(sensors, &setup.scope, SystemClock)?;
        let prepared = Prepared {
            gpus,
            sensors: sensor_notes,
            counters,
            processor,
            memory_bytes: session.memory_bytes(),
            first: session.first_sample(),
            notes: session.take_notes(),
        };
        let meter = Self {
            session,
            events,
            log: setup.log,
            marks: WaitingMarks::new(setup.mark_socket),
            interval: setup.interval,
            duration: setup.duration,
            is_command: matches!(setup.scope, Scope::Children { .. }),
            pending_boards,
            board_pid,
            newest_sample: None,
            stopped: None,
        };
        Ok((meter, prepared))
    }

    fn run(mut self) {
        if !self.wait_for_start() {
            return;
        }
        let end = self.watch();
        let last = end.unwrap_or_else(|| JobEnd::new(Ending::Unknown, self.session.now()));
        if end.is_some() {
            self.receive_last_marks();
        }
        if !self.marks.is_empty() {
            // A sample that lies before the one for earlier marks would be taken for a repeated one.
            let newest = self.newest_sample.take();
            let is_later = |sample: &ClockReading| sample.monotonic > last.at.0.monotonic;
            self.tick(&newest.filter(is_later).unwrap_or(last.at.0));
        }
        self.log.notes(self.marks.notes());
        if self.pending_boards.take().is_some() {
            self.session.add_boards(Boards {
                missing: Some(DriverError::NoneBeforeTheEnd),
                ..Boards::default()
            });
        }
        if last.has_vanished {
            self.log.notes(vec![format!(
                "impact did not start this process; its last {} ms may be missing",
                PERIOD_OF_OTHERS.as_millis()
            )]);
        }
        let board_cpu_time = self.board_pid.and_then(cpu_clock).unwrap_or_default();
        let measurement = self.session.stop_at(&last.at.0);
        let has_command_ended = end.is_some() && self.is_command;
        self.log.measured(measurement, has_command_ended);
        // A command goes on when the time of measuring is up.
        let end = match end {
            None if self.is_command => end_of(&self.events),
            None => last,
            Some(end) => end,
        };
        self.log.finish(JobEnd {
            board_cpu_time,
            ..end
        });
    }

    /// Starts to count when the command is about to start; false if it could not be started.
    fn wait_for_start(&mut self) -> bool {
        loop {
            match self.events.recv() {
                Ok(JobEvent::Begin(counted)) => {
                    self.session.begin();
                    let _ = counted.send(());
                }
                Ok(JobEvent::Started(job)) => {
                    if !job.is_in_group {
                        self.session.drop_cgroup();
                    }
                    self.session.follow(job.pid, job.began);
                    return true;
                }
                Ok(_) => {}
                Err(_) => return false,
            }
        }
    }

    /// Samples until the job ends; none if the time is up before.
    fn watch(&mut self) -> Option<JobEnd> {
        let mut next_tick = self.interval;
        loop {
            let mut wait = Duration::MAX;
            if self.stopped.is_none() {
                let now = self.session.now();
                let at = self.session.elapsed_at(&now);
                if self.duration.is_some_and(|duration| at >= duration) {
                    return None;
                }
                if at >= next_tick && !self.session.is_settling() {
                    self.tick(&now);
                    next_tick = next_after(next_tick, self.interval, at);
                } else if self.marks.wait(&now) == Some(Duration::ZERO) {
                    self.tick(&now);
                } else if at >= self.session.next_read() {
                    self.session.read_at(&now);
                }
                self.add_late_boards();
                self.log.notes(self.session.take_notes());
                let mut next = self.session.next_read();
                if !self.session.is_settling() {
                    next = next.min(next_tick);
                }
                let next = next.min(self.duration.unwrap_or(Duration::MAX));
                wait = next.saturating_sub(at);
                wait = wait.min(self.marks.wait(&now).unwrap_or(Duration::MAX));
            }
            // One sample is taken for all marks that have arrived.
            for _ in 0..MOST_EVENTS_AT_ONCE {
                match self.events.recv_timeout(wait) {
                    Ok(JobEvent::Ended(end)) => return Some(end),
                    Ok(event) => self.handle(event),
                    Err(RecvTimeoutError::Timeout) => break,
                    // The other thread has ended without a message.
                    Err(RecvTimeoutError::Disconnected) => return Some(JobEnd::unknown()),
                }
                wait = Duration::ZERO;
            }
        }
    }

    fn handle(&mut self, event: JobEvent) {
        match event {
            JobEvent::Reaped(child) => {
                self.session
                    .child_ended(child.pid, child.time, child.max_resident_bytes);
            }
            JobEvent::Marks(received) => self.marks.push(received),
            JobEvent::Stopping(cleared) => {
                let now = self.session.now();
                self.tick(&now);
                self.stopped = Some(now);
                self.log.clear_display(cleared);
            }
            JobEvent::Continued => self.go_on(),
            JobEvent::Begin(_) | JobEvent::Started(_) | JobEvent::Ended(_) => {}
        }
    }

    fn tick(&mut self, now: &ClockReading) {
        let marks = self.marks.marks(&self.session, now);
        let sample = self.session.sample_at(now, marks);
        self.log.sample(sample);
        self.newest_sample = Some(*now);
        self.marks.measured();
    }

    /// Marks that were sent just before the end.
    fn receive_last_marks(&mut self) {
        let socket = self.marks.socket();
        // Marks that the listener has taken are then among the events.
        let _held = socket.as_ref().map(|socket| socket.hold());
        while let Ok(event) = self.events.try_recv() {
            if let JobEvent::Marks(received) = event {
                self.marks.push(received);
            }
        }
        self.marks.receive();
    }

    fn add_late_boards(&mut self) {
        let found = self.pending_boards.as_ref();
        if let Some(boards) = found.and_then(|boards| boards.boards(Duration::ZERO)) {
            self.pending_boards = None;
            self.session.add_boards(boards);
        }
    }

    /// Goes on after a stop, and does not count a long one.
    fn go_on(&mut self) {
        let Some(before) = self.stopped.take() else {
            return;
        };
        let now = self.session.now();
        let pause = now.monotonic.saturating_sub(before.monotonic);
        if pause > LONGEST_PAUSE.min(self.session.longest_period()) {
            self.session.skip();
            self.log.notes(vec![format!(
                "after {:.3} s: stopped for {:.1} s, which is not counted",
                self.session.elapsed_at(&now).as_secs_f64(),
                pause.as_secs_f64()
            )]);
        }
    }
}

/// Waits for the end of the job.
fn end_of(events: &Receiver<JobEvent>) -> JobEnd {
    let end = events.iter().find_map(|event| match event {
        JobEvent::Ended(end) => Some(end),
        _ => None,
    });
    end.unwrap_or_else(JobEnd::unknown)
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
