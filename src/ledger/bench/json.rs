use std::collections::BTreeMap;

use serde::Serialize;

use super::notes::verdict;
use super::{Bench, BenchCommand, BenchFigure, BenchSample, CONFIDENCE, Statistics};
use crate::ledger::compare;
use crate::model::{Component, Method};
use crate::text::escape;
use crate::units::Energy;

const SCHEMA: &str = "impact-bench/1";

#[derive(Serialize)]
struct Document<'a, C: Serialize> {
    schema: &'static str,
    impact_version: &'static str,
    verdict: Vec<String>,
    confidence: f64,
    seed: u64,
    interrupted: bool,
    warnings: &'a [String],
    idle: Option<IdleEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    work_of_a_run: Option<BTreeMap<&'a str, f64>>,
    commands: Vec<CommandEntry<'a>>,
    /// As in the answer of `compare`; the values are those of the samples.
    comparison: C,
}

#[derive(Serialize)]
struct IdleEntry {
    seconds: f64,
    watts: f64,
    standard_deviation_w: Option<f64>,
}

#[derive(Serialize)]
struct CommandEntry<'a> {
    name: &'a str,
    command: &'a [String],
    warm_up_runs: u32,
    measured_share: Option<f64>,
    devices: BTreeMap<String, DeviceEntry<'a>>,
    samples: Vec<SampleEntry>,
    figures: BTreeMap<String, Option<FigureEntry>>,
}

#[derive(Serialize)]
struct DeviceEntry<'a> {
    energy_j: Option<f64>,
    counted: bool,
    #[serde(flatten)]
    method: &'a Method,
}

#[derive(Serialize)]
struct SampleEntry {
    /// Its place among the samples of all commands.
    place: usize,
    runs: u32,
    failed_runs: u32,
    /// Of all runs of the sample.
    time_s: f64,
    energy_j: Option<f64>,
    idle_energy_j: Option<f64>,
}

#[derive(Serialize)]
struct FigureEntry {
    unit: &'static str,
    samples: usize,
    mean: f64,
    median: f64,
    standard_deviation: Option<f64>,
    interval: Option<(f64, f64)>,
    least: f64,
    most: f64,
    /// Places among the samples of the command, from 0.
    outliers_3_sigma: Vec<usize>,
    outliers_mad: Vec<usize>,
}

/// JSON with fixed units and all digits.
#[must_use]
pub fn json(bench: &Bench) -> String {
    let comparison = bench.comparison();
    let document = Document {
        schema: SCHEMA,
        impact_version: env!("CARGO_PKG_VERSION"),
        verdict: verdict(bench, &comparison),
        confidence: CONFIDENCE,
        seed: bench.seed,
        interrupted: bench.is_interrupted,
        warnings: &bench.warnings,
        idle: bench.idle.map(|idle| IdleEntry {
            seconds: idle.duration.as_secs_f64(),
            watts: idle.mean.get(),
            standard_deviation_w: idle.standard_deviation,
        }),
        work_of_a_run: bench
            .work
            .as_ref()
            .map(|work| BTreeMap::from([(&*work.unit, work.amount)])),
        commands: bench.commands.iter().map(|of| command(bench, of)).collect(),
        comparison: compare::figure_entries(&comparison),
    };
    escape::pretty_json(&document).expect("all keys are strings and all numbers are finite")
}

fn command<'a>(bench: &'a Bench, command: &'a BenchCommand) -> CommandEntry<'a> {
    let device = |(component, device): (&Component, &'a super::DeviceEnergy)| {
        let entry = DeviceEntry {
            energy_j: device.energy.map(Energy::joules),
            counted: device.is_counted,
            method: &device.method,
        };
        (component.to_string(), entry)
    };
    let figure = |figure: BenchFigure| {
        let statistics = bench.statistics(command, &figure);
        let entry = statistics.map(|statistics| entry(&figure, statistics));
        (figure.name().to_owned(), entry)
    };
    CommandEntry {
        name: &command.name,
        command: &command.words,
        warm_up_runs: command.warm_up_runs,
        measured_share: command.measured_share(),
        devices: command.devices.iter().map(device).collect(),
        samples: command.samples.iter().map(sample).collect(),
        figures: bench.figures().into_iter().map(figure).collect(),
    }
}

fn sample(sample: &BenchSample) -> SampleEntry {
    SampleEntry {
        place: sample.place,
        runs: sample.runs,
        failed_runs: sample.failed_runs,
        time_s: sample.duration.as_secs_f64(),
        energy_j: sample.energy.map(Energy::joules),
        idle_energy_j: sample.idle.map(Energy::joules),
    }
}

fn entry(figure: &BenchFigure, statistics: Statistics) -> FigureEntry {
    FigureEntry {
        unit: figure.unit(),
        samples: statistics.moments.count,
        mean: statistics.moments.mean,
        median: statistics.median,
        standard_deviation: statistics.moments.standard_deviation(),
        interval: statistics.interval,
        least: statistics.least,
        most: statistics.most,
        outliers_3_sigma: statistics.outliers.by_sigma,
        outliers_mad: statistics.outliers.by_mad,
    }
}
