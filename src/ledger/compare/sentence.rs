//! What a comparison says, in sentences.

use super::{Comparison, Contrast, Contrasts, Metric, NoTestResult, Test, Verdict, power};
use crate::ledger::Figure;
use crate::ledger::bench::BenchFigure;
use crate::text::number::{change, counted, p_value, rough};
use crate::text::quantity::Scale;

/// The first thing to read: how each group differs from the first in the first figure, and how well that is known.
#[must_use]
pub fn verdicts(comparison: &Comparison) -> Vec<String> {
    let labels = &comparison.labels;
    let Some(contrasts) = comparison.figures.first() else {
        return Vec::new();
    };
    let groups = 1..contrasts.groups.len();
    let verdicts = groups.map(|group| match contrasts.of_group(group) {
        Some(contrast) => verdict(comparison, contrasts, contrast, labels),
        None => unknown(comparison, contrasts, group, labels),
    });
    verdicts.chain(estimated(comparison)).collect()
}

fn estimated(comparison: &Comparison) -> Option<String> {
    let all: usize = comparison.groups.iter().map(|(_, runs)| runs).sum();
    match comparison.estimated {
        0 => None,
        some => Some(format!(
            "The energy of {some} of {} is estimated at least in part, not measured.",
            counted(all, "run")
        )),
    }
}

/// Why a group cannot be compared with the first.
fn unknown(
    comparison: &Comparison,
    contrasts: &Contrasts,
    group: usize,
    labels: &[String],
) -> String {
    let about = &contrasts.figure;
    let of = |group: usize| contrasts.groups[group].moments.is_none();
    let whose = match (of(0), of(group)) {
        (true, false) => labels[0].clone(),
        (false, true) => labels[group].clone(),
        (true, true) => format!("{} and {}", labels[0], labels[group]),
        (false, false) => {
            let tag = comparison.paired_by.as_deref().unwrap_or_default();
            let (group, base) = (&labels[group], &labels[0]);
            return format!("No run of {group} has the same {tag} as a run of {base}.");
        }
    };
    format!("The {about} of {whose} is not known.")
}

fn verdict(
    comparison: &Comparison,
    contrasts: &Contrasts,
    contrast: &Contrast,
    labels: &[String],
) -> String {
    let (group, base) = (&labels[contrast.group], &labels[0]);
    let figure = &contrasts.figure;
    let runs = runs(comparison, contrasts, contrast);
    let evidence = [
        interval(comparison, contrasts, contrast),
        Some(runs.clone()),
        p(contrast),
    ];
    let evidence: Vec<String> = evidence.into_iter().flatten().collect();
    let evidence = evidence.join("; ");
    match contrast.verdict {
        Verdict::More | Verdict::Less => {
            let amount = amount(figure, contrast);
            format!(
                "{} ({evidence}).",
                differs(figure, contrast, [group, base], &amount)
            )
        }
        Verdict::Undecided => {
            let amount = signed(figure, contrast);
            format!(
                "No significant difference in {figure} between {group} and {base}: {amount} ({evidence}).{}",
                would_be_found(comparison, figure, contrast)
            )
        }
        Verdict::Same => {
            format!(
                "{group} and {base} have the same {figure} in every {} ({runs}).",
                comparison.of
            )
        }
        Verdict::TooFew => {
            let amount = signed(figure, contrast);
            let level = 1.0 - comparison.confidence;
            let of = comparison.of;
            let wanted = enough(contrast.pairs.is_some(), level, of);
            format!(
                "Too few {of}s to tell whether {group} and {base} differ in {figure}: {amount} ({runs}). \
                 The smallest p that a permutation test can have here is {}; it takes {wanted} for p below {}.{}",
                p_value(contrast.least_p),
                p_value(level),
                would_be_found(comparison, figure, contrast)
            )
        }
    }
}

/// `candidate used 51 % more energy than baseline`
fn differs(
    figure: &Metric,
    contrast: &Contrast,
    [group, base]: [&String; 2],
    amount: &str,
) -> String {
    let is_more = contrast.difference > 0.0;
    let verb = match figure {
        Metric::Figure(Figure::Emissions) => "emitted",
        Metric::Figure(Figure::Duration) | Metric::Bench(BenchFigure::Time) => "took",
        Metric::Figure(Figure::CarbonIntensity | Figure::MeasuredShare)
        | Metric::Own(_)
        | Metric::Bench(BenchFigure::Power | BenchFigure::Edp | BenchFigure::Ed2p) => {
            let than = if is_more { "higher" } else { "lower" };
            return format!("The {figure} of {group} is {amount} {than} than that of {base}");
        }
        Metric::Figure(_) | Metric::Work(_) | Metric::Bench(_) => "used",
    };
    let than = if is_more { "more" } else { "less" };
    format!("{group} {verb} {amount} {than} {figure} than {base}")
}

/// The difference without its sign: in percent, or in the unit where the first group has 0.
fn amount(figure: &Metric, contrast: &Contrast) -> String {
    match contrast.relative {
        Some(relative) => format!("{} %", rough(relative.abs() * 100.0)),
        None => figure.amount(contrast.difference.abs()),
    }
}

