use std::path::Path;

use super::figure::{Amount, Figures};
use super::phases::Efficiency;
use super::work::ENERGY_OF_WORK;
use super::{Assumptions, Figure, Footprint, RunSummary, Tally};

/// One run with its footprint and its tally, each made once.
#[derive(Debug)]
#[non_exhaustive]
pub struct AccountedRun<'a> {
    /// The folder of the run.
    pub path: &'a Path,
    /// What its log says.
    pub run: &'a RunSummary,
    /// Its energy with PUE and its emissions.
    pub footprint: Footprint,
    /// Its figures, ready to be added to those of other runs.
    pub tally: Tally,
}

impl<'a> AccountedRun<'a> {
    /// The run under these assumptions.
    #[must_use]
    pub fn new(path: &'a Path, run: &'a RunSummary, assumptions: &Assumptions) -> Self {
        let footprint = Footprint::of(run, assumptions);
        let tally = Tally::of(run, &footprint);
        Self {
            path,
            run,
            footprint,
            tally,
        }
    }

    /// A figure of the run, or none where the log does not have it.
    #[must_use]
    pub fn figure(&self, figure: Figure) -> Option<f64> {
        self.amount(figure).map(Amount::value)
    }

    /// All figures of the run, to the last digit.
    #[must_use]
    pub fn figures(&self) -> Figures {
        Figure::ALL
            .into_iter()
            .map(|figure| (figure.name(), self.amount(figure)))
            .collect()
    }

    /// Energy for each unit of work that was counted in the run, PUE included, by the name of the figure.
    pub fn work(&self) -> impl Iterator<Item = (String, Efficiency)> + '_ {
        let work = self.tally.work.iter();
        work.filter_map(|(unit, done)| {
            Some((format!("{ENERGY_OF_WORK}{unit}"), done.efficiency()?))
        })
    }

    /// The intensity of a single run is the mean of what was recorded, as in the original tool.
    fn amount(&self, figure: Figure) -> Option<Amount> {
        match figure {
            Figure::CarbonIntensity => self
                .footprint
                .carbon
                .as_ref()
                .map(|carbon| Amount::Ratio(carbon.intensity.get())),
            _ => figure.amount(&self.tally),
        }
    }
}
