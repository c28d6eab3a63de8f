use std::time::Duration;

use super::{Reading, Wraps};
use crate::model::MOST_DEVICE_WATTS;
use crate::units::Watts;

/// A larger step is an error of the sensor.
pub(crate) const MOST_WATTS: f64 = MOST_DEVICE_WATTS;
/// A counter may be updated this late, and then shows all of the delayed energy at once.
const MOST_DELAY: Duration = Duration::from_secs(1);
/// A counter that is wrong for longer than this has been reset.
const LONGEST_FALL: Duration = Duration::from_secs(10);
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
    /// The most that the device can draw.
    most_watts: f64,
    /// Energy counted beyond what the device can draw in the time, which a late update explains.
    ahead: f64,
    /// The reading before the last one, and what the last step added.
    before: Option<(Seen, u64)>,
    /// The reading before the counter was set back, and what was counted since then.
    before_set_back: Option<(Seen, u64)>,
    /// Microjoules that were shown and not counted.
    left_out: u64,
    /// A power was shown that the device can draw.
    has_possible_power: bool,
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
    /// The step would need more power than the device can draw; these microjoules are not counted.
    Jump(u64),
    /// The power is more than the device can draw; the last value is used, without these microjoules.
    TooMuchPower(u64),
    /// The counter had jumped ahead and came back; these microjoules were taken out again.
    Spike(u64),
    /// The counter had fallen and came back; these microjoules would have been counted twice.
    CameBack(u64),
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
            most_watts: MOST_WATTS,
            ahead: 0.0,
            before: None,
            before_set_back: None,
            left_out: 0,
            has_possible_power: false,
        }
    }

    /// The device cannot draw more than this.
    pub(crate) fn limit(&mut self, watts: f64) {
        if watts > 0.0 {
            self.most_watts = watts.min(MOST_WATTS);
        }
    }

    /// Whether the energy is known: a power sensor may never have shown what the device can draw.
    pub(crate) fn is_known(&self) -> bool {
        match self.last.value {
            Value::Counter(_) => true,
            Value::Gauge(watts) => self.has_possible_power || self.can_draw(watts),
        }
    }

    fn can_draw(&self, watts: Watts) -> bool {
        watts.get() <= self.most_watts
    }

    /// Microjoules that the sensor has shown and that were not counted.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
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
        let mut last = Seen::of(reading, at);
        let step = match (self.last.value, reading) {
            (
                Value::Counter(from),
                Reading::Counter {
                    microjoules: now,
                    wraps,
                },
            ) => {
                let (step, said) = self.counter_step(from, *now, *wraps, at);
                anomaly = said;
                step
            }
            (Value::Gauge(from), Reading::Gauge { watts }) => {
                let joined = |a: f64, b: f64| {
                    (f64::midpoint(a, b) * elapsed.as_secs_f64() * 1e6).round() as u64
                };
                let all = joined(from.get(), watts.get());
                let (from_is_possible, now_is_possible) =
                    (self.can_draw(from), self.can_draw(*watts));
                self.has_possible_power |= from_is_possible || now_is_possible;
                // What is possible holds for the whole interval.
                let step = match (from_is_possible, now_is_possible) {
                    (true, true) => all,
                    (true, false) => joined(from.get(), from.get()),
                    (false, true) => joined(watts.get(), watts.get()),
                    (false, false) => 0,
                };
                if from_is_possible && !now_is_possible {
                    last.value = Value::Gauge(from);
                }
                if !from_is_possible || !now_is_possible {
                    anomaly = Some(Anomaly::TooMuchPower(all.saturating_sub(step)));
                }
                step
            }
            // A sensor that changes its kind starts again.
            _ => 0,
        };
        if let Some(
            Anomaly::Jump(amount)
            | Anomaly::TooMuchPower(amount)
            | Anomaly::Spike(amount)
            | Anomaly::CameBack(amount),
        ) = anomaly
        {
            self.left_out = self.left_out.saturating_add(amount);
        }
        if !elapsed.is_zero() {
            self.rate = Some(step as f64 / elapsed.as_secs_f64());
        }
        self.total = self.total.saturating_add(step);
        if let Some((_, counted)) = &mut self.before_set_back {
            *counted = counted.saturating_add(step);
        }
        // A spike may be read several times before it comes back.
        if step > 0 || anomaly.is_some() {
            self.before = Some((self.last, step));
        }
        self.last = last;
        self.wraps = wraps(reading);
        anomaly
    }

    /// Continues from this reading and counts nothing for the time since the last one.
    pub(crate) fn resume(&mut self, reading: &Reading, at: Duration) {
        self.last = Seen::of(reading, at);
        self.wraps = wraps(reading);
        self.rate = None;
        self.before = None;
        self.before_set_back = None;
    }

    /// Changes the total by an amount found by the lag correction.
    pub(crate) fn correct(&mut self, microjoules: i64) {
        self.total = self.total.saturating_add_signed(microjoules);
    }

    /// The energy between two values of a counter.
    fn counter_step(
        &mut self,
        from: u64,
        now: u64,
        wraps: Wraps,
        at: Duration,
    ) -> (u64, Option<Anomaly>) {
        let elapsed = at.saturating_sub(self.last.at);
        if let Some(step) = now.checked_sub(from) {
            if let Some(back) = self.come_back(from, now, at) {
                return back;
            }
            if self.is_possible(step, elapsed) {
                return (step, None);
            }
            return (0, Some(Anomaly::Jump(step)));
        }
        // A wrap that the device's power explains is more likely than a spike.
        let is_wrap = matches!(wraps, Wraps::After(range)
            if range >= from && range - from + now <= self.most_in(elapsed));
        if !is_wrap && let Some(spike) = self.spike(now, at) {
            return spike;
        }
        let (step, said) = self.over_the_wrap(from, now, wraps, elapsed);
        if said == Some(Anomaly::SetBack) {
            self.before_set_back = Some((self.last, 0));
        }
        (step, said)
    }

    /// Whether the device can draw this in this time, with what a late update may show at once.
    fn is_possible(&mut self, step: u64, elapsed: Duration) -> bool {
        let most = self.most_watts * 1e6;
        let ahead = (self.ahead + step as f64 - most * elapsed.as_secs_f64()).max(0.0);
        let is_possible = ahead <= most * MOST_DELAY.as_secs_f64();
        self.ahead = if is_possible {
            ahead
        } else {
            (self.ahead - most * elapsed.as_secs_f64()).max(0.0)
        };
        is_possible
    }

    /// The step of a counter that is where it was before it fell: the readings between were wrong.
    fn come_back(&mut self, from: u64, now: u64, at: Duration) -> Option<(u64, Option<Anomaly>)> {
        let (seen, counted) = self.before_set_back?;
        let Value::Counter(old) = seen.value else {
            return None;
        };
        let since = at.saturating_sub(seen.at);
        let real = now.checked_sub(old)?;
        // A counter that was reset reaches its old value in many steps.
        if from > old / 2 || since > LONGEST_FALL || real > self.most_in(since) {
            if since > LONGEST_FALL {
                self.before_set_back = None;
            }
            return None;
        }
        self.before_set_back = None;
        let step = real.saturating_sub(counted);
        Some((
            step,
            Some(Anomaly::CameBack((now - from).saturating_sub(step))),
        ))
    }

    /// The step of a counter that is back at the value before its last step, which was a spike.
    fn spike(&mut self, now: u64, at: Duration) -> Option<(u64, Option<Anomaly>)> {
        let (seen, counted) = self.before?;
        let Value::Counter(old) = seen.value else {
            return None;
        };
        let real = now.checked_sub(old)?;
        if old == 0 || counted <= real || real > self.most_in(at.saturating_sub(seen.at)) {
            return None;
        }
        self.total = self.total.saturating_sub(counted);
        Some((real, Some(Anomaly::Spike(counted - real))))
    }

    /// The most microjoules that the device can draw in this time.
    fn most_in(&self, elapsed: Duration) -> u64 {
        (self.most_watts * (elapsed + MOST_DELAY).as_secs_f64() * 1e6) as u64
    }

    fn over_the_wrap(
        &mut self,
        last: u64,
        now: u64,
        wraps: Wraps,
        elapsed: Duration,
    ) -> (u64, Option<Anomaly>) {
        let most = self.most_in(elapsed);
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

    fn gauge(watts: f64) -> Reading {
        Reading::Gauge {
            watts: Watts::new(watts).unwrap(),
        }
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
            Some(Anomaly::Jump(u64::MAX - 7))
        );
        odometer.advance(&counter(9, None), at(2.0));
        assert!(odometer.microjoules() <= 9);
    }

    #[test]
    fn a_counter_that_flaps_to_zero_is_counted_once() {
        let range = Some(262_143_328_850);
        let mut odometer = Odometer::starting(&counter(200_000_000, range), at(0.0));
        for second in 1..=10 {
            let shown = if second % 2 == 0 {
                second * 20_000_000
            } else {
                0
            };
            let shown = if shown == 0 { 0 } else { 200_000_000 + shown };
            odometer.advance(&counter(shown, range), at(second as f64));
        }
        assert_eq!(odometer.microjoules(), 200_000_000);
        assert!(odometer.left_out() > 0);
    }

    #[test]
    fn a_spike_that_comes_back_is_taken_out_again() {
        let range = Some(262_143_328_850);
        let mut odometer = Odometer::starting(&counter(1_000_000_000, range), at(0.0));
        odometer.advance(&counter(1_010_000_000, range), at(1.0));
        odometer.advance(&counter(1_900_000_000, range), at(2.0));
        let anomaly = odometer.advance(&counter(1_030_000_000, range), at(3.0));
        assert_eq!(anomaly, Some(Anomaly::Spike(870_000_000)));
        assert_eq!(odometer.microjoules(), 30_000_000);
    }

    #[test]
    fn a_jump_beyond_what_the_device_can_draw_is_left_out_with_its_amount() {
        let mut odometer = Odometer::starting(&counter(0, None), at(0.0));
        odometer.limit(600.0);
        let anomaly = odometer.advance(&counter(900_000_000, None), at(0.2));
        assert_eq!(anomaly, Some(Anomaly::Jump(900_000_000)));
        assert_eq!(odometer.microjoules(), 0);
        assert_eq!(odometer.left_out(), 900_000_000);
        // A late update is possible once, but not again and again.
        odometer.advance(&counter(1_400_000_000, None), at(0.3));
        assert_eq!(odometer.microjoules(), 500_000_000);
        odometer.advance(&counter(1_900_000_000, None), at(0.4));
        assert_eq!(odometer.microjoules(), 500_000_000);
    }

    #[test]
    fn a_power_that_the_board_cannot_draw_is_replaced_by_the_last_one() {
        let mut odometer = Odometer::starting(&gauge(100.0), at(0.0));
        odometer.limit(450.0);
        let anomaly = odometer.advance(&gauge(4_294_967.295), at(1.0));
        assert!(matches!(anomaly, Some(Anomaly::TooMuchPower(_))));
        odometer.advance(&gauge(100.0), at(2.0));
        assert_eq!(odometer.microjoules(), 200_000_000);
    }

    #[test]
    fn the_energy_of_a_power_sensor_is_known_from_its_first_possible_power_on() {
        let impossible = gauge(4_294_967.295);
        let mut odometer = Odometer::starting(&impossible, at(0.0));
        odometer.limit(450.0);
        odometer.advance(&impossible, at(1.0));
        assert!(!odometer.is_known());
        odometer.advance(&gauge(100.0), at(2.0));
        odometer.advance(&impossible, at(3.0));
        assert!(odometer.is_known());
        assert!(Odometer::starting(&gauge(100.0), at(0.0)).is_known());
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
