use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use super::board_process::BoardProcess;
use super::child::{Child, Ending};
use super::job::Job;
use super::open_files::OpenFileLimit;
use super::run_cgroup::RunCgroup;
use super::signals::Signals;
use super::spawn::Launch;
use super::tracker::{StartError, unstartable};
use crate::meter::sensor::Boards;
use crate::meter::sensor::board_error::DriverError;
use crate::meter::{
    Clock as _, ClockReading, Measurement, Roots, Scope, SensorSet, Session, SystemClock,
};
use crate::model::Component;

/// How long the driver of GPU boards may take to list them.
const BOARDS_PATIENCE: Duration = Duration::from_secs(5);
/// The attribution is done this often, as by the tracker.
const SAMPLE_PERIOD: Duration = Duration::from_secs(1);
/// A command that goes on so long after a signal that asks it to end is killed.
const END_PATIENCE: Duration = Duration::from_secs(5);
/// How long the updates of counters are observed, and how often they are read meanwhile.
const OBSERVED: Duration = Duration::from_millis(300);
const OBSERVED_EVERY: Duration = Duration::from_millis(2);
/// The power of the idle machine is compared between times of this length.
const WINDOW: Duration = Duration::from_millis(100);

/// Runs commands one after the other and measures them, without logs.
///
/// Signals that arrive are forwarded to the running command. Threads that already run must block their signals.
#[derive(Debug)]
pub struct CommandMeter {
    roots: Roots,
    options: RunOptions,
    files: OpenFileLimit,
    /// None only while a command runs.
    signals: Option<Signals>,
}

/// How commands are run.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunOptions {
    /// Their output is that of this process; otherwise it is discarded. They have no input.
    pub shows_output: bool,
    /// Each is put into a control group of its own where that is allowed.
    pub own_group: bool,
}

/// A command that ran several times in one measurement.
#[derive(Debug)]
#[non_exhaustive]
pub struct CommandRuns {
    /// From the start of the first run to the end of the last.
    pub measurement: Measurement,
    /// How each run ended.
    pub endings: Vec<Ending>,
    /// Whether it was stopped meanwhile, as by Ctrl-Z, so that the measurement is of no use.
    pub was_stopped: bool,
}

/// The machine while no command runs.
#[derive(Debug)]
#[non_exhaustive]
pub struct IdleMachine {
    /// Of the whole machine.
    pub measurement: Measurement,
    /// Mean power in watts over each tenth of a second.
    pub windows: Vec<f64>,
}

/// Why a command was not measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeterError {
    /// It could not be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A signal asked to end, as by Ctrl-C; the command has ended.
    #[error("signal {0} arrived")]
    Interrupted(u8),
}

/// What is read while a command runs.
struct Watched<'s> {
    session: &'s mut Session,
    next_sample: &'s mut Duration,
}

/// How a run ended.
struct RunEnd {
    ending: Ending,
    at: ClockReading,
    was_stopped: bool,
}

impl CommandMeter {
    /// Prepares to receive signals.
    ///
    /// # Errors
    ///
    /// If signals cannot be received, or too few files may be open.
    pub fn new(roots: Roots, options: RunOptions) -> Result<Self, StartError> {
        Ok(Self {
            roots,
            options,
            files: OpenFileLimit::raise().map_err(StartError::TooFewFiles)?,
            signals: Some(Signals::hold().map_err(StartError::Signals)?),
        })
    }

    /// Runs a command without measuring it.
    ///
    /// # Errors
    ///
    /// If it cannot be started, or a signal asks to end.
    pub fn run(&mut self, words: &[OsString]) -> Result<Ending, MeterError> {
        let launch = self.launch(words)?;
        let (child, _) = self.start(launch, words, None)?;
        Ok(self.wait(child, None)?.ending)
    }

    /// Runs a command so many times, one after the other, in one measurement.
    ///
    /// # Errors
    ///
    /// If it cannot be started, or a signal asks to end.
    pub fn measure(&mut self, words: &[OsString], runs: u32) -> Result<CommandRuns, MeterError> {
        let (sensors, _boards) = self.sensors();
        let cgroup = self
            .options
            .own_group
            .then(|| RunCgroup::make(&self.roots))
            .flatten();
        let scope = Scope::Children {
            cgroup: cgroup.as_ref().map(|cgroup| cgroup.folder().to_owned()),
        };
        let mut session =
            Session::prepare(sensors, &scope, SystemClock).map_err(StartError::Scope)?;
        let mut first = Some(self.launch(words)?);
        let mut next_sample = SAMPLE_PERIOD;
        let mut endings = Vec::new();
        let mut was_stopped = false;
        session.begin();
        let mut end = session.now();
        for run in 0..runs.max(1) {
            let launch = match first.take() {
                Some(launch) => launch,
                None => self.launch(words)?,
            };
            let (child, started) = self.start(launch, words, cgroup.as_ref())?;
            if !started.is_in_group {
                session.drop_cgroup();
            }
            let pid = child.pid().as_raw_pid() as u32;
            if run == 0 {
                session.follow(pid, started.began);
            } else {
                session.follow_next(pid);
            }
            let watched = Watched {
                session: &mut session,
                next_sample: &mut next_sample,
            };
            let run = self.wait(child, Some(watched))?;
            endings.push(run.ending);
            was_stopped |= run.was_stopped;
            end = run.at;
        }
        Ok(CommandRuns {
            measurement: session.stop_at(&end),
            endings,
            was_stopped,
        })
    }

