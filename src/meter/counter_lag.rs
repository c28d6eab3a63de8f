use std::time::Duration;

use super::recent_totals::RecentTotals;

/// How often counters are read while their updates are awaited.
pub(crate) const POLL_PERIOD: Duration = Duration::from_micros(250);
/// The time of an update is known well if the two readings around it are no further apart than this.
const SHARP: Duration = Duration::from_micros(600);
/// The counters are observed at least this long, so that one delay of the machine has little weight.
const AT_LEAST: Duration = Duration::from_millis(10);
/// Without an update by then, the counters are too slow to be corrected.
const FIRST_UPDATE_BY: Duration = Duration::from_millis(16);
/// Observing ends after this time, with however few updates.
const GIVE_UP_AFTER: Duration = Duration::from_millis(40);
/// Updates after which a counter is known to be updated all the time.
const FAST: usize = 3;
/// Updates that are enough to outvote a delayed one.
const ENOUGH: usize = 5;
/// The longest wait for an update after the end.
const PATIENCE: Duration = Duration::from_millis(8);

/// Corrects totals for the lag of counters that are updated in steps.
///
/// A counter that is updated every few milliseconds is late by up to one update. For a run of half a
/// second that is up to a hundredth of its energy. Right after an update the counter is exact, and
/// its value shortly before follows from the power. The updates need not be regular: a busy machine
/// delays both them and the readings.
#[derive(Debug, Default)]
pub(crate) struct CounterLag {
    /// The start or the end of the run.
    instant: Duration,
    traces: Vec<Trace>,
    /// When the last reading began.
    last_read: Duration,
}

/// Microjoules of each counter, in the order of the sensors; none for slow ones.
pub(crate) type Totals = Vec<Option<u64>>;

/// Totals, and when they were read.
#[derive(Debug, Clone)]
pub(crate) struct TimedTotals {
    pub(crate) began: Duration,
    pub(crate) done: Duration,
    pub(crate) totals: Totals,
}

#[derive(Debug)]
struct Trace {
    /// The last total before the instant.
    before: u64,
    /// The first one after it.
    after: u64,
    last: Option<u64>,
    updates: Vec<Update>,
}

/// An update of a counter.
#[derive(Debug, Clone, Copy)]
struct Update {
    at: Duration,
    total: u64,
    is_sharp: bool,
}

impl CounterLag {
    /// Starts with the totals before the instant and the first ones after it.
    pub(crate) fn at(instant: Duration, before: &Totals, after: &TimedTotals) -> Self {
        let trace = |(before, after): (&Option<u64>, &Option<u64>)| Trace {
            before: before.unwrap_or(0),
            after: after.unwrap_or(0),
            last: *after,
            updates: Vec::new(),
        };
        Self {
            instant,
            traces: before.iter().zip(&after.totals).map(trace).collect(),
            last_read: after.began,
        }
    }

    /// Takes the next reading.
    pub(crate) fn observe(&mut self, timed: &TimedTotals) {
        let apart = timed.done.saturating_sub(self.last_read);
        for (trace, now) in self.traces.iter_mut().zip(&timed.totals) {
            if let (Some(last), Some(total)) = (trace.last, *now)
                && total > last
            {
                trace.updates.push(Update {
                    at: self.last_read + apart / 2,
                    total,
                    is_sharp: apart <= SHARP,
                });
            }
            trace.last = *now;
        }
        self.last_read = timed.began;
    }

    /// Whether enough is known about the start.
    pub(crate) fn is_settled(&self) -> bool {
        let fast = || self.traces.iter().filter(|trace| trace.last.is_some());
        let observed = self.last_read.saturating_sub(self.instant);
        fast().next().is_none()
            || (observed >= AT_LEAST && fast().all(|trace| trace.sharp().count() >= ENOUGH))
            || observed >= GIVE_UP_AFTER
            || (observed >= FIRST_UPDATE_BY && fast().all(|trace| trace.updates.is_empty()))
    }

