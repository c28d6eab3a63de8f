//! What a benchmark says in sentences.

use super::{Bench, BenchCommand, BenchFigure, CONFIDENCE, Outliers};
use crate::ledger::compare::{Comparison, verdicts};
use crate::text::number::{counted, percent, rough};
use crate::text::quantity;

/// The first thing to read: what a command used, or which of them used less.
pub(super) fn verdict(bench: &Bench, comparison: &Comparison) -> Vec<String> {
    match bench.commands.as_slice() {
        [only] => vec![alone(bench, only)],
        _ => verdicts(comparison),
    }
}

fn alone(bench: &Bench, command: &BenchCommand) -> String {
    let name = &command.name;
    let Some(statistics) = bench.statistics(command, &BenchFigure::Energy) else {
        return format!("The energy of {name} is not known.");
    };
    let scale = BenchFigure::Energy.scale(statistics.moments.mean);
    let interval = statistics.interval.map_or_else(String::new, |(low, high)| {
        let confidence = rough(CONFIDENCE * 100.0);
        let (low, high) = (scale.digits(low), scale.amount(high));
        format!("{confidence} % interval {low} to {high}; ")
    });
    format!(
        "{name} used {} a run ({interval}{}).",
        scale.amount(statistics.moments.mean),
        counted(statistics.moments.count, "sample")
    )
}

/// How it was measured, how certain it is, and what makes it doubtful.
pub(super) fn notes(bench: &Bench, comparison: &Comparison) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for command in &bench.commands {
        notes.extend(samples(command));
        notes.push(quality(command));
        notes.extend(outliers(bench, command));
        let failed: u32 = command
            .samples
            .iter()
            .map(|sample| sample.failed_runs)
            .sum();
        if failed > 0 {
            let failed = counted(failed as usize, "run");
            notes.push(format!("{}: {failed} did not succeed.", command.name));
        }
    }
    notes.push(idle(bench));
    if bench.commands.len() > 1 {
        notes.push(format!(
            "Each round had every command once, in random order (seed {}).",
            bench.seed
        ));
        notes.push(format!(
            "p and the interval of the difference are those of Welch's t-test; percentages are of the mean of {}.",
            comparison.labels.first().map_or("", String::as_str)
        ));
    }
    if bench.commands.len() > 2 {
        notes.push("p is not adjusted for the number of commands.".to_owned());
    }
    notes.extend(
        bench
            .warnings
            .iter()
            .map(|warning| format!("warning: {warning}")),
    );
    notes
}

fn samples(command: &BenchCommand) -> Option<String> {
    let (least, most) = command.runs_of_samples()?;
    let count = counted(command.samples.len(), "sample");
    let warm_up = match command.warm_up_runs {
        0 => "no warm-up".to_owned(),
        runs => format!("{} to warm up", counted(runs as usize, "run")),
    };
    let name = &command.name;
    Some(if most == 1 {
        format!("{name}: {count} of 1 run, after {warm_up}.")
    } else {
        let runs = if least == most {
            most.to_string()
        } else {
            format!("{least} to {most}")
        };
        format!(
            "{name}: {count} of {runs} runs each, after {warm_up}; figures are means of the runs of a sample."
        )
    })
}

/// `A: 97 % of the energy is measured (package-0: measured by an energy counter; ...).`
fn quality(command: &BenchCommand) -> String {
    let devices = command.devices.iter().map(|(component, device)| {
        let amount = device
            .energy
            .map_or_else(|| "unknown".to_owned(), quantity::joules);
        let contained = if device.is_counted || device.energy.is_none() {
            ""
        } else {
            " (not added)"
        };
        format!("{component} {amount}{contained}, {}", device.method)
    });
    let devices: Vec<String> = devices.collect();
    let name = &command.name;
    match command.measured_share() {
        Some(share) if share >= 1.0 => format!("{name}: measured: {}.", devices.join("; ")),
        Some(share) if share > 0.0 => {
            format!(
                "{name}: {} measured: {}.",
                percent(share),
                devices.join("; ")
            )
        }
        Some(_) => format!("{name}: estimated: {}.", devices.join("; ")),
        None if devices.is_empty() => {
            format!("{name}: energy absent: there is no sensor and no estimate.")
        }
        None => format!("{name}: no energy was seen: {}.", devices.join("; ")),
    }
}

/// Samples that lie far from the others; they are part of the statistics all the same.
fn outliers(bench: &Bench, command: &BenchCommand) -> Vec<String> {
    let mut lines = Vec::new();
    for figure in [BenchFigure::Energy, BenchFigure::Time] {
        let Some(statistics) = bench.statistics(command, &figure) else {
            continue;
        };
        let Outliers { by_sigma, by_mad } = &statistics.outliers;
        if by_sigma.is_empty() && by_mad.is_empty() {
            continue;
        }
        lines.push(format!(
            "{}: outliers in {figure}, which are part of all figures: by 3 sigma {}; by median and MAD {}.",
            command.name,
            listed(by_sigma),
            listed(by_mad)
        ));
    }
    lines
}

/// `samples 3 and 7`, by their numbers among those of the command.
fn listed(places: &[usize]) -> String {
    let numbers: Vec<String> = places.iter().map(|place| (place + 1).to_string()).collect();
    match numbers.as_slice() {
        [] => "none".to_owned(),
        [one] => format!("sample {one}"),
        [most @ .., last] => format!("samples {} and {last}", most.join(", ")),
    }
}

fn idle(bench: &Bench) -> String {
    let Some(idle) = bench.idle else {
        return "The power of the idle machine was not measured.".to_owned();
    };
    let power = quantity::power(idle.mean);
    let duration = quantity::duration(idle.duration);
    let deviation = idle
        .standard_deviation
        .map_or_else(String::new, |deviation| {
            let deviation = quantity::Quantity::Power.amount(deviation);
            format!(", with a standard deviation of {deviation}")
        });
    format!("The idle machine drew {power} over {duration} before the first sample{deviation}.")
}
