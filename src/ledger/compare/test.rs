use serde::Serialize;

use super::{Resampling, rank, resample, t};

/// A test of whether two groups of runs differ.
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
    /// The t-test of the differences of pairs.
    PairedTTest,
    /// Wilcoxon's signed-rank test of the differences of pairs.
    SignedRank,
    /// The percentile bootstrap of the mean of the differences of pairs.
    PairedBootstrap,
    /// The permutation test of pairs: the signs of their differences are exchanged.
    SignFlips,
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
    /// The values do not come in pairs.
    #[error("no pairs")]
    NoPairs,
}

impl Test {
    /// The tests of runs that are not paired, in the order in which they are shown.
    pub const ALL: [Self; 6] = [
        Self::TTest,
        Self::Welch,
        Self::MannWhitney,
        Self::RankedTTest,
        Self::Bootstrap,
        Self::Permutation,
    ];

    /// The tests of pairs, in the order in which they are shown.
    pub const PAIRED: [Self; 4] = [
        Self::PairedTTest,
        Self::SignedRank,
        Self::PairedBootstrap,
        Self::SignFlips,
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
            Self::PairedTTest => "paired t-test",
            Self::SignedRank => "Wilcoxon signed-rank",
            Self::PairedBootstrap => "bootstrap of pairs",
            Self::SignFlips => "permutation of signs",
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
            Self::PairedTTest => "paired_t_test",
            Self::SignedRank => "signed_rank",
            Self::PairedBootstrap => "paired_bootstrap",
            Self::SignFlips => "sign_flips",
        }
    }

    /// Whether its statistic is the difference of means, which has the unit of the figure.
    pub(super) fn is_of_means(self) -> bool {
        matches!(
            self,
            Self::Bootstrap | Self::Permutation | Self::PairedBootstrap | Self::SignFlips
        )
    }

    /// Compares the values of a group with those of the first group; `confidence` lies between 0 and 1.
    ///
    /// The tests of pairs take values at the same place as a pair.
    pub fn run(
        self,
        base: &[f64],
        other: &[f64],
        confidence: f64,
        resampling: Resampling,
    ) -> Result<TestResult, NoTestResult> {
        let differences = || -> Result<Vec<f64>, NoTestResult> {
            if base.len() != other.len() {
                return Err(NoTestResult::NoPairs);
            }
            let pairs = base.iter().zip(other);
            Ok(pairs.map(|(base, other)| other - base).collect())
        };
        match self {
            Self::TTest => t::student(base, other, confidence),
            Self::Welch => t::welch(base, other, confidence),
            Self::MannWhitney => rank::mann_whitney(base, other),
            Self::RankedTTest => rank::ranked_t(base, other, confidence),
            Self::Bootstrap => resample::bootstrap(base, other, confidence, resampling),
            Self::Permutation => resample::permutation(base, other, resampling),
            Self::PairedTTest => t::paired(&differences()?, confidence),
            Self::SignedRank => rank::signed_rank(&differences()?),
            Self::PairedBootstrap => {
                resample::paired_bootstrap(&differences()?, confidence, resampling)
            }
            Self::SignFlips => resample::sign_flips(&differences()?, resampling),
        }
    }
}