    /// The correction of each total for energy from before the start.
    pub(crate) fn correction_at_start(&self) -> Vec<i64> {
        let correction = |trace: &Trace| {
            let power = trace.power().filter(|_| trace.is_fast())?;
            let updates = trace.clear().into_iter();
            let energies = updates.map(|update| update.back_at(self.instant, power));
            let energy = trace.bounded(median(energies.collect())?)?;
            Some(trace.before as i64 - energy as i64)
        };
        let corrections = self.traces.iter().map(correction);
        corrections.map(Option::unwrap_or_default).collect()
    }

    /// Whether every counter with many updates at the start had one since the end, or the wait was too
    /// long.
    pub(crate) fn is_over(&self, start: &Self) -> bool {
        let mut pairs = self.traces.iter().zip(&start.traces);
        self.last_read.saturating_sub(self.instant) >= PATIENCE
            || pairs.all(|(end, start)| end.sharp().next().is_some() || !start.is_fast())
    }

    /// The correction of each total for energy that was not yet counted at the end.
    pub(crate) fn correction_at_end(&self, start: &Self, recent: &RecentTotals) -> Vec<i64> {
        let correction = |(index, trace): (usize, &Trace)| {
            start.traces.get(index).filter(|start| start.is_fast())?;
            let update = trace.sharp().next().or(trace.updates.first())?;
            let power = recent.power(index, update.total, update.at);
            let energy = trace.bounded(update.back_at(self.instant, power))?;
            Some(energy as i64 - trace.after as i64)
        };
        let corrections = self.traces.iter().enumerate().map(correction);
        corrections.map(Option::unwrap_or_default).collect()
    }
}

impl TimedTotals {
    /// Whether the counters were read without a delay.
    pub(crate) fn is_sharp(&self) -> bool {
        self.done.saturating_sub(self.began) <= SHARP
    }
}

impl Trace {
    fn sharp(&self) -> impl Iterator<Item = &Update> {
        self.updates.iter().filter(|update| update.is_sharp)
    }

    /// The updates to use.
    fn clear(&self) -> Vec<&Update> {
        let sharp: Vec<_> = self.sharp().collect();
        if sharp.len() >= FAST {
            sharp
        } else {
            self.updates.iter().collect()
        }
    }

    /// Whether the counter is updated all the time.
    fn is_fast(&self) -> bool {
        self.updates.len() >= FAST
    }

    /// Microjoules per second: the median over all pairs of updates, which one delayed update does not
    /// change.
    fn power(&self) -> Option<f64> {
        let updates = self.clear();
        let pairs = updates.iter().enumerate().flat_map(|(index, later)| {
            updates[..index]
                .iter()
                .map(move |earlier| (*earlier, *later))
        });
        let powers = pairs.map(|(earlier, later)| earlier.power_until(later));
        median(powers.collect())
    }

    /// The energy at the instant lies between the updates around it.
    fn bounded(&self, energy: f64) -> Option<u64> {
        let next = self.updates.first()?.total;
        Some((energy.max(0.0) as u64).min(next).max(self.before))
    }
}

impl Update {
    fn power_until(&self, later: &Self) -> f64 {
        let seconds = later.at.saturating_sub(self.at).as_secs_f64();
        later.total.saturating_sub(self.total) as f64 / seconds
    }

