use std::time::Duration;

use super::{Reading, Wraps};
use crate::units::Watts;

/// No processor, memory or GPU board draws more than this; a larger step is an error of the counter.
const MOST_WATTS: f64 = 5_000.0;
/// A counter may be updated this late, and then shows all of the delayed energy at once.
const MOST_DELAY: Duration = Duration::from_secs(1);
/// Common counter ranges (2^32 steps of 15.3 or 61 uJ), used where the kernel states none.
const USUAL_RANGES: [u64; 3] = [65_532_610_987, 65_712_999_613, 262_143_328_850];
/// A wrap at a common range is accepted if its step is within this part of the expected step.
const FITS: f64 = 0.25;

/// Turns the readings of one sensor into energy since the first reading, across counter wraps.
#[derive(Debug, Clone)]
pub(crate) struct Odometer {
    total: u64,
    last: Seen,
    wraps: Wraps,
    /// Mean power over the step before, in microjoules per second.
    rate: Option<f64>,
    learned_range: Option<u64>,
}

#[derive(Debug, Clone, Copy)]
struct Seen {
    at: Duration,
    value: Value,
}

#[derive(Debug, Clone, Copy)]
enum Value {
    Counter(u64),
    Gauge(Watts),
}

/// Something unusual about a step, to be noted in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anomaly {
    /// The counter went back further than a wrap explains; the energy counted before is kept.
    SetBack,
    /// The step would need more power than is possible; it is not counted.
    Jump,
    /// The counter wrapped at an unstated range; the step is a guess.
    GuessedRange,
}

impl Odometer {
    pub(crate) fn starting(reading: &Reading, at: Duration) -> Self {
        Self {
            total: 0,
            last: Seen::of(reading, at),
            wraps: wraps(reading),
            rate: None,
            learned_range: None,
        }
    }

    /// Energy since the first reading.
    pub(crate) fn microjoules(&self) -> u64 {
        self.total
    }

    /// The counter's value as last read, if this is a counter.
    pub(crate) fn counter_value(&self) -> Option<u64> {
        match self.last.value {
            Value::Counter(value) => Some(value),
            Value::Gauge(_) => None,
        }
    }

    /// Where the counter wraps, as it says itself or as earlier wraps have shown.
    pub(crate) fn wraps(&self) -> Wraps {
        match (self.wraps, self.learned_range) {
            (Wraps::Unstated, Some(range)) => Wraps::After(range),
            (wraps, _) => wraps,
        }
    }

    /// Adds the energy since the last reading.
    pub(crate) fn advance(&mut self, reading: &Reading, at: Duration) -> Option<Anomaly> {
        let elapsed = at.saturating_sub(self.last.at);
        let mut anomaly = None;
        let step = match (self.last.value, reading) {
            (
                Value::Counter(last),
                Reading::Counter {
                    microjoules: now,
                    wraps,
                },
            ) => {
                let (step, said) = match now.checked_sub(last) {
                    Some(step) if step <= most_in(elapsed) => (step, None),
                    Some(_) => (0, Some(Anomaly::Jump)),
                    None => self.over_the_wrap(last, *now, *wraps, elapsed),
                };
                anomaly = said;
                step
            }
            (Value::Gauge(before), Reading::Gauge { watts }) => {
                let mean = f64::midpoint(before.get(), watts.get());
                (mean * elapsed.as_secs_f64() * 1e6).round() as u64
            }
            // A sensor that changes its kind starts again.
            _ => 0,
        };
        if !elapsed.is_zero() {
            self.rate = Some(step as f64 / elapsed.as_secs_f64());
        }
        self.total = self.total.saturating_add(step);
        self.last = Seen::of(reading, at);
        self.wraps = wraps(reading);
        anomaly
    }

    /// Continues from this reading and counts nothing for the time since the last one.
    pub(crate) fn resume(&mut self, reading: &Reading, at: Duration) {
        self.last = Seen::of(reading, at);
        self.wraps = wraps(reading);
        self.rate = None;
    }

    /// Changes the total by an amount found by the lag correction.
    pub(crate) fn correct(&mut self, microjoules: i64) {
        self.total = self.total.saturating_add_signed(microjoules);
    }

    fn over_the_wrap(
        &mut self,
        last: u64,
        now: u64,
        wraps: Wraps,
        elapsed: Duration,
    ) -> (u64, Option<Anomaly>) {
        let most = most_in(elapsed);
        let expected = self.rate.map(|rate| rate * elapsed.as_secs_f64());
        // A counter that was reset, as after a suspend, shows the energy since the reset. One that only
        // went back a little shows nearly its old value.
        let since_then = expected.map_or(most, |expected| (expected * 2.0) as u64);
        let is_reset = now <= last / 2 && now <= since_then;
        let set_back = (if is_reset { now } else { 0 }, Some(Anomaly::SetBack));
        match wraps {
            Wraps::Never => return set_back,
            Wraps::After(range) if range >= last => {
                let step = range - last + now;
                return if step <= most { (step, None) } else { set_back };
            }
            Wraps::After(_) | Wraps::Unstated => {}
        }
        let known = self.learned_range.into_iter().chain(USUAL_RANGES);
        for range in known.filter(|range| *range > last) {
            let step = range - last + now;
            let fits = expected.is_some_and(|e| (step as f64 - e).abs() <= FITS * e);
            // A counter that was at the very end of a range has wrapped there, at any power.
            if fits || step <= range / 100 {
                return (step, Some(Anomaly::GuessedRange));
            }
        }
        match expected {
            Some(expected) if expected >= now as f64 => {
                let step = expected.round() as u64;
                self.learned_range = Some(last + step - now);
                (step, Some(Anomaly::GuessedRange))
            }
            _ => set_back,
        }
    }
}

