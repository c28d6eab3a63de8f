use std::time::Duration;

use super::counter_lag::Totals;

/// The power over less time than this means little: a counter is late by up to one update.
const STRETCH: Duration = Duration::from_millis(50);

/// The last two readings, for the power shortly before the end; a run starts at 0.
#[derive(Debug, Default)]
pub(crate) struct RecentTotals {
    last: Point,
    earlier: Point,
}

#[derive(Debug, Default)]
struct Point {
    at: Duration,
    totals: Totals,
}

impl RecentTotals {
    pub(crate) fn push(&mut self, at: Duration, totals: Totals) {
        let point = Point { at, totals };
        self.earlier = std::mem::replace(&mut self.last, point);
    }

    /// Microjoules per second of a counter whose total is now this.
    pub(crate) fn power(&self, counter: usize, total: u64, now: Duration) -> f64 {
        let long_ago = self.last.at + STRETCH <= now;
        let point = if long_ago { &self.last } else { &self.earlier };
        let before = point.totals.get(counter).copied().flatten().unwrap_or(0);
        let seconds = now.saturating_sub(point.at).as_secs_f64();
        total.saturating_sub(before) as f64 / seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn the_power_is_that_since_the_last_reading_unless_it_was_just_now() {
        let mut recent = RecentTotals::default();
        assert!((recent.power(0, 500, 500 * MS) - 1e3).abs() < 1e-9);
        recent.push(1_000 * MS, vec![Some(1_000)]);
        recent.push(2_000 * MS, vec![Some(9_000)]);
        assert!((recent.power(0, 10_000, 2_010 * MS) - 9_000.0 / 1.01).abs() < 1e-9);
        assert!((recent.power(0, 10_000, 2_100 * MS) - 1e4).abs() < 1e-9);
    }
}
