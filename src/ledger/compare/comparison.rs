use std::collections::BTreeMap;
use std::path::PathBuf;

use super::effect_size::effect_size;
use super::{
    Environment, Metric, NoTestResult, OwnFigures, Resampling, Test, TestResult, Verdict, power,
    resample, t,
};
use crate::ledger::{AccountedRun, Assumptions, Figure, RunSummary};
use crate::text::quantity::Scale;
use crate::units::moments::Moments;

/// Runs that belong together; all other groups are compared with the first.
#[derive(Debug)]
pub struct Group {
    /// What the user calls the group.
    pub name: String,
    /// A shorter name for people.
    pub label: String,
    /// The folder and the summary of each run.
    pub runs: Vec<(PathBuf, RunSummary)>,
}

/// What a comparison needs besides the groups.
#[derive(Debug, Clone)]
pub struct Options {
    /// PUE and carbon intensity where the user gives them.
    pub assumptions: Assumptions,
    /// The figures to compare.
    pub figures: Vec<Metric>,
    /// Figures from files beside the logs.
    pub own: OwnFigures,
    /// The tag whose value runs of a pair have in common; none where runs are not paired.
    pub paired_by: Option<String>,
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
    /// What people call each group.
    pub labels: Vec<String>,
    /// What was compared.
    pub figures: Vec<Contrasts>,
    /// Whether the groups ran on the same hardware and software.
    pub environment: Environment,
    /// Why figures from files are missing, with the number of runs.
    pub missing: BTreeMap<String, usize>,
    /// The tag by which runs were paired.
    pub paired_by: Option<String>,
    /// The confidence level of intervals, between 0 and 1.
    pub confidence: f64,
    /// How the bootstrap and the permutation test drew.
    pub resampling: Resampling,
    /// The number of runs whose energy is not all measured.
    pub estimated: usize,
    /// What one value of a figure is of: a run, or a sample of several.
    pub(super) of: &'static str,
}

/// One figure of all groups.
#[derive(Debug)]
#[non_exhaustive]
pub struct Contrasts {
    /// What is compared.
    pub figure: Metric,
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
    /// The figure by the value of the tag that pairs runs.
    by_tag: BTreeMap<String, f64>,
}

/// A group compared with the first.
#[derive(Debug)]
#[non_exhaustive]
pub struct Contrast {
    /// The index of the group.
    pub group: usize,
    /// The number of pairs, if runs are paired; only they are compared.
    pub pairs: Option<usize>,
    /// Mean of the group minus mean of the first group.
    pub difference: f64,
    /// The mean of the first group, of paired runs only if runs are paired.
    pub base: f64,
    /// The difference as a share of the first group's mean; none if that mean is 0.
    pub relative: Option<f64>,
    /// Cohen's d; none if all runs have the same value.
    pub effect_size: Option<f64>,
    /// The smallest p that a permutation test of so many runs can have.
    pub least_p: f64,
    /// The smallest difference that the t-test would find with the probability [`power::POWER`].
    pub detectable: Option<f64>,
    /// The result of each test.
    pub tests: Vec<(Test, Result<TestResult, NoTestResult>)>,
    /// Whether all runs of both groups have the same value.
    pub(super) is_same: bool,
    /// What the tests say.
    pub verdict: Verdict,
}

impl Comparison {
    /// Compares every other group with the first.
    pub fn of(groups: &[Group], options: &Options) -> Self {
        let mut missing = BTreeMap::new();
        let accounted: Vec<AccountedGroup> = groups
            .iter()
            .map(|group| AccountedGroup::new(group, options, &mut missing))
            .collect();
        Self {
            groups: groups
                .iter()
                .map(|group| (group.name.clone(), group.runs.len()))
                .collect(),
            labels: groups.iter().map(|group| group.label.clone()).collect(),
            figures: options
                .figures
                .iter()
                .map(|figure| Contrasts::of(figure, &accounted, options))
                .collect(),
            environment: Environment::of(groups),
            missing,
            paired_by: options.paired_by.clone(),
            confidence: options.confidence,
            resampling: options.resampling,
            estimated: accounted.iter().map(AccountedGroup::estimated).sum(),
            of: "run",
        }
    }