/// The difference with its sign.
pub(crate) fn signed(figure: &Metric, contrast: &Contrast) -> String {
    if let Some(relative) = contrast.relative {
        return format!("{} %", change(relative));
    }
    let scale = figure.scale(contrast.difference);
    with_unit(&plus(contrast.difference, scale), scale)
}

/// The interval of the difference as a share of the first group's mean; in the unit where that is 0.
pub(crate) fn interval_of(figure: &Metric, contrast: &Contrast) -> Option<String> {
    let (low, high) = contrast.interval()?;
    Some(if contrast.relative.is_some() {
        let share = |bound: f64| bound / contrast.base;
        let (low, high) = (share(low), share(high));
        let (low, high) = (low.min(high), low.max(high));
        format!("{} to {} %", change(low), change(high))
    } else {
        let scale = figure.scale(low.abs().max(high.abs()));
        with_unit(
            &format!("{} to {}", plus(low, scale), plus(high, scale)),
            scale,
        )
    })
}

fn plus(value: f64, scale: Scale) -> String {
    let text = scale.digits(value);
    if value > 0.0 {
        format!("+{text}")
    } else {
        text
    }
}

fn with_unit(number: &str, scale: Scale) -> String {
    format!("{number} {}", scale.unit).trim_end().to_owned()
}

fn interval(comparison: &Comparison, contrasts: &Contrasts, contrast: &Contrast) -> Option<String> {
    let confidence = rough(comparison.confidence * 100.0);
    let interval = interval_of(&contrasts.figure, contrast)?;
    Some(format!("{confidence} % interval {interval}"))
}

/// `5 against 5 runs`
fn runs(comparison: &Comparison, contrasts: &Contrasts, contrast: &Contrast) -> String {
    let count = |group: usize| contrasts.groups[group].values.len();
    if let (Some(pairs), Some(tag)) = (contrast.pairs, &comparison.paired_by) {
        return format!("{} by {tag}", counted(pairs, "pair"));
    }
    let base = counted(count(0), comparison.of);
    format!("{} against {base}", count(contrast.group))
}

fn p(contrast: &Contrast) -> Option<String> {
    let (test, p) = contrast.decided_by()?;
    let name = match test {
        Test::Welch => "Welch",
        test => test.name(),
    };
    Some(format!("{name} p = {}", p_value(p)))
}

fn would_be_found(comparison: &Comparison, figure: &Metric, contrast: &Contrast) -> String {
    detectable(figure, contrast).map_or_else(String::new, |amount| {
        let often = rough(power::POWER * 100.0);
        let of = comparison.of;
        format!(
            " With this spread, and if the values are normally distributed, so many {of}s show a difference of {amount} in \
             {often} % of cases."
        )
    })
}

/// The smallest difference that the t-test would find.
pub(super) fn detectable(figure: &Metric, contrast: &Contrast) -> Option<String> {
    let detectable = contrast.detectable?;
    Some(if contrast.base == 0.0 {
        figure.amount(detectable)
    } else {
        format!("{} %", rough((detectable / contrast.base).abs() * 100.0))
    })
}

/// How many runs a permutation test needs to be significant.
fn enough(are_paired: bool, level: f64, of: &str) -> String {
    let level = level * (1.0 + 1e-12);
    let is_enough = |runs: &usize| {
        let least = if are_paired {
            super::resample::least_p_of_pairs(*runs)
        } else {
            super::resample::least_p(*runs, *runs)
        };
        least <= level
    };
    let runs = (1..1000).find(is_enough).unwrap_or(1000);
    if are_paired {
        counted(runs, "pair")
    } else {
        format!("{runs} against {runs} {of}s")
    }
}

/// How many runs are not part of a comparison, and why.
#[must_use]
pub(super) fn left_out(comparison: &Comparison, contrasts: &Contrasts) -> Vec<String> {
    let mut lines = Vec::new();
    let unknown: usize = contrasts.groups.iter().map(|group| group.unknown).sum();
    if unknown > 0 {
        let have = if unknown == 1 { "has" } else { "have" };
        lines.push(format!("{} {have} no such figure", counted(unknown, "run")));
    }
    if let Some(tag) = &comparison.paired_by {
        for contrast in &contrasts.against_first {
            let runs =
                contrasts.groups[contrast.group].values.len() + contrasts.groups[0].values.len();
            let alone = runs - 2 * contrast.pairs.unwrap_or(0);
            if alone > 0 {
                let have = if alone == 1 { "has" } else { "have" };
                let label = &comparison.labels[contrast.group];
                lines.push(format!(
                    "{} {have} no partner with the same {tag} in the comparison with {label}",
                    counted(alone, "run")
                ));
            }
        }
    }
    lines
}

/// Why a test has no result, for a table.
pub(super) fn why_not(contrast: &Contrast) -> Option<NoTestResult> {
    let [t_test, _] = contrast.deciding();
    contrast.outcome(t_test)?.err()
}
