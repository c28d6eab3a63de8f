use std::time::Duration;

use super::sensor::{Anomaly, Ledger, Odometer, ReadError, Sensor, Wraps};
use crate::model::info::{Balance, SensorNote};
use crate::model::{Component, EnergyClass, Method};

/// The power assumed when the longest time between two readings of a wrapping counter is chosen.
const ASSUMED_WATTS: u64 = 1_000;
/// A counter of unknown range is read this often, so that its power is known when it wraps.
const PERIOD_OF_UNSTATED: Duration = Duration::from_secs(1);

/// A counter of a device that is on moves at least this often.
const LONGEST_STILL: Duration = Duration::from_secs(2);

/// Why nothing is known of a power sensor.
const IMPOSSIBLE: &str = "it shows more power than it can draw";
/// Why nothing is known of a counter.
const NEVER_MOVED: &str = "its counter has never moved";

/// A sensor with the energy counted so far and its split.
#[derive(Debug)]
pub(crate) struct MeteredSensor {
    pub(crate) sensor: Sensor,
    /// The class its energy is added to; none where another sensor contains it.
    pub(crate) class: Option<EnergyClass>,
    pub(crate) odometer: Odometer,
    pub(crate) ledger: Ledger,
    /// The ledger before the last interval was attributed.
    pub(crate) before: Ledger,
    state: State,
    /// The counter's last value and when it was first seen.
    moved: Option<(u64, Duration)>,
    is_still_noted: bool,
    is_unknown_noted: bool,
    /// The log already says that all of its energy is attributed to the run.
    pub(crate) is_whole_noted: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Working,
    /// The last reading failed; noted once, until a reading succeeds.
    Failing,
    /// Not read any more.
    Lost,
}

/// What to do with a reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Add the energy since the last reading.
    Count,
    /// The same, but only for counters that may be updated every few milliseconds.
    CountFast,
    /// Count nothing for the time since the last reading.
    Skip,
}

impl MeteredSensor {
    pub(crate) fn new(sensor: Sensor, at: Duration) -> Self {
        Self {
            class: None,
            odometer: Odometer::starting(&sensor.first, at),
            ledger: Ledger::default(),
            before: Ledger::default(),
            state: State::Working,
            moved: None,
            is_still_noted: false,
            is_unknown_noted: false,
            is_whole_noted: false,
            sensor,
        }
    }

    pub(crate) fn component(&self) -> &Component {
        &self.sensor.component
    }

    /// Reads the sensor; gives what should be noted.
    pub(crate) fn read(&mut self, at: Duration, step: Step) -> Option<String> {
        if self.is_lost() || (step == Step::CountFast && !self.may_update_fast()) {
            return None;
        }
        let reading = match self.sensor.source.read() {
            Ok(reading) => reading,
            Err(ReadError::Again(why)) => {
                let was_failing = std::mem::replace(&mut self.state, State::Failing);
                return (was_failing != State::Failing)
                    .then(|| format!("could not be read: {why}"));
            }
            Err(ReadError::Lost(why)) => {
                self.state = State::Lost;
                return Some(format!("was lost: {why}; its energy is counted up to here"));
            }
        };
        self.state = State::Working;
        if step == Step::Skip {
            self.odometer.resume(&reading, at);
            return None;
        }
        let anomaly = self.odometer.advance(&reading, at);
        if !self.odometer.is_known() {
            let was_noted = std::mem::replace(&mut self.is_unknown_noted, true);
            return (!was_noted).then(|| format!("{IMPOSSIBLE}, so its energy is unknown"));
        }
        if anomaly.is_none() {
            return self.stands_still(at);
        }
        let joules = |microjoules: u64| format!("{:.0}", microjoules as f64 / 1e6);
        let said = match anomaly? {
            Anomaly::Jump(amount) => {
                return Some(format!(
                    "its counter jumped ahead further than any power of it explains; {} J are not \
                     counted",
                    joules(amount)
                ));
            }
            Anomaly::TooMuchPower(amount) => {
                return Some(format!(
                    "it showed more power than it can draw; {} J are not counted and the last \
                     power is used",
                    joules(amount)
                ));
            }
            Anomaly::Spike(amount) => {
                return Some(format!(
                    "its counter had jumped ahead and came back; {} J are not counted",
                    joules(amount)
                ));
            }
            Anomaly::CameBack(amount) => {
                return Some(format!(
                    "its counter had fallen and came back; {} J are not counted twice",
                    joules(amount)
                ));
            }
            Anomaly::SetBack => "its counter was set back; the energy just before is lost",
            Anomaly::GuessedRange => {
                "its counter wrapped at a range the kernel does not state, so the step was \
                 inferred from the power before"
            }
        };
        Some(said.to_owned())
    }

