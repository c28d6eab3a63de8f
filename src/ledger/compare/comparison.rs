use std::path::PathBuf;

use super::effect_size::effect_size;
use super::{Environment, NoTestResult, Resampling, Test, TestResult};
use crate::ledger::{AccountedRun, Assumptions, Figure, RunSummary};
use crate::units::moments::Moments;

/// Runs that belong together; all other groups are compared with the first.
#[derive(Debug)]
pub struct Group {
    /// What the user calls the group.
    pub name: String,
    /// The folder and the summary of each run.
    pub runs: Vec<(PathBuf, RunSummary)>,
}

/// What a comparison needs besides the groups.
#[derive(Debug, Clone)]
pub struct Options {
    /// PUE and carbon intensity where the user gives them.
    pub assumptions: Assumptions,
    /// The figures to compare.
    pub figures: Vec<Figure>,
    /// The confidence level of intervals, between 0 and 1.
    pub confidence: f64,
    /// How the bootstrap and the permutation test draw.
    pub resampling: Resampling,
}

/// The result of a comparison, before it is written in some format.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct Comparison {
    /// The name of each group and the number of its runs.
    pub groups: Vec<(String, usize)>,
    /// What was compared.
    pub figures: Vec<Contrasts>,
    /// Whether the groups ran on the same hardware and software.
    pub environment: Environment,
    /// The confidence level of intervals, between 0 and 1.
    pub confidence: f64,
    /// How the bootstrap and the permutation test drew.
    pub resampling: Resampling,
}

/// One figure of all groups.
#[derive(Debug)]
#[non_exhaustive]
pub struct Contrasts {
    /// What is compared.
    pub figure: Figure,
    /// The figure of each group.
    pub groups: Vec<GroupFigure>,
    /// Every other group compared with the first, where both have the figure.
    pub against_first: Vec<Contrast>,
}

/// One figure of one group.
#[derive(Debug)]
#[non_exhaustive]
pub struct GroupFigure {
    /// The name of the group.
    pub name: String,
    /// The figure of each run that has it.
    pub values: Vec<f64>,
    /// How many runs do not have it; they are not part of the mean.
    pub unknown: usize,
    /// Mean and spread; none if no run has the figure.
    pub moments: Option<Moments>,
}

/// A group compared with the first.
#[derive(Debug)]
#[non_exhaustive]
pub struct Contrast {
    /// The index of the group.
    pub group: usize,
    /// Mean of the group minus mean of the first group.
    pub difference: f64,
    /// The difference as a share of the first group's mean; none if that mean is 0.
    pub relative: Option<f64>,
    /// Cohen's d; none if all runs have the same value.
    pub effect_size: Option<f64>,
    /// The result of each test.
    pub tests: Vec<(Test, Result<TestResult, NoTestResult>)>,
}

impl Comparison {
    /// Compares every other group with the first.
    pub fn of(groups: &[Group], options: &Options) -> Self {
        let accounted: Vec<AccountedGroup> = groups
            .iter()
            .map(|group| AccountedGroup::new(group, &options.assumptions))
            .collect();
        Self {
            groups: groups
                .iter()
                .map(|group| (group.name.clone(), group.runs.len()))
                .collect(),
            figures: options
                .figures
                .iter()
                .map(|figure| Contrasts::of(*figure, &accounted, options))
                .collect(),
            environment: Environment::of(groups),
            confidence: options.confidence,
            resampling: options.resampling,
        }
    }
}

/// A group whose footprints are computed once for all figures.
struct AccountedGroup<'a> {
    name: &'a str,
    runs: Vec<AccountedRun<'a>>,
}

impl<'a> AccountedGroup<'a> {
    fn new(group: &'a Group, assumptions: &Assumptions) -> Self {
        let runs = group.runs.iter();
        Self {
            name: &group.name,
            runs: runs
                .map(|(path, run)| AccountedRun::new(path, run, assumptions))
                .collect(),
        }
    }
}

impl Contrasts {
    fn of(figure: Figure, groups: &[AccountedGroup], options: &Options) -> Self {
        let groups: Vec<GroupFigure> = groups
            .iter()
            .map(|group| GroupFigure::of(figure, group))
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
    fn of(figure: Figure, group: &AccountedGroup) -> Self {
        let values: Vec<f64> = group
            .runs
            .iter()
            .filter_map(|run| run.figure(figure))
            .collect();
        Self {
            name: group.name.to_owned(),
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

    /// The result of one of the tests; none if it could not be done.
    #[must_use]
    pub fn result(&self, wanted: Test) -> Option<&TestResult> {
        self.tests
            .iter()
            .find(|(test, _)| *test == wanted)
            .and_then(|(_, result)| result.as_ref().ok())
    }

    /// The confidence interval of the difference by Welch's test, which assumes the least of those with an interval.
    #[must_use]
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.result(Test::Welch)?.interval
    }
}
