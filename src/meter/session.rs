use std::time::Duration;

use super::clock::{Clock, ClockReading};
use super::counter_lag::{CounterLag, POLL_PERIOD, TimedTotals, Totals};
use super::measurement::Measurement;
use super::metered_sensor::Step;
use super::recent_totals::RecentTotals;
use super::sampler::{Observation, Sampler};
use super::scope::{Scope, ScopeError};
use super::sensor::{Boards, CpuTimes};
use super::sensor_set::{SensorSet, Shares};
use crate::model::{Mark, SCHEMA, Sample};

/// Processes that this process does not wait for are read this often; what they do later is lost at their end.
pub(crate) const PERIOD_OF_OTHERS: Duration = Duration::from_millis(250);
/// Shorter differences between the clocks are not a suspend.
const SHORTEST_SUSPEND: Duration = Duration::from_millis(500);

/// Measures the energy of a [`Scope`] from [`start`](Self::start) to [`stop`](Self::stop).
///
/// A session starts no process or thread, handles no signal and writes no file. It may be moved to
/// another thread.
///
/// Between start and stop, call [`sample`](Self::sample) for a time series and [`read`](Self::read)
/// no later than [`next_read`](Self::next_read) says. Without that, start and stop are exact for
/// energy counters that do not wrap twice, but power sensors (GPUs without an energy counter) are
/// read only twice.
///
/// ```no_run
/// use impact::meter::{Roots, Scope, SensorSet, Session, SystemClock};
///
/// let sensors = SensorSet::discover(&Roots::default());
/// let session = Session::start(sensors, &Scope::Machine, SystemClock)?;
/// let sum: f64 = (1..10_000_000).map(f64::from).map(f64::sqrt).sum();
/// let measurement = session.stop();
/// if let Some(energy) = measurement.energy() {
///     println!("{sum}: {} J", energy.joules());
/// }
/// # Ok::<(), impact::meter::ScopeError>(())
/// ```
#[derive(Debug)]
#[must_use]
pub struct Session {
    clock: Box<dyn Clock>,
    sensors: SensorSet,
    sampler: Sampler,
    started: ClockReading,
    last_read: ClockReading,
    /// When the sensors must be read again, in time since the start.
    next_read: Duration,
    start_lag: CounterLag,
    is_start_corrected: bool,
    recent_totals: RecentTotals,
}

impl Session {
    /// Reads all sensors and starts to count.
    ///
    /// # Errors
    ///
    /// If there is no such process or control group. Missing sensors are not an error; they are
    /// noted in the result.
    pub fn start(
        sensors: SensorSet,
        scope: &Scope,
        clock: impl Clock + 'static,
    ) -> Result<Self, ScopeError> {
        let mut session = Self::prepare(sensors, scope, clock)?;
        session.begin();
        Ok(session)
    }

    /// Opens all files, but does not count yet.
    pub(crate) fn prepare(
        mut sensors: SensorSet,
        scope: &Scope,
        clock: impl Clock + 'static,
    ) -> Result<Self, ScopeError> {
        let sampler = Sampler::new(scope, &mut sensors)?;
        let now = clock.now();
        Ok(Self {
            clock: Box::new(clock),
            sampler,
            started: now,
            last_read: now,
            next_read: Duration::ZERO,
            start_lag: CounterLag::default(),
            is_start_corrected: false,
            recent_totals: RecentTotals::default(),
            sensors,
        })
    }

    /// The sample at time 0, before anything was counted.
    pub(crate) fn first_sample(&mut self) -> Sample {
        Sample {
            schema: SCHEMA,
            timestamp: self.now().wall,
            energy: self.sensors.attribute(&Shares::none()),
            ..Sample::default()
        }
    }

    /// Reads all sensors: energy is counted from here on.
    pub(crate) fn begin(&mut self) {
        self.started = self.now();
        self.last_read = self.started;
        self.sensors.read(Duration::ZERO, Step::Skip);
        self.sampler.begin();
        self.watch_start_lag(&self.sensors.totals(), Duration::ZERO);
    }

    /// The run has just started as this process: its time starts here, its energy at `begin`.
    pub(crate) fn follow(&mut self, pid: u32, began: ClockReading) {
        self.started = began;
        self.sampler.follow(pid);
        let at = self.elapsed();
        let before = self.sensors.totals();
        self.sensors.read(at, Step::CountFast);
        self.watch_start_lag(&before, at);
    }

