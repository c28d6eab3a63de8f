use serde::Serialize;

use super::{Resampling, rank, resample, t};

/// The tests that every two groups are put to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Test {
    TTest,
    Welch,
    MannWhitney,
    RankedTTest,
    Bootstrap,
    Permutation,
}

/// What a test says of the difference between a group and its baseline.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TestResult {
    /// The test's own: t, U, or the difference of means.
    pub statistic: f64,
    /// How likely so large a difference is where there is none, on either side.
    pub p: f64,
    /// Where the difference of means lies, with the confidence asked for; not every test says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
}

/// Why a test has nothing to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoTestResult {
    #[error("too few runs")]
    TooFew,
    #[error("all runs are the same")]
    NoSpread,
}

impl Test {
    pub const ALL: [Self; 6] = [
        Self::TTest,
        Self::Welch,
        Self::MannWhitney,
        Self::RankedTTest,
        Self::Bootstrap,
        Self::Permutation,
    ];

    /// What people call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::TTest => "t-test",
            Self::Welch => "Welch's t-test",
            Self::MannWhitney => "Mann-Whitney U",
            Self::RankedTTest => "ranked t-test",
            Self::Bootstrap => "bootstrap",
            Self::Permutation => "permutation",
        }
    }

    /// What it is called in tables for machines.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::TTest => "t_test",
            Self::Welch => "welch",
            Self::MannWhitney => "mann_whitney",
            Self::RankedTTest => "ranked_t_test",
            Self::Bootstrap => "bootstrap",
            Self::Permutation => "permutation",
        }
    }

    /// Puts a group to the test against its baseline; `confidence` lies between 0 and 1.
    pub fn run(
        self,
        base: &[f64],
        other: &[f64],
        confidence: f64,
        resampling: Resampling,
    ) -> Result<TestResult, NoTestResult> {
        match self {
            Self::TTest => t::student(base, other, confidence),
            Self::Welch => t::welch(base, other, confidence),
            Self::MannWhitney => rank::mann_whitney(base, other),
            Self::RankedTTest => rank::ranked_t(base, other, confidence),
            Self::Bootstrap => resample::bootstrap(base, other, confidence, resampling),
            Self::Permutation => resample::permutation(base, other, resampling),
        }
    }
}
