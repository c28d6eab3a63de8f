use std::collections::BTreeMap;
use std::time::Duration;

use super::counter_lag::Totals;
use super::sensor::{Anomaly, Ledger, Odometer, ReadError, Reading, Sensor, Share, Wraps};
use crate::model::info::{Balance, SensorNote};
use crate::model::{Component, EnergyClass, Meter, Method};
use crate::units::Energy;

/// The power a counter is taken to run at when it is decided how often it must be read.
const ASSUMED_WATTS: u64 = 1_000;
/// A counter of unknown range is read so often that its power, and with it a wrap, is known well.
const GAP_OF_UNSTATED: Duration = Duration::from_secs(1);
/// No counter is read more often than this, however small its range.
const SHORTEST_GAP: Duration = Duration::from_millis(20);

/// All sensors of a run with what they have counted, and whose it is.
#[derive(Debug, Default)]
pub(crate) struct SensorSet {
    sensors: Vec<MeteredSensor>,
    notes: Vec<String>,
}

#[derive(Debug)]
struct MeteredSensor {
    sensor: Sensor,
    /// What it is added to; none where another sensor contains it.
    group: Option<EnergyClass>,
    odometer: Odometer,
    ledger: Ledger,
    /// The ledger before what was last posted.
    before: Ledger,
    wraps: Wraps,
    state: State,
    /// All it draws is taken for the run's, and that has been said.
    is_whole: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Well,
    /// The last reading failed; said once, until it works again.
    Failing,
    /// Not read any more.
    Out,
}

/// Mean watts over an interval, of the machine and of the run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Power {
    /// With their memory.
    pub(crate) processors: Option<(f64, f64)>,
    pub(crate) boards: Option<(f64, f64)>,
}

/// The run's part of the last interval, by what is shared.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shares {
    pub(crate) cpu: Share,
    pub(crate) memory: Share,
    pub(crate) boards: BTreeMap<Component, Share>,
}

impl SensorSet {
    /// Takes the first reading of a sensor: from here on it counts.
    pub(crate) fn add(&mut self, mut sensor: Sensor, at: Duration) {
        match sensor.source.read() {
            Ok(reading) => {
                self.sensors.push(MeteredSensor {
                    group: None,
                    odometer: Odometer::starting(&reading, at),
                    ledger: Ledger::default(),
                    before: Ledger::default(),
                    wraps: wraps(&reading, None),
                    state: State::Well,
                    is_whole: false,
                    sensor,
                });
                self.regroup();
            }
            Err(error) => self
                .notes
                .push(format!("{} was not read: {error}", sensor.component)),
        }
    }

    /// What contains what depends on which sensors there are.
    fn regroup(&mut self) {
        let components = self.sensors.iter().map(|metered| &metered.sensor.component);
        let present = components.collect();
        let groups: Vec<_> = self
            .sensors
            .iter()
            .map(|metered| metered.sensor.component.counted_as(&present))
            .collect();
        for (metered, group) in self.sensors.iter_mut().zip(groups) {
            metered.group = group;
        }
    }

    /// Reads all sensors.
    pub(crate) fn read(&mut self, at: Duration) {
        self.advance(at, |_| true);
    }

    /// Reads the counters that are updated all the time.
    pub(crate) fn read_lively(&mut self, at: Duration) {
        self.advance(at, MeteredSensor::may_be_lively);
    }

    fn advance(&mut self, at: Duration, which: impl Fn(&MeteredSensor) -> bool) {
        self.each(at, which, |metered, reading| {
            let anomaly = metered.odometer.advance(reading, at);
            Some(match anomaly? {
                Anomaly::SetBack => "its counter was set back; the energy just before is lost",
                Anomaly::Jump => {
                    "its counter jumped ahead further than any power explains; that is not counted"
                }
                Anomaly::GuessedRange => {
                    "its counter wrapped at a range the kernel does not state, so the step was \
                     inferred from the power before"
                }
            })
        });
    }

    /// Reads all sensors, and counts nothing for the time since they were last read.
    pub(crate) fn resume(&mut self, at: Duration) {
        self.each(
            at,
            |_| true,
            |metered, reading| {
                metered.odometer.resume(reading, at);
                None
            },
        );
    }

    fn each(
        &mut self,
        at: Duration,
        which: impl Fn(&MeteredSensor) -> bool,
        step: impl Fn(&mut MeteredSensor, &Reading) -> Option<&'static str>,
    ) {
        let seconds = at.as_secs_f64();
        for metered in self
            .sensors
            .iter_mut()
            .filter(|metered| metered.state != State::Out && which(metered))
        {
            let said = match metered.sensor.source.read() {
                Ok(reading) => {
                    metered.state = State::Well;
                    metered.wraps = wraps(&reading, metered.odometer.learned_range());
                    step(metered, &reading).map(str::to_owned)
                }
                Err(ReadError::Again(_)) if metered.state == State::Failing => None,
                Err(ReadError::Again(why)) => {
                    metered.state = State::Failing;
                    Some(format!("could not be read: {why}"))
                }
                Err(ReadError::Lost(why)) => {
                    metered.state = State::Out;
                    Some(format!("was lost: {why}; its energy is counted up to here"))
                }
            };
            if let Some(said) = said {
                let component = &metered.sensor.component;
                self.notes
                    .push(format!("after {seconds:.3} s: {component}: {said}"));
            }
        }
    }

