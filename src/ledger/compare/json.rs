use std::collections::BTreeMap;

use serde::Serialize;

use super::sentence::verdicts;
use super::{
    Comparison, Contrasts, Environment, Finding, Judged, NoTestResult, Outcome, TestResult,
};
use crate::text::escape;

const SCHEMA: &str = "impact-compare/1";

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    impact_version: &'static str,
    confidence: f64,
    draws: usize,
    seed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    paired_by: Option<&'a str>,
    /// The verdict on the first figure, a sentence for each group but the first, then one if energy is estimated.
    verdict: Vec<String>,
    groups: Vec<GroupEntry<'a>>,
    figures: BTreeMap<&'a str, FigureEntry<'a>>,
    /// Why figures from files are missing, with the number of runs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    missing: &'a BTreeMap<String, usize>,
    same_surroundings: bool,
    surroundings: &'a Environment,
    gates: Vec<GateEntry<'a>>,
}

#[derive(Serialize)]
struct GroupEntry<'a> {
    name: &'a str,
    runs: usize,
}

#[derive(Serialize)]
struct FigureEntry<'a> {
    unit: &'static str,
    meaning: String,
    groups: Vec<MeanEntry<'a>>,
    against_first: Vec<ContrastEntry<'a>>,
}

#[derive(Serialize)]
struct MeanEntry<'a> {
    name: &'a str,
    values: &'a [f64],
    unknown_runs: usize,
    mean: Option<f64>,
    standard_error: Option<f64>,
}

#[derive(Serialize)]
struct ContrastEntry<'a> {
    group: &'a str,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pairs: Option<usize>,
    difference: f64,
    relative_difference: Option<f64>,
    interval: Option<(f64, f64)>,
    effect_size: Option<f64>,
    least_permutation_p: f64,
    detectable_difference: Option<f64>,
    tests: BTreeMap<&'static str, TestEntry<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum TestEntry<'a> {
    Decided(&'a TestResult),
    Undecided { undecided: String },
}

#[derive(Serialize)]
struct GateEntry<'a> {
    option: &'static str,
    condition: &'a str,
    /// None where a figure is not known.
    passed: Option<bool>,
    findings: Vec<FindingEntry<'a>>,
}

#[derive(Serialize)]
struct FindingEntry<'a> {
    /// None where the figure is not known.
    holds: Option<bool>,
    found: &'a str,
}

/// The comparison as JSON, with how it stands to some gates.
#[must_use]
pub fn json(comparison: &Comparison, gates: &[Judged]) -> String {
    let document = Document {
        schema: SCHEMA,
        impact_version: env!("CARGO_PKG_VERSION"),
        confidence: comparison.confidence,
        draws: comparison.resampling.draws,
        seed: comparison.resampling.seed,
        paired_by: comparison.paired_by.as_deref(),
        verdict: verdicts(comparison),
        missing: &comparison.missing,
        groups: comparison
            .groups
            .iter()
            .map(|(name, runs)| GroupEntry { name, runs: *runs })
            .collect(),
        figures: figures(comparison),
        same_surroundings: comparison.environment.same(),
        surroundings: &comparison.environment,
        gates: gates.iter().map(gate).collect(),
    };
    escape::pretty_json(&document).expect("all keys are strings and all numbers are finite")
}

/// The figures by name: values, means and tests.
pub(crate) fn figure_entries(comparison: &Comparison) -> impl Serialize {
    figures(comparison)
}

fn figures(comparison: &Comparison) -> BTreeMap<&str, FigureEntry<'_>> {
    let figures = comparison.figures.iter();
    figures
        .map(|contrasts| (contrasts.figure.name(), figure(contrasts)))
        .collect()
}

fn figure(contrasts: &Contrasts) -> FigureEntry<'_> {
    FigureEntry {
        unit: contrasts.figure.unit(),
        meaning: contrasts.figure.meaning(),
        groups: contrasts
            .groups
            .iter()
            .map(|group| MeanEntry {
                name: &group.name,
                values: &group.values,
                unknown_runs: group.unknown,
                mean: group.moments.map(|moments| moments.mean),
                standard_error: group.moments.and_then(|moments| moments.standard_error()),
            })
            .collect(),
        against_first: contrasts
            .against_first
            .iter()
            .map(|contrast| ContrastEntry {
                group: &contrasts.groups[contrast.group].name,
                verdict: contrast.verdict.id(),
                pairs: contrast.pairs,
                difference: contrast.difference,
                relative_difference: contrast.relative,
                interval: contrast.interval(),
                effect_size: contrast.effect_size,
                least_permutation_p: contrast.least_p,
                detectable_difference: contrast.detectable,
                tests: contrast
                    .tests
                    .iter()
                    .map(|(test, result)| (test.id(), test_entry(result)))
                    .collect(),
            })
            .collect(),
    }
}

fn test_entry(result: &Result<TestResult, NoTestResult>) -> TestEntry<'_> {
    match result {
        Ok(result) => TestEntry::Decided(result),
        Err(why) => TestEntry::Undecided {
            undecided: why.to_string(),
        },
    }
}

fn gate(judged: &Judged) -> GateEntry<'_> {
    GateEntry {
        option: judged.option,
        condition: &judged.condition,
        passed: match judged.outcome {
            Outcome::Passed => Some(true),
            Outcome::Failed => Some(false),
            Outcome::Unknown => None,
        },
        findings: judged.findings.iter().map(finding).collect(),
    }
}

fn finding(finding: &Finding) -> FindingEntry<'_> {
    let (holds, found) = match finding {
        Finding::Holds(found) => (Some(true), found),
        Finding::Fails(found) => (Some(false), found),
        Finding::Unknown(found) => (None, found),
    };
    FindingEntry { holds, found }
}