    /// What should be noted about a counter that does not move: a device that is on draws some power.
    fn stands_still(&mut self, at: Duration) -> Option<String> {
        let value = self.odometer.counter_value()?;
        if self.moved.is_none_or(|(last, _)| last != value) {
            self.moved = Some((value, at));
            return None;
        }
        let (_, since) = self.moved?;
        let draws_always = matches!(
            self.sensor.component,
            Component::Package(_) | Component::Psys | Component::Gpu(_)
        );
        if !draws_always || self.is_still_noted || at.saturating_sub(since) < LONGEST_STILL {
            return None;
        }
        self.is_still_noted = true;
        Some(format!(
            "its counter has stood still for {} s; the energy of that time is missing",
            at.saturating_sub(since).as_secs()
        ))
    }

    /// Reads the sensor without counting; gives the total that would be counted now.
    pub(crate) fn peek(&mut self, at: Duration) -> Option<u64> {
        let reading = self.sensor.source.read().ok()?;
        let mut odometer = self.odometer.clone();
        odometer.advance(&reading, at);
        Some(odometer.microjoules())
    }

    /// Joules of the machine and of the run in the interval that was attributed last.
    pub(crate) fn last_interval(&self) -> (f64, f64) {
        (
            self.ledger.total().joules() - self.before.total().joules(),
            self.ledger.attributed().joules() - self.before.attributed().joules(),
        )
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.state == State::Lost
    }

    /// Whether this is a power sensor, which must be read often.
    pub(crate) fn is_gauge(&self) -> bool {
        self.odometer.counter_value().is_none()
    }

    /// Whether this may be a counter with an update every few milliseconds.
    ///
    /// Counters of boards are slower, and one reading of them may take longer than that.
    pub(crate) fn may_update_fast(&self) -> bool {
        self.sensor.method == Method::Measured
            && !self.is_gauge()
            && !self.is_lost()
            && !matches!(self.sensor.component, Component::Gpu(_))
    }

    /// How often the sensor must be read so that it cannot wrap twice unseen.
    pub(crate) fn longest_period(&self) -> Duration {
        match self.odometer.wraps() {
            Wraps::Never => Duration::MAX,
            Wraps::After(range) => Duration::from_micros(range / ASSUMED_WATTS / 2),
            Wraps::Unstated => PERIOD_OF_UNSTATED,
        }
    }

    pub(crate) fn note(&self) -> SensorNote {
        SensorNote {
            component: self.sensor.component.clone(),
            source: self.sensor.place.clone(),
            method: self.method(),
        }
    }

    /// Why nothing is known of the energy so far, if so.
    fn why_unknown(&self) -> Option<&'static str> {
        if !self.odometer.is_known() {
            return Some(IMPOSSIBLE);
        }
        let has_never_moved = self.is_still_noted && self.odometer.microjoules() == 0;
        has_never_moved.then_some(NEVER_MOVED)
    }

    pub(crate) fn is_known(&self) -> bool {
        self.why_unknown().is_none()
    }

    /// How good the figures are so far.
    pub(crate) fn method(&self) -> Method {
        match self.why_unknown() {
            None => self.sensor.method.clone(),
            Some(why) => Method::Absent {
                why: why.to_owned(),
            },
        }
    }

    /// How the energy is split; none where it is not known.
    pub(crate) fn balance(&self) -> Option<Balance> {
        self.is_known().then(|| Balance {
            total_j: self.ledger.total().joules(),
            attributed_j: self.ledger.attributed().joules(),
            other_j: self.ledger.other().joules(),
            idle_j: self.ledger.idle().joules(),
            left_out_j: self.odometer.left_out() as f64 / 1e6,
        })
    }
}
