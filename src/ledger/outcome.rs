use std::collections::BTreeMap;
use std::str::FromStr;

use crate::units::Energy;

/// How the command of a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum RunOutcome {
    /// With exit code 0.
    Succeeded,
    /// With another exit code, or by a signal.
    Failed,
    /// The log does not say: it has no end, or its command was not started by the tracker.
    Unknown,
}

impl RunOutcome {
    /// The outcome that an exit code tells.
    #[must_use]
    pub fn of(exit_code: Option<i32>) -> Self {
        match exit_code {
            Some(0) => Self::Succeeded,
            Some(_) => Self::Failed,
            None => Self::Unknown,
        }
    }
}

/// Runs and their energy by how they ended. Merging is exact.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcomes(BTreeMap<RunOutcome, (u64, Energy)>);

impl Outcomes {
    /// Those of one run.
    #[must_use]
    pub fn of(outcome: RunOutcome, energy: Energy) -> Self {
        Self(BTreeMap::from([(outcome, (1, energy))]))
    }

    /// Adds other runs.
    pub fn add(&mut self, other: Self) {
        for (outcome, (runs, energy)) in other.0 {
            let mine = self.0.entry(outcome).or_default();
            mine.0 += runs;
            mine.1 += energy;
        }
    }

    /// The share of the energy that runs used whose command failed; none where there is no energy.
    #[must_use]
    pub fn failed_share(&self) -> Option<f64> {
        let total: Energy = self.0.values().map(|(_, energy)| *energy).sum();
        let (_, failed) = self.get(RunOutcome::Failed);
        (total > Energy::ZERO).then(|| failed.kwh() / total.kwh())
    }

    /// How many runs ended like this, and their energy with PUE.
    pub fn get(&self, outcome: RunOutcome) -> (u64, Energy) {
        self.0.get(&outcome).copied().unwrap_or_default()
    }
}

/// Which runs are wanted, by how they ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Only {
    /// Those that succeeded.
    Succeeded,
    /// Those that failed.
    Failed,
}

impl Only {
    /// Whether a run with this outcome is wanted.
    #[must_use]
    pub fn keeps(self, outcome: RunOutcome) -> bool {
        match self {
            Self::Succeeded => outcome == RunOutcome::Succeeded,
            Self::Failed => outcome == RunOutcome::Failed,
        }
    }

    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
        }
    }
}

/// A word that is neither.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected succeeded or failed")]
pub struct NoSuchOutcome;

impl FromStr for Only {
    type Err = NoSuchOutcome;
    fn from_str(text: &str) -> Result<Self, NoSuchOutcome> {
        [Self::Succeeded, Self::Failed]
            .into_iter()
            .find(|only| only.name() == text)
            .ok_or(NoSuchOutcome)
    }
}
