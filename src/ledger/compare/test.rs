use serde::Serialize;

use super::{Resampling, rank, resample, t};

/// The tests that are done for each pair of groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Test {
    /// Student's t-test: both groups have the same variance.
    TTest,
    /// Welch's t-test: each group has its own variance.
    Welch,
    /// The Mann-Whitney U test.
    MannWhitney,
    /// Student's t-test of the ranks.
    RankedTTest,
    /// The percentile bootstrap of the difference of means.
    Bootstrap,
    /// The permutation test of the difference of means.
    Permutation,
}

/// What a test says about the difference between a group and the first group.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TestResult {
    /// The statistic of the test: t, U, or the difference of means.
    pub statistic: f64,
    /// The two-sided p-value.
    pub p: f64,
    /// The confidence interval of the difference of means; not every test has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
}

/// Why a test has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoTestResult {
    /// A group has fewer runs than the test needs.
    #[error("too few runs")]
    TooFew,
    /// All runs have the same value.
    #[error("all runs are the same")]
    NoSpread,
}

impl Test {
    /// All tests, in the order in which they are shown.
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

    /// Its name in JSON and CSV.
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

    /// Compares the values of a group with those of the first group; `confidence` lies between 0 and 1.
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