    /// Compares the samples of a benchmark; the values of a figure are in the order of the labels.
    pub(crate) fn of_samples(
        labels: Vec<String>,
        figures: Vec<(Metric, Vec<Vec<Option<f64>>>)>,
        confidence: f64,
        resampling: Resampling,
    ) -> Self {
        let counts = figures.first().map(|(_, groups)| groups);
        let counts = counts.into_iter().flatten().map(Vec::len);
        let groups = labels.iter().cloned().zip(counts).collect();
        let contrasts = |(figure, groups): (Metric, Vec<Vec<Option<f64>>>)| {
            let groups = labels.iter().zip(groups).map(|(name, values)| {
                GroupFigure::new(name, values.into_iter().map(|value| (None, value)))
            });
            Contrasts::new(figure, groups.collect(), false, confidence, resampling)
        };
        Self {
            groups,
            figures: figures.into_iter().map(contrasts).collect(),
            environment: Environment::default(),
            missing: BTreeMap::new(),
            paired_by: None,
            confidence,
            resampling,
            // A benchmark says itself how each device was measured.
            estimated: 0,
            of: "sample",
            labels,
        }
    }
}

/// A group whose footprints are computed once for all figures.
struct AccountedGroup<'a> {
    name: &'a str,
    runs: Vec<OneRun<'a>>,
}

struct OneRun<'a> {
    accounted: AccountedRun<'a>,
    /// Its figures from files.
    own: BTreeMap<String, f64>,
    /// The value of the tag that pairs runs.
    tag: Option<&'a str>,
}

impl<'a> AccountedGroup<'a> {
    fn new(group: &'a Group, options: &Options, missing: &mut BTreeMap<String, usize>) -> Self {
        let runs = group.runs.iter().map(|(path, run)| {
            let accounted = AccountedRun::new(path, run, &options.assumptions);
            let (own, why) = options.own.of(&accounted, path);
            for why in why {
                *missing.entry(why).or_default() += 1;
            }
            let tag = options.paired_by.as_ref();
            OneRun {
                accounted,
                own,
                tag: tag.and_then(|tag| run.tags.get(tag)).map(String::as_str),
            }
        });
        Self {
            name: &group.name,
            runs: runs.collect(),
        }
    }

    fn estimated(&self) -> usize {
        let share = |run: &OneRun| run.accounted.figure(Figure::MeasuredShare);
        let shares = self.runs.iter().filter_map(share);
        shares.filter(|share| *share < 1.0).count()
    }
}

impl OneRun<'_> {
    fn figure(&self, metric: &Metric) -> Option<f64> {
        match metric {
            Metric::Figure(figure) => self.accounted.figure(*figure),
            Metric::Work(wanted) => {
                let mut work = self.accounted.work();
                let (_, work) = work.find(|(name, _)| name == wanted)?;
                Some(work.joules_per_unit)
            }
            Metric::Own(name) => self.own.get(name).copied(),
            // A log is of one run, not of a sample of a benchmark.
            Metric::Bench(_) => None,
        }
    }
}

impl Contrasts {
    fn of(figure: &Metric, groups: &[AccountedGroup], options: &Options) -> Self {
        let groups = groups
            .iter()
            .map(|group| GroupFigure::of(figure, group))
            .collect();
        let are_paired = options.paired_by.is_some();
        let figure = figure.clone();
        Self::new(
            figure,
            groups,
            are_paired,
            options.confidence,
            options.resampling,
        )
    }

    fn new(
        figure: Metric,
        groups: Vec<GroupFigure>,
        are_paired: bool,
        confidence: f64,
        resampling: Resampling,
    ) -> Self {
        let contrast = |index| Contrast::of(&groups, index, are_paired, confidence, resampling);
        let against_first = (1..groups.len()).filter_map(contrast).collect();
        Self {
            figure,
            groups,
            against_first,
        }
    }

    /// The unit for people that fits the largest mean.
    pub(crate) fn scale(&self) -> Scale {
        let means = self.groups.iter().filter_map(|group| group.moments);
        let largest = means.map(|moments| moments.mean.abs()).fold(0.0, f64::max);
        self.figure.scale(largest)
    }

    /// How a group differs from the first; none for the first, and where one of the two lacks the figure.
    #[must_use]
    pub fn of_group(&self, group: usize) -> Option<&Contrast> {
        let mut contrasts = self.against_first.iter();
        contrasts.find(|contrast| contrast.group == group)
    }
}

impl GroupFigure {
    fn of(figure: &Metric, group: &AccountedGroup) -> Self {
        let runs = group.runs.iter();
        Self::new(group.name, runs.map(|run| (run.tag, run.figure(figure))))
    }