    /// Splits what was drawn since the last call.
    pub(crate) fn post(&mut self, shares: &Shares) {
        for metered in &mut self.sensors {
            let share = match &metered.sensor.component {
                Component::Dram(_) => shares.memory,
                board @ Component::Gpu(_) => *shares.boards.get(board).unwrap_or(&Share::Idle),
                _ => shares.cpu,
            };
            metered.before = metered.ledger;
            metered.ledger.post(metered.odometer.microjoules(), share);
        }
    }

    /// The power of what was last posted, which took this long.
    pub(crate) fn power(&self, seconds: f64) -> Power {
        let mut power = Power::default();
        for metered in &self.sensors {
            let sum = match metered.group {
                Some(EnergyClass::Cpu | EnergyClass::Dram) => &mut power.processors,
                Some(EnergyClass::Gpu) => &mut power.boards,
                None => continue,
            };
            let watts = |now: Energy, before: Energy| (now.joules() - before.joules()) / seconds;
            let (total, ours) = sum.get_or_insert((0.0, 0.0));
            *total += watts(metered.ledger.total(), metered.before.total());
            *ours += watts(metered.ledger.attributed(), metered.before.attributed());
        }
        power
    }

    /// How often the counters must be read so that none can pass its range unseen.
    pub(crate) fn longest_gap(&self) -> Duration {
        self.sensors
            .iter()
            .filter(|metered| metered.state != State::Out)
            .map(|metered| match metered.wraps {
                Wraps::Never => Duration::MAX,
                Wraps::After(range) => Duration::from_micros(range / ASSUMED_WATTS / 2),
                Wraps::Unstated => GAP_OF_UNSTATED,
            })
            .min()
            .map_or(Duration::MAX, |gap| gap.max(SHORTEST_GAP))
    }

    /// Whether some sensor shows power and not energy, so that it must be read often.
    pub(crate) fn has_gauges(&self) -> bool {
        self.sensors.iter().any(|metered| {
            metered.state != State::Out && metered.odometer.counter_value().is_none()
        })
    }

    /// What the counters that are updated all the time have counted, in the order of the metered.
    pub(crate) fn totals(&self) -> Totals {
        let total = |metered: &MeteredSensor| {
            metered
                .may_be_lively()
                .then(|| metered.odometer.microjoules())
        };
        self.sensors.iter().map(total).collect()
    }

    /// What they would have counted if they were read now.
    pub(crate) fn peek(&mut self, at: Duration) -> Totals {
        let total = |metered: &mut MeteredSensor| {
            if !metered.may_be_lively() {
                return None;
            }
            let reading = metered.sensor.source.read().ok()?;
            let mut odometer = metered.odometer.clone();
            odometer.advance(&reading, at);
            Some(odometer.microjoules())
        };
        self.sensors.iter_mut().map(total).collect()
    }

    /// Moves the totals by what the counters' lag put into them or kept out.
    pub(crate) fn correct(&mut self, microjoules: &[i64]) {
        for (metered, amount) in self.sensors.iter_mut().zip(microjoules) {
            metered.odometer.correct(*amount);
        }
    }

    pub(crate) fn meters(&self) -> BTreeMap<Component, Meter> {
        self.sensors
            .iter()
            .map(|metered| {
                let known = !matches!(metered.sensor.component, Component::Other(_));
                let meter = Meter {
                    total_j: Some(metered.ledger.total().joules()),
                    attributed_j: known.then(|| metered.ledger.attributed().joules()),
                    method: metered.sensor.method.clone(),
                };
                (metered.sensor.component.clone(), meter)
            })
            .collect()
    }

    pub(crate) fn sensors(&self) -> Vec<SensorNote> {
        self.sensors
            .iter()
            .map(|metered| SensorNote {
                component: metered.sensor.component.clone(),
                source: metered.sensor.place.clone(),
                method: metered.sensor.method.clone(),
            })
            .collect()
    }

    pub(crate) fn balance(&self) -> BTreeMap<Component, Balance> {
        self.sensors
            .iter()
            .map(|metered| (metered.sensor.component.clone(), balance(&metered.ledger)))
            .collect()
    }

    /// What each counter shows, by component.
    pub(crate) fn counters(&self) -> BTreeMap<Component, u64> {
        self.sensors
            .iter()
            .filter_map(|metered| {
                Some((
                    metered.sensor.component.clone(),
                    metered.odometer.counter_value()?,
                ))
            })
            .collect()
    }