/// The most microjoules that a component can draw in this time.
fn most_in(elapsed: Duration) -> u64 {
    (MOST_WATTS * (elapsed + MOST_DELAY).as_secs_f64() * 1e6) as u64
}

fn wraps(reading: &Reading) -> Wraps {
    match reading {
        Reading::Counter { wraps, .. } => *wraps,
        Reading::Gauge { .. } => Wraps::Never,
    }
}

impl Seen {
    fn of(reading: &Reading, at: Duration) -> Self {
        let value = match reading {
            Reading::Counter { microjoules, .. } => Value::Counter(*microjoules),
            Reading::Gauge { watts } => Value::Gauge(*watts),
        };
        Self { at, value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counter(microjoules: u64, range: Option<u64>) -> Reading {
        let wraps = range.map_or(Wraps::Unstated, Wraps::After);
        Reading::Counter { microjoules, wraps }
    }

    fn at(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    #[test]
    fn a_counter_that_wraps_adds_the_rest_of_its_range() {
        let mut odometer = Odometer::starting(&counter(900, Some(1000)), at(0.0));
        assert_eq!(odometer.advance(&counter(50, Some(1000)), at(1.0)), None);
        assert_eq!(odometer.microjoules(), 150);
    }

    #[test]
    fn a_counter_set_back_to_zero_adds_only_what_it_shows() {
        let range = Some(262_143_328_850);
        let mut odometer = Odometer::starting(&counter(1_000_000, range), at(0.0));
        assert_eq!(odometer.advance(&counter(3_000_000, range), at(1.0)), None);
        assert_eq!(
            odometer.advance(&counter(500_000, range), at(2.0)),
            Some(Anomaly::SetBack)
        );
        assert_eq!(odometer.microjoules(), 2_500_000);
    }

    #[test]
    fn a_counter_set_back_near_its_end_is_not_taken_for_one_that_wrapped() {
        let range = Some(262_143_328_850);
        let mut odometer = Odometer::starting(&counter(200_000_000_000, range), at(0.0));
        let anomaly = odometer.advance(&counter(1_000, range), at(1.0));
        assert_eq!(anomaly, Some(Anomaly::SetBack));
        assert_eq!(odometer.microjoules(), 1_000);
    }

    #[test]
    fn a_counter_that_stumbles_does_not_count_all_it_shows() {
        let range = Some(262_143_328_850);
        for (face, back) in [
            (9_000_000_000, 10),
            (30_000_000, 10),
            (5_000_000_000, 1_000_000_000),
        ] {
            let mut odometer = Odometer::starting(&counter(face, range), at(0.0));
            let anomaly = odometer.advance(&counter(face - back, range), at(1.0));
            assert_eq!(anomaly, Some(Anomaly::SetBack));
            assert_eq!(odometer.microjoules(), 0);
        }
        let mut odometer = Odometer::starting(&counter(90_000_000_000, range), at(0.0));
        odometer.advance(&counter(90_010_000_000, range), at(1.0));
        odometer.advance(&counter(40_000_000_000, range), at(2.0));
        assert_eq!(odometer.microjoules(), 10_000_000, "40 kJ at 10 W");
    }

    #[test]
    fn a_step_that_no_power_explains_is_not_counted() {
        let mut odometer = Odometer::starting(&counter(7, None), at(0.0));
        assert_eq!(
            odometer.advance(&counter(u64::MAX, None), at(1.0)),
            Some(Anomaly::Jump)
        );
        odometer.advance(&counter(9, None), at(2.0));
        assert!(odometer.microjoules() <= 9);
    }

    #[test]
    fn a_wrap_at_an_unstated_usual_range_is_exact() {
        let range = 262_143_328_850;
        let mut odometer = Odometer::starting(&counter(range - 150_000_000, None), at(0.0));
        odometer.advance(&counter(range - 50_000_000, None), at(1.0));
        let anomaly = odometer.advance(&counter(48_000_000, None), at(2.0));
        assert_eq!(anomaly, Some(Anomaly::GuessedRange));
        assert_eq!(odometer.microjoules(), 198_000_000);
    }

    #[test]
    fn a_wrap_at_an_unknown_range_is_taken_from_the_power_before_it() {
        let mut odometer = Odometer::starting(&counter(0, None), at(0.0));
        odometer.advance(&counter(50_000_000, None), at(1.0));
        odometer.advance(&counter(100_000_000, None), at(2.0));
        odometer.advance(&counter(10_000_000, None), at(3.0));
        assert_eq!(odometer.microjoules(), 150_000_000);
        assert_eq!(odometer.wraps(), Wraps::After(140_000_000));
    }

    #[test]
    fn power_samples_are_joined_by_straight_lines() {
        let gauge = |watts| Reading::Gauge {
            watts: Watts::new(watts).unwrap(),
        };
        let mut odometer = Odometer::starting(&gauge(100.0), at(0.0));
        odometer.advance(&gauge(200.0), at(1.0));
        odometer.advance(&gauge(200.0), at(1.5));
        assert_eq!(odometer.microjoules(), 250_000_000);
    }

    proptest::proptest! {
        #[test]
        fn any_walk_around_any_range_adds_up(range in 1_000u64..1_000_000_000, steps in proptest::collection::vec(0u64..1_000_000, 1..50)) {
            let mut truth = 0u64;
            let mut odometer = Odometer::starting(&counter(0, Some(range)), at(0.0));
            for (i, step) in steps.iter().enumerate() {
                let step = step % range;
                truth += step;
                odometer.advance(&counter(truth % range, Some(range)), at((i + 1) as f64));
            }
            proptest::prop_assert_eq!(odometer.microjoules(), truth);
        }
    }
}
