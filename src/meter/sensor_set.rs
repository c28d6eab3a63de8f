use std::collections::BTreeMap;
use std::fmt::Display;
use std::time::Duration;

use super::counter_lag::Totals;
use super::metered_sensor::{MeteredSensor, Step};
use super::sensor::accelerator::{Accelerator, Board, BoardReadings, POWER_PERIOD_S};
use super::sensor::tdp::DesignPower;
use super::sensor::{Boards, MachineCpuTime, Processor, Roots, Sensor, Share, Survey};
use crate::model::info::{Balance, GpuCard, SensorNote};
use crate::model::{Component, EnergyClass, MOST_DEVICE_WATTS, Meter, Method, Pseudonyms};

/// No sensor is read more often than this, however small the range of its counter.
const SHORTEST_PERIOD: Duration = Duration::from_millis(20);

/// A board may exceed its power limit this much for a moment.
const OVER_THE_LIMIT: f64 = 1.5;
/// A socket may exceed its design power this much.
const OVER_THE_DESIGN: f64 = 4.0;
/// Design powers in tables may be those of a smaller model, so no socket is held to less than this.
const LEAST_LIMIT_W: f64 = 600.0;

/// The most that a processor socket can draw, in watts.
fn most_of_a_socket(processor: &Processor) -> f64 {
    let sockets = f64::from(processor.sockets.max(1));
    let design = DesignPower::of(processor).watts / sockets;
    (design * OVER_THE_DESIGN).max(LEAST_LIMIT_W)
}

/// The sensors of a machine, to be given to a [`Session`](super::Session).
///
/// ```no_run
/// use impact::meter::{Roots, SensorSet};
///
/// let sensors = SensorSet::discover(&Roots::default());
/// for sensor in sensors.sensors() {
///     println!("{}: {}", sensor.component, sensor.method);
/// }
/// ```
#[derive(Debug)]
#[must_use]
pub struct SensorSet {
    pub(crate) roots: Roots,
    pub(crate) processor: Processor,
    /// Where the machine's CPU time is read.
    pub(crate) machine_cpu_time: Option<MachineCpuTime>,
    sensors: Vec<MeteredSensor>,
    pub(crate) boards: Vec<MeteredBoard>,
    /// Devices that are there and cannot be read.
    absent: Vec<SensorNote>,
    notes: Vec<String>,
    /// Used instead of the ids of boards, where these are not to be logged.
    pseudonyms: Option<Pseudonyms>,
}

/// An accelerator whose description has been read.
pub(crate) struct MeteredBoard {
    pub(crate) board: Board,
    /// It cannot draw more.
    most_watts: f64,
    pub(crate) accelerator: Box<dyn Accelerator>,
}

/// Mean watts over an interval, of the machine and of the run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Power {
    /// Processors and memory.
    pub(crate) processors: Option<(f64, f64)>,
    pub(crate) boards: Option<(f64, f64)>,
}

/// The run's part of an interval, by what is shared.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shares {
    pub(crate) cpu: Share,
    pub(crate) memory: Share,
    pub(crate) boards: BTreeMap<Component, Share>,
}

impl Shares {
    /// Nothing is attributed.
    pub(crate) fn none() -> Self {
        Self {
            cpu: Share::Idle,
            memory: Share::Idle,
            boards: BTreeMap::new(),
        }
    }
}

impl SensorSet {
    /// Finds all sensors of the machine: RAPL, GPU boards, or an estimate from the CPU load.
    ///
    /// Loading the GPU library may take some hundred milliseconds.
    pub fn discover(roots: &Roots) -> Self {
        let mut set = Self::of_processors(roots);
        if Boards::are_likely(roots) {
            set.add_boards(Boards::of(roots), Duration::ZERO);
        }
        set
    }

    /// Finds the sensors of processors and memory only, which is fast.
    pub(crate) fn of_processors(roots: &Roots) -> Self {
        let survey = Survey::of(roots);
        let mut set = Self {
            notes: survey
                .what_is_not_read()
                .into_iter()
                .chain(survey.notes)
                .collect(),
            roots: roots.clone(),
            processor: survey.processor,
            machine_cpu_time: survey.clock,
            sensors: Vec::new(),
            boards: Vec::new(),
            absent: Vec::new(),
            pseudonyms: None,
        };
        for sensor in survey.sensors {
            set.add(sensor);
        }
        set
    }

