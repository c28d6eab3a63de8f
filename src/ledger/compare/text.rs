use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::sentence::{detectable, interval_of, left_out, signed, verdicts, why_not};
use super::{Comparison, Contrast, Contrasts, Environment, Metric, TestResult, Verdict, power};
use crate::text::escape;
use crate::text::number::{counted, p_value, rough};
use crate::text::quantity::{Scale, digits};
use crate::text::table::{Table, UNKNOWN};

/// What is shown beyond the verdict and a table for each figure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Detail {
    /// The result of every test.
    pub tests: bool,
    /// The packages whose versions differ.
    pub packages: bool,
}

/// Plain text: the verdict, a table for each figure, then what differs between the environments of the groups.
#[must_use]
pub fn text(comparison: &Comparison, detail: Detail) -> String {
    let mut out = String::new();
    for verdict in verdicts(comparison) {
        let _ = writeln!(out, "{}", escape::line(&verdict));
    }
    for contrasts in &comparison.figures {
        let _ = writeln!(out, "\n{}", escape::line(&contrasts.figure.meaning()));
        out.push_str(&indent(&figure_table(comparison, contrasts).text()));
        for line in left_out(comparison, contrasts) {
            let _ = writeln!(out, "  {}", escape::line(&line));
        }
        if detail.tests {
            for contrast in &contrasts.against_first {
                let _ = writeln!(out, "\n  {}", escape::line(&against(comparison, contrast)));
                out.push_str(&indent(&indent(&tests(&contrasts.figure, contrast).text())));
            }
        }
    }
    out.push('\n');
    for line in notes(comparison, detail) {
        out.push_str(&escape::line(&line));
        out.push('\n');
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

/// Which two groups a table of tests is about.
pub(super) fn against(comparison: &Comparison, contrast: &Contrast) -> String {
    let labels = &comparison.labels;
    format!("{} against {}", labels[contrast.group], labels[0])
}

/// A row for each group: its mean, and how it differs from the first group.
pub(super) fn figure_table(comparison: &Comparison, contrasts: &Contrasts) -> Table {
    let scale = contrasts.scale();
    let mean = titled("mean", scale);
    let interval = format!("{} % interval", rough(comparison.confidence * 100.0));
    let mut table = Table::new(
        &["group"],
        &[
            "runs",
            &mean,
            "difference",
            &interval,
            "p",
            &titled("standard error", scale),
            "detectable",
        ],
    );
    let labels = &comparison.labels;
    for (index, group) in contrasts.groups.iter().enumerate() {
        let unknown = || UNKNOWN.to_owned();
        let moments = group.moments;
        let figure = &contrasts.figure;
        let contrast = contrasts.of_group(index);
        let about = |tell: &dyn Fn(&Contrast) -> Option<String>| {
            contrast.and_then(tell).unwrap_or_default()
        };
        table.push([
            labels[index].clone(),
            group.values.len().to_string(),
            moments.map_or_else(unknown, |moments| scale.digits(moments.mean)),
            about(&|contrast| Some(signed(figure, contrast))),
            about(&|contrast| interval_of(figure, contrast)),
            about(&|contrast| Some(p(comparison, contrast))),
            moments
                .and_then(|moments| moments.standard_error())
                .map_or_else(unknown, |error| scale.digits(error)),
            about(&|contrast| detectable(figure, contrast)),
        ]);
    }
    table
}

/// The p-value, or why there is none.
pub(crate) fn p(comparison: &Comparison, contrast: &Contrast) -> String {
    match (contrast.verdict, contrast.decided_by()) {
        (Verdict::TooFew, _) => format!("too few {}s", comparison.of),
        (_, Some((test, p))) if test == contrast.deciding()[0] => p_value(p),
        (_, Some((test, p))) => format!("{} ({})", p_value(p), test.name()),
        (_, None) => why_not(contrast).map_or_else(String::new, |why| why.to_string()),
    }
}

/// The title of a column with its unit, if it has one.
pub(crate) fn titled(title: &str, scale: Scale) -> String {
    match scale.unit {
        "" => title.to_owned(),
        unit => format!("{title} ({unit})"),
    }
}

pub(super) fn tests(figure: &Metric, contrast: &Contrast) -> Table {
    let intervals = contrast.tests.iter().filter_map(|(_, result)| {
        let (low, high) = result.ok()?.interval?;
        Some(low.abs().max(high.abs()))
    });
    let largest = intervals.reduce(f64::max);
    let scale = figure.scale(largest.unwrap_or(contrast.difference));
    let of_interval = |title: &str| match largest {
        Some(_) => titled(title, scale),
        None => title.to_owned(),
    };
    let mut table = Table::new(
        &["test"],
        &["statistic", "p", &of_interval("low"), &of_interval("high")],
    );
    for (test, result) in &contrast.tests {
        let name = test.name().to_owned();
        match result {
            Ok(TestResult {
                statistic,
                p,
                interval,
            }) => {
                let (low, high) = match interval {
                    Some((low, high)) => (scale.digits(*low), scale.digits(*high)),
                    None => (String::new(), String::new()),
                };
                let statistic = if test.is_of_means() {
                    scale.amount(*statistic).trim_end().to_owned()
                } else {
                    digits(*statistic)
                };
                table.push([name, statistic, p_value(*p), low, high]);
            }
            Err(why) => table.push([format!("{name} ({why})")]),
        }
    }
    if let Some(effect) = contrast.effect_size {
        table.push(["effect size (Cohen's d)".to_owned(), digits(effect)]);
    }
    table
}

/// How the tables are read, and what differs between the environments of the groups.
pub(super) fn notes(comparison: &Comparison, detail: Detail) -> Vec<String> {
    let test = match comparison.paired_by {
        Some(_) => "the t-test of the differences of pairs",
        None => "Welch's t-test",
    };
    let mut lines = vec![
        format!(
            "p and the interval of the difference are those of {test}; percentages are of the mean of {}.",
            comparison.labels.first().map_or("", String::as_str)
        ),
        format!(
            "detectable: a difference that this test finds in {} % of cases, with so many runs and this spread.",
            rough(power::POWER * 100.0)
        ),
    ];
    if comparison.groups.len() > 2 {
        lines.push("p is not adjusted for the number of groups.".to_owned());
    }
    for (why, runs) in &comparison.missing {
        lines.push(format!("{}: {why}", counted(*runs, "run")));
    }
    lines.extend(environment(&comparison.environment, detail));
    lines
}

/// One line for each difference between the environments of the groups; packages are counted, or listed.
fn environment(environment: &Environment, detail: Detail) -> Vec<String> {
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
            let differ = if aspect.name.ends_with('s') {
                "differ"
            } else {
                "differs"
            };
            let groups = across(&aspect.groups);
            format!("warning: {} {differ}: {groups}", aspect.name)
        })
        .collect();
    let packages = environment.packages.len();
    if detail.packages {
        for (package, groups) in &environment.packages {
            lines.push(format!("package {package} differs: {}", across(groups)));
        }
    } else if packages > 0 {
        let differ = if packages == 1 { "differs" } else { "differ" };
        lines.push(format!(
            "{} {differ}; --environment lists them.",
            counted(packages, "Python package")
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
