use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::statement::RunLine;
use super::{AccountedRun, Assumptions, Collection, Gathered, RunSummary, Skipped, Tally};

/// What runs come to. The runs themselves are not kept.
#[derive(Debug, Clone, Default)]
pub struct Totals {
    /// The sums over all runs.
    pub tally: Tally,
    /// Settings of the runs that a project's file made: key and value.
    pub project_settings: BTreeSet<(String, String)>,
    /// A line for each run, where they are wanted.
    pub lines: Option<Vec<RunLine>>,
    /// What is not among the runs.
    pub skipped: Vec<Skipped>,
}

impl Totals {
    /// Those of runs that were collected.
    #[must_use]
    pub fn of(collection: &Collection, assumptions: &Assumptions, per_run: bool) -> Self {
        let sum = Accumulator::new(assumptions, per_run);
        let runs = collection.runs.iter();
        let kept = runs.map(|(path, run)| sum.add(path, run)).collect();
        sum.finish(Gathered {
            kept,
            skipped: collection.skipped.clone(),
        })
    }

    fn add(&mut self, accounted: AccountedRun) {
        let settings = &accounted.run.project_settings;
        self.project_settings.extend(
            settings
                .iter()
                .map(|(key, value)| (key.clone(), value.clone())),
        );
        self.tally = std::mem::take(&mut self.tally).merge(accounted.tally);
    }
}

/// Adds up runs from several threads.
///
/// Adding is exact, so that the totals do not depend on the order of the runs.
#[derive(Debug)]
pub struct Accumulator<'a> {
    totals: Mutex<Totals>,
    assumptions: &'a Assumptions,
    per_run: bool,
}

impl<'a> Accumulator<'a> {
    /// Nothing yet; `per_run` asks for a line for each run.
    #[must_use]
    pub fn new(assumptions: &'a Assumptions, per_run: bool) -> Self {
        Self {
            totals: Mutex::default(),
            assumptions,
            per_run,
        }
    }

    /// Adds a run; gives its line, if lines are wanted.
    pub fn add(&self, path: &Path, run: &RunSummary) -> Option<RunLine> {
        let accounted = AccountedRun::new(path, run, self.assumptions);
        let line = self.per_run.then(|| line(&accounted));
        let mut totals = self.totals.lock().unwrap_or_else(PoisonError::into_inner);
        totals.add(accounted);
        line
    }

    /// The totals of the runs that were gathered.
    #[must_use]
    pub fn finish(self, gathered: Gathered<Option<RunLine>>) -> Totals {
        let totals = self.totals.into_inner();
        Totals {
            lines: self
                .per_run
                .then(|| gathered.kept.into_iter().flatten().collect()),
            skipped: gathered.skipped,
            ..totals.unwrap_or_else(PoisonError::into_inner)
        }
    }
}

fn line(accounted: &AccountedRun) -> RunLine {
    RunLine {
        path: accounted.path.to_owned(),
        figures: accounted.figures(),
    }
}