    /// Measures the machine while no command runs.
    ///
    /// # Errors
    ///
    /// If a signal asks to end.
    pub fn idle(&mut self, duration: Duration) -> Result<IdleMachine, MeterError> {
        let (sensors, _boards) = self.sensors();
        let mut session =
            Session::start(sensors, &Scope::Machine, SystemClock).map_err(StartError::Scope)?;
        let mut totals = Vec::new();
        while session.elapsed() < duration {
            let end = (session.elapsed() + WINDOW).min(duration);
            while session.elapsed() < end {
                let next = session.next_read().min(end);
                self.pause(next.saturating_sub(session.elapsed()))?;
                if session.elapsed() >= session.next_read() {
                    session.read();
                }
            }
            let sample = session.sample();
            totals.push((sample.elapsed, total_joules(sample.energy)));
        }
        let measurement = session.stop();
        let counted = totals.iter().map(|(elapsed, totals)| {
            let joules = totals
                .iter()
                .filter(|(component, _)| measurement.counted_as(component).is_some())
                .map(|(_, joules)| joules);
            (*elapsed, joules.sum::<f64>())
        });
        let counted: Vec<(f64, f64)> = counted.collect();
        let windows = counted.windows(2).filter(|pair| pair[1].0 > pair[0].0);
        let watts = |pair: &[(f64, f64)]| (pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0);
        Ok(IdleMachine {
            windows: windows.map(watts).collect(),
            measurement,
        })
    }

    /// The time between two updates of each counter, as far as it was seen to move.
    ///
    /// # Errors
    ///
    /// If a signal asks to end.
    pub fn counter_updates(&mut self) -> Result<BTreeMap<Component, Duration>, MeterError> {
        let (sensors, _boards) = self.sensors();
        let mut session =
            Session::start(sensors, &Scope::Machine, SystemClock).map_err(StartError::Scope)?;
        let mut updates: BTreeMap<Component, Updates> = BTreeMap::new();
        while session.elapsed() < OBSERVED {
            self.pause(OBSERVED_EVERY)?;
            let sample = session.sample();
            for (component, total) in total_joules(sample.energy) {
                let seen = updates.entry(component).or_default();
                seen.see(sample.elapsed, total);
            }
        }
        let period = |(component, seen): (Component, Updates)| Some((component, seen.period()?));
        Ok(updates.into_iter().filter_map(period).collect())
    }

    /// The sensors of the machine; the boards are read as long as the second value lives.
    fn sensors(&self) -> (SensorSet, Option<BoardReader>) {
        // A fork: before files are opened that it would keep.
        let process = BoardProcess::start(&self.roots).ok().flatten();
        let mut sensors = SensorSet::of_processors(&self.roots);
        let Some(process) = process else {
            return (sensors, None);
        };
        let boards = process.boards(BOARDS_PATIENCE).unwrap_or_else(|| Boards {
            missing: Some(DriverError::NoAnswer {
                seconds: BOARDS_PATIENCE.as_secs(),
            }),
            ..Boards::default()
        });
        sensors.add_boards(boards, Duration::ZERO);
        (sensors, Some(BoardReader(process.pid())))
    }

    fn launch(&self, words: &[OsString]) -> Result<Launch, StartError> {
        let launch = Launch::new(words, &self.roots.environment, &[]).and_then(|mut launch| {
            launch.detach_streams(!self.options.shows_output)?;
            Ok(launch)
        });
        launch.map_err(|source| unstartable(words, source))
    }

    fn start(
        &self,
        launch: Launch,
        words: &[OsString],
        cgroup: Option<&RunCgroup>,
    ) -> Result<(Child, Began), StartError> {
        let inherited = &self.held().inherited;
        let (child, started) = Child::start(launch, inherited, &self.files, cgroup)
            .map_err(|source| unstartable(words, source))?;
        let began = Began {
            began: SystemClock.now().back_at(started.began),
            is_in_group: started.is_in_group,
        };
        Ok((child, began))
    }

    fn held(&self) -> &Signals {
        self.signals.as_ref().expect("no command runs")
    }

