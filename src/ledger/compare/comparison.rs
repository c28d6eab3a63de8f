use std::path::PathBuf;

use super::effect_size::effect_size;
use super::{Environment, NoTestResult, Resampling, Test, TestResult};
use crate::ledger::{AccountedRun, Assumptions, Figure, RunSummary};
use crate::units::moments::Moments;

/// Runs that belong together; the first group is the one the others are held against.
#[derive(Debug)]
pub struct Group {
    pub name: String,
    pub runs: Vec<(PathBuf, RunSummary)>,
}

/// What a comparison needs besides the groups.
#[derive(Debug, Clone)]
pub struct Options {
    pub assumptions: Assumptions,
    pub figures: Vec<Figure>,
    /// Between 0 and 1.
    pub confidence: f64,
    pub resampling: Resampling,
}

/// Everything a comparison says, before any format is chosen.
#[derive(Debug)]
pub struct Comparison {
    pub groups: Vec<(String, usize)>,
    pub figures: Vec<Contrasts>,
    pub surroundings: Environment,
    pub confidence: f64,
    pub resampling: Resampling,
}

/// One figure over all groups.
#[derive(Debug)]
pub struct Contrasts {
    pub figure: Figure,
    pub groups: Vec<GroupFigure>,
    /// Every group but the first against the first, where both are known.
    pub against_first: Vec<Contrast>,
}

/// One figure of one group.
#[derive(Debug)]
pub struct GroupFigure {
    pub name: String,
    pub values: Vec<f64>,
    /// Runs whose logs do not tell the figure; not part of the mean.
    pub unknown: usize,
    /// None where no run tells the figure.
    pub moments: Option<Moments>,
}

/// A group against the first.
#[derive(Debug)]
pub struct Contrast {
    /// The place of the group among the groups.
    pub group: usize,
    /// Mean minus mean of the first group.
    pub difference: f64,
    /// The difference as a share of the first group's mean; none where that is 0.
    pub relative: Option<f64>,
    /// Cohen's d; none where nothing spreads.
    pub effect_size: Option<f64>,
    pub tests: Vec<(Test, Result<TestResult, NoTestResult>)>,
}

impl Comparison {
    #[must_use]
    pub fn of(groups: &[Group], options: &Options) -> Self {
        Self {
            groups: groups
                .iter()
                .map(|group| (group.name.clone(), group.runs.len()))
                .collect(),
            figures: options
                .figures
                .iter()
                .map(|figure| Contrasts::of(*figure, groups, options))
                .collect(),
            surroundings: Environment::of(groups),
            confidence: options.confidence,
            resampling: options.resampling,
        }
    }
}

impl Contrasts {
    fn of(figure: Figure, groups: &[Group], options: &Options) -> Self {
        let groups: Vec<GroupFigure> = groups
            .iter()
            .map(|group| GroupFigure::of(figure, group, &options.assumptions))
            .collect();
        let against_first = (1..groups.len())
            .filter_map(|index| Contrast::of(&groups, index, options))
            .collect();
        Self {
            figure,
            groups,
            against_first,
        }
    }
}

impl GroupFigure {
    fn of(figure: Figure, group: &Group, assumptions: &Assumptions) -> Self {
        let values: Vec<f64> = group
            .runs
            .iter()
            .filter_map(|(path, run)| AccountedRun::new(path, run, assumptions).figure(figure))
            .collect();
        Self {
            name: group.name.clone(),
            unknown: group.runs.len() - values.len(),
            moments: Moments::of(&values),
            values,
        }
    }
}

impl Contrast {
    fn of(groups: &[GroupFigure], group: usize, options: &Options) -> Option<Self> {
        let (base, other) = (&groups[0], &groups[group]);
        let (from, to) = (base.moments?, other.moments?);
        let difference = to.mean - from.mean;
        let test = |test: Test| {
            let result = test.run(
                &base.values,
                &other.values,
                options.confidence,
                options.resampling,
            );
            (test, result)
        };
        Some(Self {
            group,
            difference,
            relative: (from.mean != 0.0).then(|| difference / from.mean),
            effect_size: effect_size(&from, &to),
            tests: Test::ALL.map(test).into(),
        })
    }

    /// What one of the tests says.
    #[must_use]
    pub fn result(&self, wanted: Test) -> Option<&TestResult> {
        self.tests
            .iter()
            .find(|(test, _)| *test == wanted)
            .and_then(|(_, result)| result.as_ref().ok())
    }

    /// Where the difference lies, by Welch's test: it assumes the least of those with an interval.
    #[must_use]
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.result(Test::Welch)?.interval
    }
}
