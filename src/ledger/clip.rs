use std::collections::BTreeMap;

use crate::log::{ImplausibleSample, check_component_count};
use crate::model::{Component, Meter};

/// Takes the seconds out of a log that other runs have counted.
///
/// Between two samples energy is taken to grow evenly.
#[derive(Debug, Default)]
pub(super) struct Clip {
    /// From and to, in seconds since the start; they do not overlap.
    covered: Vec<(f64, f64)>,
    last: f64,
    totals: BTreeMap<Component, [Total; 2]>,
}

/// A running total of the log, and what is left of it.
#[derive(Debug, Default, Clone, Copy)]
struct Total {
    recorded: f64,
    left: f64,
}

impl Total {
    fn advance(&mut self, recorded: f64, part: f64) -> f64 {
        let step = (recorded - self.recorded).max(0.0);
        self.recorded = self.recorded.max(recorded);
        self.left += step * part;
        self.left
    }
}

impl Clip {
    pub(super) fn new(covered: Vec<(f64, f64)>) -> Self {
        Self {
            covered,
            ..Self::default()
        }
    }

    /// The time and the totals of a sample without what is covered.
    pub(super) fn apply(
        &mut self,
        elapsed: f64,
        meters: &mut BTreeMap<Component, Meter>,
    ) -> Result<f64, ImplausibleSample> {
        let step = elapsed - self.last;
        let part = if step > 0.0 {
            (self.left(elapsed) - self.left(self.last)) / step
        } else {
            f64::from(u8::from(self.left(elapsed) > 0.0))
        };
        self.last = self.last.max(elapsed);
        for (component, meter) in meters {
            if !self.totals.contains_key(component) {
                check_component_count(self.totals.len())?;
            }
            let [attributed, total] = self.totals.entry(component.clone()).or_default();
            meter.attributed_j = meter.attributed_j.map(|j| attributed.advance(j, part));
            meter.total_j = meter.total_j.map(|j| total.advance(j, part));
        }
        Ok(self.left(elapsed))
    }

    /// How many of the first seconds are not covered.
    fn left(&self, seconds: f64) -> f64 {
        let covered: f64 = self
            .covered
            .iter()
            .map(|(from, to)| (to.min(seconds) - from).max(0.0))
            .sum();
        (seconds - covered).max(0.0)
    }
}
