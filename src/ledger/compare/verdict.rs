use super::{Contrast, NoTestResult, Test};

/// What a comparison of two groups says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The group has significantly more than the first.
    More,
    /// The group has significantly less than the first.
    Less,
    /// No significant difference was found.
    Undecided,
    /// All runs of both groups have the same value.
    Same,
    /// So few runs cannot show a significant difference without an assumption about the distribution.
    TooFew,
}

impl Verdict {
    /// Its name in JSON and CSV.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::More => "more",
            Self::Less => "less",
            Self::Undecided => "undecided",
            Self::Same => "same",
            Self::TooFew => "too_few_runs",
        }
    }

    /// By the t-test where it can be done, else by the permutation test.
    pub(super) fn of(contrast: &Contrast, confidence: f64) -> Self {
        // 1 - 0.95 is a little more than 0.05.
        let level = (1.0 - confidence) * (1.0 + 1e-12);
        let [t_test, permutation] = contrast.deciding();
        let p = match contrast.outcome(t_test) {
            _ if contrast.is_same => return Self::Same,
            _ if contrast.least_p > level => None,
            Some(Ok(result)) => Some(result.p),
            Some(Err(NoTestResult::NoSpread)) => {
                contrast.result(permutation).map(|result| result.p)
            }
            _ => None,
        };
        match p {
            None => Self::TooFew,
            Some(p) if p > level => Self::Undecided,
            Some(_) if contrast.difference > 0.0 => Self::More,
            Some(_) => Self::Less,
        }
    }
}

impl Contrast {
    /// The tests that decide: a t-test, and where that cannot be done a permutation test.
    #[must_use]
    pub fn deciding(&self) -> [Test; 2] {
        if self.pairs.is_some() {
            [Test::PairedTTest, Test::SignFlips]
        } else {
            [Test::Welch, Test::Permutation]
        }
    }

    /// The p-value of the deciding test, and which one it is.
    #[must_use]
    pub fn decided_by(&self) -> Option<(Test, f64)> {
        self.deciding()
            .into_iter()
            .find_map(|test| Some((test, self.result(test)?.p)))
    }
}
