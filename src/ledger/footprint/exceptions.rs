use super::{Assumptions, RunSummary};
use crate::text::number::counted;

/// Counts the runs that a data set or a basis that was asked for does not apply to.
///
/// Intensities recorded with the samples are better than any average and are kept, unless they count other emissions than
/// those asked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Exceptions {
    runs: usize,
    kept: usize,
    of_another_basis: usize,
}

impl Exceptions {
    /// Counts this run.
    pub fn count(&mut self, run: &RunSummary, assumptions: &Assumptions) {
        let is_kept = assumptions.recorded(run).is_some();
        self.runs += 1;
        self.kept += usize::from(is_kept);
        self.of_another_basis += usize::from(run.carbon.is_some() && !is_kept);
    }

    /// A sentence for each option that does not apply to all runs.
    #[must_use]
    pub fn words(self, assumptions: &Assumptions) -> Vec<String> {
        let runs = |count| counted(count, "run");
        let dataset = assumptions
            .dataset
            .filter(|_| self.kept > 0 && assumptions.emissions_factor.is_none());
        let dataset = dataset.map(|dataset| {
            format!(
                "--dataset {} does not apply to {} of {}; intensities recorded while a run went on are kept",
                dataset.name(),
                self.kept,
                runs(self.runs)
            )
        });
        let basis = assumptions.emissions.filter(|_| self.of_another_basis > 0);
        let basis = basis.map(|basis| {
            format!(
                "--basis {}: the intensities recorded while {} went on have another or no known basis; \
                 yearly averages are used instead",
                basis.name(),
                runs(self.of_another_basis)
            )
        });
        dataset.into_iter().chain(basis).collect()
    }
}