    /// Waits for the end of a command, and reads the sensors meanwhile.
    fn wait(&mut self, child: Child, mut watched: Option<Watched>) -> Result<RunEnd, MeterError> {
        let signals = self.signals.take().expect("no other command runs");
        let mut job = Job::new(child, signals, None);
        let mut interrupted: Option<(u8, Instant)> = None;
        let mut was_stopped = false;
        let end = loop {
            let mut timeout = watched.as_ref().map(Watched::next);
            if let Some((_, since)) = interrupted {
                let left = END_PATIENCE.saturating_sub(since.elapsed());
                timeout = Some(timeout.unwrap_or(left).min(left));
                if left.is_zero() {
                    let _ = kill_process(job.child.pid(), Signal::KILL);
                    timeout = Some(END_PATIENCE);
                }
            }
            job.wait(timeout);
            let now = SystemClock.now();
            let events = job.events(now);
            if let (Some(signal), None) = (events.end_signal, interrupted) {
                interrupted = Some((signal, Instant::now()));
            }
            if let Some(watched) = &mut watched {
                for child in events.reaped {
                    let session = &mut *watched.session;
                    session.child_ended(child.pid, child.time, child.max_resident_bytes);
                }
            }
            if let Some(ending) = events.ending {
                break RunEnd {
                    ending,
                    at: now,
                    was_stopped,
                };
            }
            if events.must_stop {
                job.stop_along();
                was_stopped = true;
                if let Some(watched) = &mut watched {
                    watched.session.skip();
                }
            } else if let Some(watched) = &mut watched {
                watched.read(&now);
            }
        };
        self.signals = Some(job.into_signals());
        match interrupted {
            Some((signal, _)) => Err(MeterError::Interrupted(signal)),
            None => Ok(end),
        }
    }

    /// Waits while no command runs.
    fn pause(&self, duration: Duration) -> Result<(), MeterError> {
        let signals = self.held();
        let end = Instant::now() + duration;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let left = Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: i64::from(left.subsec_nanos()),
            };
            let mut sources = [PollFd::new(signals, PollFlags::IN)];
            let _ = poll(&mut sources, Some(&left));
            while let Some(arrival) = signals.next() {
                if signals.is_end(arrival) {
                    let signal = u8::try_from(arrival.signal).unwrap_or_default();
                    return Err(MeterError::Interrupted(signal));
                }
                if arrival.is_stop() && !signals.is_ignored(arrival) {
                    let _ = kill_process(rustix::process::getpid(), Signal::STOP);
                }
            }
            if Instant::now() >= end {
                return Ok(());
            }
        }
    }
}

/// When a command began, and whether it is in its control group.
struct Began {
    began: ClockReading,
    is_in_group: bool,
}

impl Watched<'_> {
    /// The time until the sensors must be read again.
    fn next(&self) -> Duration {
        let mut next = self.session.next_read();
        if !self.session.is_settling() {
            next = next.min(*self.next_sample);
        }
        next.saturating_sub(self.session.elapsed())
    }

    fn read(&mut self, now: &ClockReading) {
        let at = self.session.elapsed_at(now);
        if at >= *self.next_sample && !self.session.is_settling() {
            let _ = self.session.sample_at(now, Vec::new());
            *self.next_sample = at + SAMPLE_PERIOD;
        } else if at >= self.session.next_read() {
            self.session.read_at(now);
        }
    }
}

/// The process that reads the boards; it is ended and waited for, so that it is no ended child of the next run.
struct BoardReader(u32);

impl Drop for BoardReader {
    fn drop(&mut self) {
        let Some(pid) = i32::try_from(self.0).ok().and_then(Pid::from_raw) else {
            return;
        };
        let _ = kill_process(pid, Signal::KILL);
        // A driver that hangs in the kernel can keep its process for as long as it likes.
        for _ in 0..1000 {
            if !matches!(waitpid(Some(pid), WaitOptions::NOHANG), Ok(None)) {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// The changes of a total.
#[derive(Debug, Default)]
struct Updates {
    total: Option<f64>,
    first: Option<f64>,
    last: f64,
    count: u32,
}

impl Updates {
    fn see(&mut self, at: f64, total: f64) {
        if self.total.is_some_and(|before| total > before) {
            self.first.get_or_insert(at);
            self.last = at;
            self.count += 1;
        }
        self.total = Some(total);
    }

    /// The mean time between two changes; none if there were not two.
    fn period(&self) -> Option<Duration> {
        let between = self.count.checked_sub(1).filter(|between| *between > 0)?;
        let seconds = (self.last - self.first?) / f64::from(between);
        Duration::try_from_secs_f64(seconds).ok()
    }
}

fn total_joules(energy: BTreeMap<Component, crate::model::Meter>) -> BTreeMap<Component, f64> {
    let total =
        |(component, meter): (Component, crate::model::Meter)| Some((component, meter.total_j?));
    energy.into_iter().filter_map(total).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_period_of_a_counter_is_the_mean_time_between_its_changes() {
        let mut updates = Updates::default();
        for step in 0..31_u32 {
            // Read every 2 ms, changed every 5 ms.
            updates.see(f64::from(step) * 0.002, f64::from(step * 2 / 5));
        }
        let period = updates.period().unwrap().as_secs_f64();
        assert!((period - 0.005).abs() < 0.0005, "{period}");
    }

    #[test]
    fn a_counter_that_moved_once_has_no_period() {
        let mut updates = Updates::default();
        for total in [1.0, 1.0, 2.0, 2.0] {
            updates.see(total, total);
        }
        assert_eq!(updates.period(), None);
    }
}