    /// What a counter without steps would have shown at an earlier instant.
    fn back_at(&self, instant: Duration, power: f64) -> f64 {
        let seconds = self.at.saturating_sub(instant).as_secs_f64();
        self.total as f64 - power * seconds
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD_US: u64 = 5_000;

    /// 10 W, updated every 5 ms at 2 ms, 7 ms, ...
    fn even(us: u64) -> u64 {
        (us + 3_000) / PERIOD_US * PERIOD_US * 10
    }

    /// 10 W, where the update at 7 ms came 3 ms late, and the one at 497 ms 2 ms.
    fn delayed(us: u64) -> u64 {
        match us {
            7_000..10_000 => even(6_999),
            10_000..12_000 => 10_000 * 10 + 30_000,
            497_000..499_000 => even(496_999),
            499_000..502_000 => 499_000 * 10 + 30_000,
            _ => even(us),
        }
    }

    fn read_at(counter: impl Fn(u64) -> u64, us: u64) -> TimedTotals {
        let at = Duration::from_micros(us);
        TimedTotals {
            began: at,
            done: at,
            totals: vec![Some(counter(us))],
        }
    }

    fn watched(counter: impl Fn(u64) -> u64) -> CounterLag {
        let first = read_at(&counter, 0);
        let mut lag = CounterLag::at(Duration::ZERO, &first.totals, &first);
        let mut us = 0;
        while !lag.is_settled() {
            us += 250;
            lag.observe(&read_at(&counter, us));
        }
        lag
    }

    fn correction_at_end(
        counter: impl Fn(u64) -> u64,
        start: &CounterLag,
        recent: &RecentTotals,
        end_us: u64,
    ) -> i64 {
        let end = Duration::from_micros(end_us);
        let first = read_at(&counter, end_us);
        let mut lag = CounterLag::at(end, &first.totals, &first);
        let mut us = end_us;
        while !lag.is_over(start) {
            us += 250;
            lag.observe(&read_at(&counter, us));
        }
        lag.correction_at_end(start, recent)[0]
    }

    fn from_the_start() -> RecentTotals {
        let mut recent = RecentTotals::default();
        recent.push(Duration::ZERO, vec![Some(30_000)]);
        recent
    }

    fn assert_near(found: i64, right: i64) {
        assert!((found - right).abs() < 3_000, "{found} and not {right}");
    }

    #[test]
    fn a_late_counter_is_corrected_at_both_ends() {
        let start = watched(even);
        // Three milliseconds had gone by since the last update: 30 mJ.
        assert_near(start.correction_at_start()[0], -30_000);
        // 3.9 ms since the update at 497 ms.
        let found = correction_at_end(even, &start, &from_the_start(), 500_900);
        assert_near(found, 39_000);
    }

    #[test]
    fn delayed_updates_change_nothing() {
        let start = watched(delayed);
        assert_near(start.correction_at_start()[0], -30_000);
        let at_end = |us| correction_at_end(delayed, &start, &from_the_start(), us);
        // The update of 497 ms came at 499 ms.
        assert_near(at_end(501_000), 20_000);
        // It had not come, so that 6 ms were hidden.
        assert_near(at_end(498_000), 60_000);
    }

    #[test]
    fn an_update_that_shows_late_is_outvoted() {
        let start = watched(|us| even(if us < 4_000 { us.min(1_999) } else { us }));
        assert_near(start.correction_at_start()[0], -30_000);
    }

    #[test]
    fn an_update_seen_late_is_not_used() {
        let first = read_at(even, 0);
        let mut lag = CounterLag::at(Duration::ZERO, &first.totals, &first);
        for us in (4_500..30_000).step_by(250) {
            lag.observe(&read_at(even, us));
        }
        assert_near(lag.correction_at_start()[0], -30_000);
    }

    #[test]
    fn energy_counted_while_the_command_was_started_is_subtracted() {
        let mut lag = watched(|us| even(us) + 12_000);
        lag.traces[0].before = 0;
        assert_near(lag.correction_at_start()[0], -42_000);
    }

    #[test]
    fn the_power_at_the_end_is_that_of_the_last_readings() {
        /// 10 W, then 40 W from 302 ms on.
        fn step(us: u64) -> u64 {
            even(us) + 3 * even(us).saturating_sub(even(302_000))
        }
        let start = watched(step);
        let mut recent = RecentTotals::default();
        for us in [402_000, 499_000] {
            recent.push(Duration::from_micros(us), vec![Some(step(us))]);
        }
        let found = correction_at_end(step, &start, &recent, 500_900);
        assert_near(found / 4, 39_000);
    }

    #[test]
    fn a_counter_that_moves_once_is_left_as_it_is() {
        let lag = watched(|us| if us < 4_000 { 0 } else { 5_000_000 });
        assert_eq!(lag.correction_at_start(), [0]);
        assert!(CounterLag::at(Duration::ZERO, &vec![Some(0)], &read_at(even, 0)).is_over(&lag));
    }

    #[test]
    fn a_counter_that_stands_still_is_soon_given_up() {
        let lag = watched(|_| 7);
        assert!(lag.last_read <= FIRST_UPDATE_BY);
    }
}