    /// Adds a sensor of your own.
    pub fn add(&mut self, sensor: Sensor) {
        self.add_at(sensor, Duration::ZERO);
    }

    fn add_at(&mut self, sensor: Sensor, at: Duration) {
        let mut metered = MeteredSensor::new(sensor, at);
        if matches!(metered.component(), Component::Package(_)) {
            metered.odometer.limit(most_of_a_socket(&self.processor));
        }
        self.sensors.push(metered);
        // Which components contain others depends on all that are present.
        let present = self.sensors.iter().map(MeteredSensor::component).collect();
        for metered in &mut self.sensors {
            metered.class = metered.sensor.component.counted_as(&present);
        }
    }

    /// Uses these names, if any, instead of the ids of the boards that are added from here on.
    pub(crate) fn name_boards_by(&mut self, pseudonyms: Option<Pseudonyms>) {
        self.pseudonyms = pseudonyms;
    }

    /// Counts these boards from this time on.
    pub(crate) fn add_boards(&mut self, boards: Boards, at: Duration) {
        if let Some(why) = boards.missing {
            self.notes
                .push(format!("NVIDIA boards cannot be read: {why}"));
            self.add_absent(Component::Gpu("nvidia".to_owned()), "NVML", why.to_string());
        }
        for mut accelerator in boards.found {
            let mut board = accelerator.board();
            if let Some(pseudonyms) = &self.pseudonyms {
                board.uuid = pseudonyms.device(&board.uuid);
            }
            let limit = board.power_limit_w.filter(|watts| *watts > 0.0);
            let most_watts = limit.map_or(MOST_DEVICE_WATTS, |watts| {
                (watts * OVER_THE_LIMIT).min(MOST_DEVICE_WATTS)
            });
            match accelerator.sensor() {
                Ok(sensor) => {
                    let component = board.component();
                    self.add_at(
                        Sensor {
                            component,
                            ..sensor
                        },
                        at,
                    );
                    if let Some(metered) = self.sensors.last_mut() {
                        metered.odometer.limit(most_watts);
                    }
                    // Its first reading may be some time old.
                    if let Some(metered) = self.sensors.last_mut().filter(|_| !at.is_zero()) {
                        metered.read(at, Step::Skip);
                    }
                }
                Err(why) => {
                    let component = board.component();
                    self.notes
                        .push(format!("{component} is not metered: {why}"));
                    self.add_absent(component, &board.name, why.to_string());
                }
            }
            // So that the first share leaves out what other processes did before.
            let _ = accelerator.share(&[]);
            self.boards.push(MeteredBoard {
                board,
                most_watts,
                accelerator,
            });
        }
    }

    fn add_absent(&mut self, component: Component, place: &str, why: String) {
        self.absent.push(SensorNote {
            component,
            source: place.to_owned(),
            method: Method::Absent { why },
        });
    }

    /// The sensors, where they are read and how good their figures are; also those that cannot be read.
    #[must_use]
    pub fn sensors(&self) -> Vec<SensorNote> {
        let read = self.sensors.iter().map(MeteredSensor::note);
        read.chain(self.absent.iter().cloned()).collect()
    }