    /// From the tag and the value of each run.
    fn new<'a>(name: &str, runs: impl Iterator<Item = (Option<&'a str>, Option<f64>)>) -> Self {
        let mut values = Vec::new();
        let mut by_tag = BTreeMap::new();
        let mut unknown = 0;
        for (tag, value) in runs {
            let Some(value) = value else {
                unknown += 1;
                continue;
            };
            values.push(value);
            by_tag.extend(tag.map(|tag| (tag.to_owned(), value)));
        }
        Self {
            name: name.to_owned(),
            unknown,
            moments: Moments::of(&values),
            by_tag,
            values,
        }
    }
}

/// The values of two groups, and what the tests need to know of them.
struct Compared {
    base: Vec<f64>,
    other: Vec<f64>,
    /// Whether values at the same place are a pair.
    are_pairs: bool,
    /// The standard error of the difference and its degrees of freedom.
    error: Option<(f64, f64)>,
    least_p: f64,
}

impl Compared {
    fn groups(base: &GroupFigure, other: &GroupFigure) -> Self {
        let moments = base.moments.zip(other.moments);
        Self {
            error: moments.and_then(|(base, other)| t::welch_error(&base, &other)),
            least_p: resample::least_p(base.values.len(), other.values.len()),
            base: base.values.clone(),
            other: other.values.clone(),
            are_pairs: false,
        }
    }

    fn pairs(base: &GroupFigure, other: &GroupFigure) -> Self {
        let (base, other): (Vec<f64>, Vec<f64>) = base
            .by_tag
            .iter()
            .filter_map(|(tag, base)| Some((*base, *other.by_tag.get(tag)?)))
            .unzip();
        let differences: Vec<f64> = base.iter().zip(&other).map(|(a, b)| b - a).collect();
        Self {
            error: Moments::of(&differences)
                .and_then(|of| Some((of.standard_error()?, (of.count - 1) as f64))),
            least_p: resample::least_p_of_pairs(base.len()),
            base,
            other,
            are_pairs: true,
        }
    }

    fn are_same(&self) -> bool {
        let first = self.base.first().copied().unwrap_or_default();
        let mut values = self.base.iter().chain(&self.other);
        values.all(|value| (value - first).abs() <= first.abs() * 1e-12)
    }
}

impl Contrast {
    fn of(
        groups: &[GroupFigure],
        group: usize,
        are_paired: bool,
        confidence: f64,
        resampling: Resampling,
    ) -> Option<Self> {
        let compared = if are_paired {
            Compared::pairs(&groups[0], &groups[group])
        } else {
            Compared::groups(&groups[0], &groups[group])
        };
        let Compared { base, other, .. } = &compared;
        let (from, to) = (Moments::of(base)?, Moments::of(other)?);
        let tests: &[Test] = if compared.are_pairs {
            &Test::PAIRED
        } else {
            &Test::ALL
        };
        let outcome = |test: &Test| {
            let result = test.run(base, other, confidence, resampling);
            (*test, result)
        };
        let difference = to.mean - from.mean;
        let mut contrast = Self {
            group,
            pairs: compared.are_pairs.then_some(base.len()),
            difference,
            base: from.mean,
            relative: (from.mean != 0.0).then(|| difference / from.mean),
            effect_size: effect_size(&from, &to),
            least_p: compared.least_p,
            detectable: compared
                .error
                .and_then(|(error, freedom)| power::detectable(error, freedom, confidence)),
            tests: tests.iter().map(outcome).collect(),
            is_same: compared.are_same(),
            verdict: Verdict::Undecided,
        };
        contrast.verdict = Verdict::of(&contrast, confidence);
        Some(contrast)
    }

    /// What came out of one of the tests; none if it does not suit these runs.
    pub(super) fn outcome(&self, wanted: Test) -> Option<Result<TestResult, NoTestResult>> {
        let mut tests = self.tests.iter();
        let (_, outcome) = tests.find(|(test, _)| *test == wanted)?;
        Some(*outcome)
    }

    /// The result of one of the tests; none if it could not be done.
    #[must_use]
    pub fn result(&self, wanted: Test) -> Option<TestResult> {
        self.outcome(wanted)?.ok()
    }

    /// The confidence interval of the difference by Welch's test, or by the paired t-test.
    #[must_use]
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.result(self.deciding()[0])?.interval
    }
}
