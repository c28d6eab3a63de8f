use std::collections::BTreeMap;

use serde::Serialize;

use super::gate::{Condition, Finding};
use super::{Comparison, Contrasts, Environment, TestResult};
use crate::text::escape;

const SCHEMA: &str = "impact-compare/1";

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    impact_version: &'static str,
    confidence: f64,
    draws: usize,
    seed: u64,
    groups: Vec<GroupEntry<'a>>,
    figures: BTreeMap<&'static str, FigureEntry<'a>>,
    same_surroundings: bool,
    surroundings: &'a Environment,
    gates: Vec<GateEntry>,
}

#[derive(Serialize)]
struct GroupEntry<'a> {
    name: &'a str,
    runs: usize,
}

#[derive(Serialize)]
struct FigureEntry<'a> {
    unit: &'static str,
    meaning: &'static str,
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
    difference: f64,
    relative_difference: Option<f64>,
    interval: Option<(f64, f64)>,
    effect_size: Option<f64>,
    tests: BTreeMap<&'static str, TestEntry<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum TestEntry<'a> {
    Decided(&'a TestResult),
    Undecided { undecided: String },
}

#[derive(Serialize)]
struct GateEntry {
    condition: String,
    findings: Vec<FindingEntry>,
}

#[derive(Serialize)]
struct FindingEntry {
    /// None where the figure is not known.
    holds: Option<bool>,
    found: String,
}

/// The comparison as JSON, with how the groups stand to some conditions.
#[must_use]
pub fn json(comparison: &Comparison, conditions: &[&Condition]) -> String {
    let document = Document {
        schema: SCHEMA,
        impact_version: env!("CARGO_PKG_VERSION"),
        confidence: comparison.confidence,
        draws: comparison.resampling.draws,
        seed: comparison.resampling.seed,
        groups: comparison
            .groups
            .iter()
            .map(|(name, runs)| GroupEntry { name, runs: *runs })
            .collect(),
        figures: comparison
            .figures
            .iter()
            .map(|contrasts| (contrasts.figure.name(), figure(contrasts)))
            .collect(),
        same_surroundings: comparison.environment.same(),
        surroundings: &comparison.environment,
        gates: conditions
            .iter()
            .map(|condition| GateEntry {
                condition: condition.to_string(),
                findings: condition
                    .judge(comparison)
                    .into_iter()
                    .map(finding)
                    .collect(),
            })
            .collect(),
    };
    escape::pretty_json(&document).expect("all keys are strings and all numbers are finite")
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
                difference: contrast.difference,
                relative_difference: contrast.relative,
                interval: contrast.interval(),
                effect_size: contrast.effect_size,
                tests: contrast
                    .tests
                    .iter()
                    .map(|(test, result)| (test.id(), test_entry(result)))
                    .collect(),
            })
            .collect(),
    }
}

fn test_entry(result: &Result<TestResult, crate::ledger::compare::NoTestResult>) -> TestEntry<'_> {
    match result {
        Ok(result) => TestEntry::Decided(result),
        Err(why) => TestEntry::Undecided {
            undecided: why.to_string(),
        },
    }
}

fn finding(finding: Finding) -> FindingEntry {
    let (holds, found) = match finding {
        Finding::Holds(found) => (Some(true), found),
        Finding::Fails(found) => (Some(false), found),
        Finding::Unknown(found) => (None, found),
    };
    FindingEntry { holds, found }
}