    /// Whether there is no sensor at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sensors.is_empty()
    }

    /// The boards as the log lists them, and their driver.
    pub(crate) fn gpus(&self) -> (Vec<GpuCard>, Option<String>) {
        let card = |metered: &MeteredBoard| GpuCard {
            uuid: Some(metered.board.uuid.clone()),
            name: metered.board.name.clone(),
            memory_bytes: metered.board.memory_bytes,
            power_limit_w: metered.board.power_limit_w,
        };
        let driver = |metered: &MeteredBoard| metered.board.driver.clone();
        (
            self.boards.iter().map(card).collect(),
            self.boards.iter().find_map(driver),
        )
    }

    /// Reads the sensors.
    pub(crate) fn read(&mut self, at: Duration, step: Step) {
        for metered in &mut self.sensors {
            if let Some(what) = metered.read(at, step) {
                let (seconds, component) = (at.as_secs_f64(), metered.component());
                let note = format!("after {seconds:.3} s: {component}: {what}");
                self.notes.push(note);
            }
        }
    }

    /// Splits the energy since the last call, and gives the new totals.
    pub(crate) fn attribute(&mut self, shares: &Shares) -> BTreeMap<Component, Meter> {
        let split = |metered: &mut MeteredSensor| {
            let component = &metered.sensor.component;
            let share = match component {
                Component::Dram(_) => shares.memory,
                board @ Component::Gpu(_) => *shares.boards.get(board).unwrap_or(&Share::Idle),
                _ => shares.cpu,
            };
            metered.before = metered.ledger;
            metered.ledger.post(metered.odometer.microjoules(), share);
            let is_known = metered.is_known();
            let is_shared = is_known && !matches!(component, Component::Other(_));
            let meter = Meter {
                total_j: is_known.then(|| metered.ledger.total().joules()),
                attributed_j: is_shared.then(|| metered.ledger.attributed().joules()),
                method: metered.method(),
            };
            (component.clone(), meter)
        };
        self.sensors.iter_mut().map(split).collect()
    }

    /// The power in the interval that was attributed last, which took this long.
    pub(crate) fn power(&self, seconds: f64) -> Power {
        let mut power = Power::default();
        let known = self.sensors.iter();
        for metered in known.filter(|metered| metered.is_known()) {
            let sum = match metered.class {
                Some(EnergyClass::Cpu | EnergyClass::Dram) => &mut power.processors,
                Some(EnergyClass::Gpu) => &mut power.boards,
                None => continue,
            };
            let (machine, run) = metered.last_interval();
            let (machine_watts, run_watts) = sum.get_or_insert((0.0, 0.0));
            *machine_watts += machine / seconds;
            *run_watts += run / seconds;
        }
        power
    }

    /// The longest time between two readings that loses no energy.
    pub(crate) fn longest_period(&self) -> Duration {
        let working = || self.sensors.iter().filter(|metered| !metered.is_lost());
        let period = working().map(MeteredSensor::longest_period).min();
        let period = period.map_or(Duration::MAX, |period| period.max(SHORTEST_PERIOD));
        if working().any(MeteredSensor::is_gauge) {
            period.min(Duration::from_secs_f64(POWER_PERIOD_S))
        } else {
            period
        }
    }

    /// The totals of the counters that may be updated every few milliseconds, in the order of sensors.
    pub(crate) fn totals(&self) -> Totals {
        let total = |metered: &MeteredSensor| {
            let is_fast = metered.may_update_fast();
            is_fast.then(|| metered.odometer.microjoules())
        };
        self.sensors.iter().map(total).collect()
    }

    /// The totals that these counters would have if they were read now.
    pub(crate) fn peek(&mut self, at: Duration) -> Totals {
        let total = |metered: &mut MeteredSensor| {
            let is_fast = metered.may_update_fast();
            is_fast.then(|| metered.peek(at)).flatten()
        };
        self.sensors.iter_mut().map(total).collect()
    }

    /// Changes the totals by the corrections for the lag of the counters.
    pub(crate) fn correct(&mut self, microjoules: &[i64]) {
        for (metered, amount) in self.sensors.iter_mut().zip(microjoules) {
            metered.odometer.correct(*amount);
        }
    }

    pub(crate) fn balance(&self) -> BTreeMap<Component, Balance> {
        let sensors = self.sensors.iter();
        sensors
            .filter_map(|metered| Some((metered.component().clone(), metered.balance()?)))
            .collect()
    }

    /// The raw value of each counter, as last read.
    pub(crate) fn counters(&self) -> BTreeMap<Component, u64> {
        let value = |metered: &MeteredSensor| {
            let value = metered.odometer.counter_value()?;
            Some((metered.component().clone(), value))
        };
        self.sensors.iter().filter_map(value).collect()
    }

    /// Adds a note for the log.
    pub(crate) fn note(&mut self, text: String) {
        self.notes.push(text);
    }

    /// Notes once for a component why all of its energy is attributed to the run.
    pub(crate) fn note_whole(&mut self, component: &Component, why: impl Display) {
        for metered in &mut self.sensors {
            if metered.component() == component
                && !std::mem::replace(&mut metered.is_whole_noted, true)
            {
                let note = format!("{component}: {why}, so all of its energy is the run's");
                self.notes.push(note);
            }
        }
    }

    /// The notes since the last call.
    pub(crate) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }
}

impl MeteredBoard {
    /// What the board's driver tells, without a power that it cannot draw.
    pub(crate) fn readings(&self) -> BoardReadings {
        let readings = self.accelerator.readings();
        BoardReadings {
            watts: readings.watts.filter(|watts| *watts <= self.most_watts),
            ..readings
        }
    }
}

