/// A running total over time: it never falls, and between two points it grows evenly.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Curve(Vec<(f64, f64)>);

/// A longer log is thinned out: running totals lose resolution by it, never energy.
const MOST_POINTS: usize = 8192;

impl Curve {
    pub(super) fn line(from: f64, to: f64, total: f64) -> Self {
        Self(vec![(from, 0.0), (to, total)])
    }

    /// Adds a point; one that goes back in time or falls is passed over.
    pub(super) fn push(&mut self, time: f64, total: f64) {
        let goes_on =
            |&(last_time, last_total): &(f64, f64)| time >= last_time && total >= last_total;
        if self.0.last().is_none_or(goes_on) {
            if self.0.len() >= MOST_POINTS {
                let mut index = 0;
                self.0.retain(|_| {
                    index += 1;
                    index % 2 == 1
                });
            }
            self.0.push((time, total));
        }
    }

    pub(super) fn start(&self) -> f64 {
        self.0.first().map_or(f64::INFINITY, |(time, _)| *time)
    }

    pub(super) fn end(&self) -> f64 {
        self.0.last().map_or(f64::NEG_INFINITY, |(time, _)| *time)
    }

    /// The total at a time: before the first point that point's, after the last the last's.
    pub(super) fn at(&self, time: f64) -> f64 {
        let next = self.0.partition_point(|(known, _)| *known <= time);
        match (
            next.checked_sub(1).and_then(|i| self.0.get(i)),
            self.0.get(next),
        ) {
            (Some((t0, v0)), Some((t1, v1))) => v0 + (v1 - v0) * (time - t0) / (t1 - t0),
            (Some((_, last)), None) => *last,
            (None, Some((_, first))) => *first,
            (None, None) => 0.0,
        }
    }

    /// What was added between two times.
    pub(super) fn between(&self, from: f64, to: f64) -> f64 {
        self.at(to) - self.at(from)
    }

    /// The times of its points.
    pub(super) fn times(&self) -> impl Iterator<Item = f64> {
        self.0.iter().map(|(time, _)| *time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_points_the_total_grows_evenly() {
        let mut curve = Curve::line(10.0, 20.0, 100.0);
        curve.push(30.0, 100.0);
        curve.push(25.0, 900.0);
        curve.push(40.0, 50.0);
        assert_eq!(
            [5.0, 10.0, 15.0, 25.0, 99.0].map(|t| curve.at(t)),
            [0.0, 0.0, 50.0, 100.0, 100.0]
        );
    }

    #[test]
    fn thinning_out_keeps_the_first_and_the_last_total() {
        let mut curve = Curve::default();
        for second in 0..100_000 {
            curve.push(f64::from(second), f64::from(second) * 2.0);
        }
        assert_eq!((curve.start(), curve.at(0.0)), (0.0, 0.0));
        assert_eq!((curve.end(), curve.at(1e9)), (99_999.0, 199_998.0));
        assert!(curve.0.len() <= MOST_POINTS);
    }
}
