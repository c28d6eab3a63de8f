use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{Comparison, Contrast, Contrasts, Environment, NoTestResult, TestResult};
use crate::text::escape;
use crate::text::number::{counted, human, percent};
use crate::text::table::{Table, UNKNOWN};

/// Plain text: a paragraph for each figure, then what differs between the environments of the groups.
#[must_use]
pub fn text(comparison: &Comparison) -> String {
    let mut out = String::new();
    for contrasts in &comparison.figures {
        let figure = contrasts.figure;
        let _ = writeln!(out, "{figure} ({}, {})\n", figure.unit(), figure.meaning());
        out.push_str(&indent(&means(contrasts).text()));
        for contrast in &contrasts.against_first {
            out.push('\n');
            out.push_str(&indent(&sentence(
                contrasts,
                contrast,
                comparison.confidence,
            )));
            out.push_str(&indent(&indent(&tests(contrast).text())));
        }
        out.push('\n');
    }
    for line in environment(&comparison.environment) {
        out.push_str(&escape::line(&line));
        out.push('\n');
    }
    if comparison.groups.len() > 2 {
        out.push_str("p is not adjusted for the number of groups.\n");
    }
    out
}

fn indent(block: &str) -> String {
    let mut out = String::new();
    for line in block.lines() {
        let _ = writeln!(out, "  {line}");
    }
    out
}

pub(super) fn means(contrasts: &Contrasts) -> Table {
    let unit = contrasts.figure.unit();
    let mean = format!("mean ({unit})");
    let mut table = Table::new(&["group"], &["runs", &mean, "standard error"]);
    for group in &contrasts.groups {
        let unknown = || UNKNOWN.to_owned();
        let moments = group.moments;
        table.push([
            group.name.clone(),
            group.values.len().to_string(),
            moments.map_or_else(unknown, |moments| human(moments.mean)),
            moments
                .and_then(|moments| moments.standard_error())
                .map_or_else(unknown, human),
        ]);
    }
    table
}

pub(super) fn tests(contrast: &Contrast) -> Table {
    let mut table = Table::new(&["test"], &["statistic", "p", "low", "high"]);
    for (test, result) in &contrast.tests {
        let name = test.name().to_owned();
        match result {
            Ok(TestResult {
                statistic,
                p,
                interval,
            }) => {
                let (low, high) = match interval {
                    Some((low, high)) => (human(*low), human(*high)),
                    None => (String::new(), String::new()),
                };
                table.push([name, human(*statistic), human(*p), low, high]);
            }
            Err(why) => table.push([format!("{name} ({why})")]),
        }
    }
    table
}

/// What changed, in one sentence.
pub(super) fn sentence(contrasts: &Contrasts, contrast: &Contrast, confidence: f64) -> String {
    let unit = contrasts.figure.unit();
    let name = |group: usize| escape::line(&contrasts.groups[group].name);
    let mut out = format!(
        "{} against {}: {} {unit}",
        name(contrast.group),
        name(0),
        signed(contrast.difference),
    );
    if let Some(relative) = contrast.relative {
        let _ = write!(out, " ({} %)", signed(relative * 100.0));
    }
    if let Some((low, high)) = contrast.interval() {
        let _ = write!(
            out,
            ", {} interval {} to {}",
            percent(confidence),
            signed(low),
            signed(high)
        );
    } else {
        let why = contrast
            .tests
            .iter()
            .find_map(|(_, result)| result.err())
            .unwrap_or(NoTestResult::NoSpread);
        let _ = write!(out, ", no interval ({why})");
    }
    if let Some(effect) = contrast.effect_size {
        let _ = write!(out, ", effect size d = {}", human(effect));
    }
    let unknown = contrasts.groups[0].unknown + contrasts.groups[contrast.group].unknown;
    if unknown > 0 {
        let tell = if unknown == 1 { "does" } else { "do" };
        let unknown = counted(unknown, "run");
        let _ = write!(out, "; {unknown} {tell} not tell this figure");
    }
    out.push('\n');
    out
}

fn signed(value: f64) -> String {
    let text = human(value);
    if value > 0.0 {
        format!("+{text}")
    } else {
        text
    }
}

/// One line for each difference between the environments of the groups.
pub(super) fn environment(environment: &Environment) -> Vec<String> {
    let list = |values: &BTreeSet<String>| {
        if values.is_empty() {
            "not recorded".to_owned()
        } else {
            values.iter().cloned().collect::<Vec<_>>().join(" and ")
        }
    };
    let across = |groups: &[BTreeSet<String>]| {
        let groups: Vec<String> = groups.iter().map(list).collect();
        groups.join(" / ")
    };
    let mut lines: Vec<String> = environment
        .differing()
        .map(|aspect| {
            format!(
                "warning: {} differs: {}",
                aspect.name,
                across(&aspect.groups)
            )
        })
        .collect();
    for (package, groups) in &environment.packages {
        lines.push(format!(
            "warning: package {package} differs: {}",
            across(groups)
        ));
    }
    let unknown: Vec<&str> = environment.unknown().collect();
    if lines.is_empty() {
        lines.push(if unknown.is_empty() {
            "Hardware, driver and software are the same in all groups.".to_owned()
        } else {
            "Nothing that was recorded of hardware, driver and software differs.".to_owned()
        });
    }
    if !unknown.is_empty() {
        lines.push(format!(
            "Not recorded in every group: {}.",
            unknown.join(", ")
        ));
    }
    lines
}