impl std::fmt::Debug for MeteredBoard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.board.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::sensor::{PowerSource, ReadError, Reading, Wraps};
    use crate::model::CpuSocket;

    struct Script(Vec<Result<u64, ReadError>>);

    fn counter(microjoules: u64, wraps: Wraps) -> Reading {
        Reading::Counter { microjoules, wraps }
    }

    impl PowerSource for Script {
        fn read(&mut self) -> Result<Reading, ReadError> {
            let next = self.0.remove(0);
            next.map(|microjoules| counter(microjoules, Wraps::After(6_000_000)))
        }
    }

    fn sensors(first: Reading, script: Vec<Result<u64, ReadError>>) -> SensorSet {
        let roots = Roots {
            sysfs: "/nonexistent".into(),
            procfs: "/nonexistent".into(),
            ..Roots::default()
        };
        let mut sensors = SensorSet::of_processors(&roots);
        sensors.take_notes();
        sensors.add(Sensor {
            component: Component::Package(CpuSocket::socket(0)),
            method: Method::Measured,
            place: "a script".to_owned(),
            first,
            source: Box::new(Script(script)),
        });
        sensors
    }

    fn total(sensors: &mut SensorSet) -> f64 {
        let meters = sensors.attribute(&Shares {
            cpu: Share::Of(0.5),
            memory: Share::Idle,
            boards: BTreeMap::new(),
        });
        meters.values().next().unwrap().total_j.unwrap()
    }

    const WRAPS: Wraps = Wraps::After(6_000_000);

    #[test]
    fn a_lost_sensor_keeps_what_it_had_counted_and_is_noted_once() {
        let lost = ReadError::Lost("it fell off the bus".to_owned());
        let mut sensors = sensors(counter(0, WRAPS), vec![Ok(2_000_000), Err(lost)]);
        for second in 1..5 {
            sensors.read(Duration::from_secs(second), Step::Count);
        }
        assert!((total(&mut sensors) - 2.0).abs() < 1e-9);
        let notes = sensors.take_notes();
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].contains("fell off the bus"), "{notes:?}");
    }

    #[test]
    fn a_reading_that_fails_once_costs_no_energy() {
        let again = ReadError::Again("busy".to_owned());
        let mut sensors = sensors(counter(0, WRAPS), vec![Err(again), Ok(3_000_000)]);
        sensors.read(Duration::from_secs(1), Step::Count);
        sensors.read(Duration::from_secs(2), Step::Count);
        assert!((total(&mut sensors) - 3.0).abs() < 1e-9);
    }

    #[test]
    fn a_counter_that_never_moves_has_no_energy_until_it_does() {
        let script = vec![Ok(7), Ok(7), Ok(7), Ok(7), Ok(1_000_007)];
        let mut sensors = sensors(counter(7, WRAPS), script);
        let shares = Shares::none();
        for second in 0..4 {
            sensors.read(Duration::from_secs(second), Step::Count);
        }
        let meters = sensors.attribute(&shares);
        let meter = meters.values().next().unwrap();
        assert!(matches!(meter.method, Method::Absent { .. }), "{meter:?}");
        assert_eq!((meter.total_j, meter.attributed_j), (None, None));
        assert!(sensors.balance().is_empty());
        sensors.read(Duration::from_secs(5), Step::Count);
        assert!((total(&mut sensors) - 1.0).abs() < 1e-9);
        assert_eq!(sensors.balance().len(), 1);
    }

    #[test]
    fn a_skipped_pause_adds_no_energy() {
        let mut sensors = sensors(
            counter(1_000_000, WRAPS),
            vec![Ok(5_000_000), Ok(5_500_000)],
        );
        sensors.read(Duration::from_secs(900), Step::Skip);
        sensors.read(Duration::from_secs(901), Step::Count);
        assert!((total(&mut sensors) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn a_small_range_is_read_twice_before_it_can_wrap() {
        let period = |wraps| sensors(counter(0, wraps), Vec::new()).longest_period();
        assert_eq!(period(WRAPS), SHORTEST_PERIOD);
        assert_eq!(period(Wraps::After(262_143_328_850)).as_secs(), 131);
        assert_eq!(period(Wraps::Unstated).as_secs(), 1);
        assert_eq!(period(Wraps::Never), Duration::MAX);
    }
}
