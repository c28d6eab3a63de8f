use std::collections::BTreeMap;
use std::sync::Arc;

use super::phases::{Counts, Efficiency};
use crate::units::{Count, Energy};

/// The name of the figure for a unit is this and the unit.
pub(crate) const ENERGY_OF_WORK: &str = "j_per_";

/// Work that was counted in some runs, by unit.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Work(BTreeMap<Arc<str>, WorkDone>);

/// Work of one unit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WorkDone {
    /// How much.
    pub count: Count,
    /// Energy of the runs that counted it, with PUE.
    pub energy: Energy,
    /// How many runs counted it.
    pub runs: u64,
}

impl WorkDone {
    /// Energy for a unit; none without work.
    #[must_use]
    pub fn efficiency(&self) -> Option<Efficiency> {
        Efficiency::of(self.energy.joules(), self.count.value())
    }
}

impl Work {
    /// That of one run with this energy.
    pub(super) fn of(counts: &Counts, energy: Energy) -> Self {
        let done = counts.iter().map(|(unit, count)| {
            let done = WorkDone {
                count: Count::nearest(*count),
                energy,
                runs: 1,
            };
            (Arc::clone(unit), done)
        });
        Self(done.collect())
    }

    pub(super) fn add(&mut self, other: Self) {
        for (unit, done) in other.0 {
            let mine = self.0.entry(unit).or_default();
            mine.count += done.count;
            mine.energy += done.energy;
            mine.runs += done.runs;
        }
    }

    /// Each unit and what was done of it.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &WorkDone)> {
        self.0.iter().map(|(unit, done)| (&**unit, done))
    }
}