    /// Something the log should say.
    pub(crate) fn note(&mut self, text: String) {
        self.notes.push(text);
    }

    /// Says once of a component why the run is charged with all it draws.
    pub(crate) fn note_whole(&mut self, component: &Component, why: &str) {
        let all = self.sensors.iter_mut();
        for metered in all.filter(|metered| metered.sensor.component == *component) {
            if !std::mem::replace(&mut metered.is_whole, true) {
                let taken = "so all it draws is taken for the run's";
                self.notes.push(format!("{component}: {why}, {taken}"));
            }
        }
    }

    /// What happened since the last call that the log should say.
    pub(crate) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }
}

impl MeteredSensor {
    /// Whether this is a counter that may be updated every few milliseconds.
    ///
    /// Those of boards are slower, and reading one may take longer than that.
    fn may_be_lively(&self) -> bool {
        self.sensor.method == Method::Measured
            && self.odometer.counter_value().is_some()
            && self.state != State::Out
            && !matches!(self.sensor.component, Component::Gpu(_))
    }
}

fn balance(ledger: &Ledger) -> Balance {
    Balance {
        total_j: ledger.total().joules(),
        attributed_j: ledger.attributed().joules(),
        other_j: ledger.other().joules(),
        idle_j: ledger.idle().joules(),
    }
}

/// Where a sensor wraps, as it says itself or as its wraps have taught.
fn wraps(reading: &Reading, learned: Option<u64>) -> Wraps {
    match (reading, learned) {
        (Reading::Gauge { .. }, _) => Wraps::Never,
        (
            Reading::Counter {
                wraps: Wraps::Unstated,
                ..
            },
            Some(range),
        ) => Wraps::After(range),
        (Reading::Counter { wraps, .. }, _) => *wraps,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::sensor::PowerSource;
    use crate::model::CpuSocket;

    struct Script(Vec<Result<u64, ReadError>>);

    impl PowerSource for Script {
        fn read(&mut self) -> Result<Reading, ReadError> {
            self.0.remove(0).map(|microjoules| Reading::Counter {
                microjoules,
                wraps: Wraps::After(6_000_000),
            })
        }
    }

    fn sensors(script: Vec<Result<u64, ReadError>>) -> SensorSet {
        let mut sensors = SensorSet::default();
        let sensor = Sensor {
            component: Component::Package(CpuSocket::socket(0)),
            method: Method::Measured,
            place: "a script".to_owned(),
            source: Box::new(Script(script)),
        };
        sensors.add(sensor, Duration::ZERO);
        sensors
    }

    fn total(sensors: &mut SensorSet) -> f64 {
        sensors.post(&Shares {
            cpu: Share::Of(0.5),
            memory: Share::Idle,
            boards: BTreeMap::new(),
        });
        let meters = sensors.meters();
        meters.values().next().unwrap().total_j.unwrap()
    }

    #[test]
    fn a_lost_sensor_keeps_what_it_had_counted_and_is_noted_once() {
        let lost = ReadError::Lost("it fell off the bus".to_owned());
        let mut sensors = sensors(vec![Ok(0), Ok(2_000_000), Err(lost)]);
        for second in 1..5 {
            sensors.read(Duration::from_secs(second));
        }
        assert!((total(&mut sensors) - 2.0).abs() < 1e-9);
        let notes = sensors.take_notes();
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].contains("fell off the bus"), "{notes:?}");
    }

    #[test]
    fn a_reading_that_fails_once_costs_no_energy() {
        let again = ReadError::Again("busy".to_owned());
        let mut sensors = sensors(vec![Ok(0), Err(again), Ok(3_000_000)]);
        sensors.read(Duration::from_secs(1));
        sensors.read(Duration::from_secs(2));
        assert!((total(&mut sensors) - 3.0).abs() < 1e-9);
    }

    #[test]
    fn a_pause_nobody_could_measure_counts_as_nothing() {
        let mut sensors = sensors(vec![Ok(1_000_000), Ok(5_000_000), Ok(5_500_000)]);
        sensors.resume(Duration::from_secs(900));
        sensors.read(Duration::from_secs(901));
        assert!((total(&mut sensors) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn a_small_range_is_read_twice_before_it_can_wrap() {
        let mut sensors = sensors(vec![Ok(0)]);
        assert_eq!(sensors.longest_gap(), SHORTEST_GAP);
        sensors.sensors[0].wraps = Wraps::After(262_143_328_850);
        assert_eq!(sensors.longest_gap().as_secs(), 131);
        sensors.sensors[0].wraps = Wraps::Unstated;
        assert_eq!(sensors.longest_gap().as_secs(), 1);
        sensors.sensors[0].wraps = Wraps::Never;
        assert_eq!(sensors.longest_gap(), Duration::MAX);
    }
}