    /// The next command of the run has just started as this process.
    pub(crate) fn follow_next(&mut self, pid: u32) {
        self.sampler.follow_next(pid);
    }

    fn watch_start_lag(&mut self, before: &Totals, at: Duration) {
        let totals = self.timed(at, self.sensors.totals());
        self.start_lag = CounterLag::at(Duration::ZERO, before, &totals);
        self.set_next_read(at);
    }

    /// The control group turned out to be empty: the processes are counted one by one.
    pub(crate) fn drop_cgroup(&mut self) {
        self.sampler.usage.drop_cgroup();
    }

    /// Time since the start.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.elapsed_at(&self.now())
    }

    pub(crate) fn elapsed_at(&self, now: &ClockReading) -> Duration {
        now.monotonic.saturating_sub(self.started.monotonic)
    }

    pub(crate) fn now(&self) -> ClockReading {
        self.clock.now()
    }

    /// Total memory of the machine, in bytes.
    pub(crate) fn memory_bytes(&self) -> Option<u64> {
        self.sampler.memory_bytes()
    }

    /// The time since the start at which [`read`](Self::read) should be called next.
    ///
    /// In the first milliseconds this is very often: the session finds out how late the counters are.
    #[must_use]
    pub fn next_read(&self) -> Duration {
        self.next_read
    }

    fn set_next_read(&mut self, at: Duration) {
        let period = if self.is_settling() {
            POLL_PERIOD
        } else {
            self.longest_period()
        };
        self.next_read = at.saturating_add(period);
    }

    /// The longest time between two readings that loses nothing.
    pub(crate) fn longest_period(&self) -> Duration {
        let period = self.sensors.longest_period();
        if self.sampler.usage.is_not_waited_for() {
            period.min(PERIOD_OF_OTHERS)
        } else {
            period
        }
    }

    /// Whether the lag of the counters at the start is still being observed.
    pub(crate) fn is_settling(&self) -> bool {
        !self.is_start_corrected
    }

    /// Reads the sensors, so that nothing is lost until the next sample.
    pub fn read(&mut self) {
        self.read_at(&self.now());
    }

    pub(crate) fn read_at(&mut self, now: &ClockReading) {
        self.skip_suspend(now);
        let at = self.elapsed_at(now);
        if self.is_settling() {
            self.sensors.read(at, Step::CountFast);
            let totals = self.timed(at, self.sensors.totals());
            self.start_lag.observe(&totals);
            if self.start_lag.is_settled() {
                self.correct_start();
            }
        } else {
            self.sensors.read(at, Step::Count);
            self.sampler.usage.read_not_waited_for();
        }
        self.set_next_read(at);
    }

    /// Reads the sensors and gives the energy since the start.
    pub fn sample(&mut self) -> Sample {
        self.sample_at(&self.now(), Vec::new())
    }

    /// The same, marked as the boundary of a phase.
    pub fn mark(&mut self, mark: Mark) -> Sample {
        self.sample_at(&self.now(), vec![mark])
    }

    pub(crate) fn sample_at(&mut self, now: &ClockReading, marks: Vec<Mark>) -> Sample {
        self.skip_suspend(now);
        let at = self.elapsed_at(now);
        self.sensors.read(at, Step::Count);
        self.recent_totals.push(at, self.sensors.totals());
        self.set_next_read(at);
        let (mark, marks) = match <[Mark; 1]>::try_from(marks) {
            Ok([mark]) if mark.is_boundary_of_sample() => (Some(mark), Vec::new()),
            Ok([mark]) => (None, vec![mark]),
            Err(marks) => (None, marks),
        };
        Sample {
            mark,
            marks,
            ..self.attribute(now, at)
        }
    }

    fn attribute(&mut self, now: &ClockReading, at: Duration) -> Sample {
        let Observation {
            shares,
            mut observed,
            seconds,
        } = self.sampler.observe(at, &mut self.sensors);
        let energy = self.sensors.attribute(&shares);
        if seconds > 0.0 {
            let power = self.sensors.power(seconds);
            let (processors, boards) = (power.processors.unzip(), power.boards.unzip());
            observed.rapl_power_draw_absolute = processors.0;
            observed.rapl_estimated_attributable_power_draw = processors.1;
            observed.nvidia_draw_absolute = boards.0;
            observed.nvidia_estimated_attributable_power_draw = boards.1;
        }
        Sample {
            schema: SCHEMA,
            timestamp: now.wall,
            elapsed: at.as_secs_f64(),
            energy,
            observed,
            ..Sample::default()
        }
    }

    /// Reports a child that has ended and was waited for, with its resources from `wait4`.
    ///
    /// Only for [`Scope::Children`].
    pub fn child_ended(&mut self, pid: u32, time: CpuTimes, max_resident_bytes: u64) {
        self.sampler
            .usage
            .child_ended(pid, time, max_resident_bytes);
    }

    /// Counts these boards from now on.
    pub(crate) fn add_boards(&mut self, boards: Boards) {
        let at = self.elapsed();
        if !boards.found.is_empty() {
            let seconds = at.as_secs_f64();
            let note = format!("accelerators are counted from {seconds:.3} s on");
            self.sensors.note(note);
        }
        self.sensors.add_boards(boards, at);
    }

    /// Reads the sensors, and counts no energy for the time since they were last read.
    pub fn skip(&mut self) {
        let at = self.elapsed();
        self.sensors.read(at, Step::Skip);
    }

    /// Counters may have any value after a suspend, so nothing is counted for that time.
    fn skip_suspend(&mut self, now: &ClockReading) {
        let suspended = now.suspended_since(&self.last_read);
        self.last_read = *now;
        if suspended > SHORTEST_SUSPEND {
            let at = self.elapsed_at(now);
            self.sensors.read(at, Step::Skip);
            self.sensors.note(format!(
                "after {:.3} s: the machine slept for {:.0} s, which is not counted",
                at.as_secs_f64(),
                suspended.as_secs_f64()
            ));
        }
    }

    /// The notes since the last call; those left are part of the result.
    pub fn take_notes(&mut self) -> Vec<String> {
        self.sensors.take_notes()
    }

    /// Reads all sensors for the last time.
    ///
    /// This takes up to 8 ms where counters are updated in steps: it waits for the next update.
    pub fn stop(self) -> Measurement {
        let now = self.now();
        self.stop_at(&now)
    }

    pub(crate) fn stop_at(mut self, end: &ClockReading) -> Measurement {
        self.skip_suspend(end);
        let at = self.elapsed_at(end);
        if self.is_settling() {
            self.correct_start();
        }
        let before = self.sensors.totals();
        self.sensors.read(at, Step::Count);
        let totals = self.timed(at, self.sensors.totals());
        self.correct_end(&before, &totals);
        let last = self.attribute(end, at);
        let (gpus, gpu_driver) = self.sensors.gpus();
        Measurement {
            duration: at,
            sensors: self.sensors.sensors(),
            balance: self.sensors.balance(),
            notes: self.sensors.take_notes(),
            last,
            gpus,
            gpu_driver,
        }
    }

    /// Removes the energy from before the start that counters showed only after it.
    fn correct_start(&mut self) {
        let correction = self.start_lag.correction_at_start();
        self.sensors.correct(&correction);
        self.is_start_corrected = true;
    }

    /// Waits for the next update of counters with many updates, and adds the energy they were late by.
    fn correct_end(&mut self, before: &Totals, totals: &TimedTotals) {
        // A slow reading may have seen an update from after the end.
        let before = if totals.is_sharp() {
            &totals.totals
        } else {
            before
        };
        let mut lag = CounterLag::at(totals.began, before, totals);
        while !lag.is_over(&self.start_lag) {
            self.clock.sleep(POLL_PERIOD);
            let at = self.elapsed();
            let totals = self.sensors.peek(at);
            lag.observe(&self.timed(at, totals));
        }
        let correction = lag.correction_at_end(&self.start_lag, &self.recent_totals);
        self.sensors.correct(&correction);
    }

    /// Totals that were read between this time and now.
    fn timed(&self, began: Duration, totals: Totals) -> TimedTotals {
        TimedTotals {
            began,
            done: self.elapsed(),
            totals,
        }
    }
}
