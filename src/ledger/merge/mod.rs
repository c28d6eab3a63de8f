//! The logs of many nodes or ranks as one run.
//!
//! Ranks that tracked themselves on one node all saw the same machine. Its energy is counted once, by
//! host, boot id and overlapping time, and the parts of the ranks add up to no more than that.

mod curve;
mod describe;
mod node;
mod source;

use std::collections::BTreeMap;

use crate::model::info::Info;
use crate::model::sample::{CpuTime, Observed};
use crate::model::{Component, Edge, MOST_COUNTS, Mark, Meter, Method, SCHEMA, Sample};
use crate::text::number::counted;
use crate::text::quantity;
use crate::units::{Count, Hours};

use self::curve::Curve;
use self::node::nodes;

pub use source::Source;

/// The most lines in a merged log; totals do not depend on it.
const MOST_LINES: usize = 1000;
/// The most figures in a merged log: more devices get fewer lines.
const MOST_FIGURES: usize = 200_000;

/// One run made of several.
#[derive(Debug)]
pub struct Merged {
    /// The description of the merged run.
    pub info: Info,
    /// Its samples, oldest first.
    pub samples: Vec<Sample>,
    /// From how many runs it was made, and on how many machines they were.
    pub origin: String,
    /// How many runs have phases, which the merged run does not have: they were at different times in each.
    pub runs_with_phases: usize,
    /// Where the runs were not all at one time: for how long there was none in between.
    pub time_between: Option<Hours>,
}

/// What one device of one node drew, counted once.
#[derive(Debug)]
struct Device {
    component: Component,
    /// None where a log does not have it.
    machine: Option<Curve>,
    attributed: Curve,
    method: Method,
}

/// Merges runs; their order does not matter. None where there are no runs.
#[must_use]
pub fn merge(mut sources: Vec<Source>) -> Option<Merged> {
    sources.sort_by(Source::order);
    let start = sources.iter().map(|source| source.start).reduce(f64::min)?;
    let end = sources.iter().map(|source| source.end).reduce(f64::max)?;
    let machines = nodes(&sources);
    let (devices, mut notes) = node::devices(&machines);
    let mut info = describe::info(&sources, start, end);
    let observed = describe::observed(&sources, &info, end - start, &mut notes);
    let origin = node::origin(&machines);
    notes.insert(0, format!("merged from {origin}"));
    let time_between = time_between(&sources);
    if let Some(time) = time_between {
        notes.push(format!(
            "the runs were not all at one time; for {} of the wall-clock time there was none",
            quantity::time(time)
        ));
    }
    notes.extend(describe::missing(&sources, &mut info));
    notes.extend(describe::mean_pue(&sources));
    let with_phases = |source: &&Source| !source.summary.phases.is_empty();
    let runs_with_phases = sources.iter().filter(with_phases).count();
    if runs_with_phases > 0 {
        let of = counted(runs_with_phases, "run");
        notes.push(format!("the phases of {of} are not in this log"));
    }
    info.notes = notes;
    let cpu_time = sources
        .iter()
        .filter_map(|source| source.summary.cpu_time)
        .reduce(|a, b| a + b);
    let mut samples = samples(&devices, &observed, cpu_time, start, end);
    if let Some(last) = samples.last_mut() {
        last.marks = counts(&sources);
    }
    Some(Merged {
        info,
        samples,
        origin,
        runs_with_phases,
        time_between,
    })
}

/// Marks with the work of all runs together.
fn counts(sources: &[Source]) -> Vec<Mark> {
    let mut sums: BTreeMap<&str, Count> = BTreeMap::new();
    for (unit, count) in sources.iter().flat_map(|source| &source.summary.counts) {
        *sums.entry(unit).or_default() += Count::nearest(*count);
    }
    let sums: Vec<(&str, Count)> = sums.into_iter().collect();
    let mark = |sums: &[(&str, Count)]| Mark {
        count: sums
            .iter()
            .map(|(unit, sum)| ((*unit).to_owned(), sum.value()))
            .collect(),
        ..Mark::new("", Edge::Count)
    };
    sums.chunks(MOST_COUNTS).map(mark).collect()
}

/// How long there was no run between the first start and the last end; `sources` are in order.
fn time_between(sources: &[Source]) -> Option<Hours> {
    let mut seconds = 0.0;
    let mut end = f64::INFINITY;
    for source in sources {
        seconds += (source.start - end).max(0.0);
        end = if end.is_finite() {
            end.max(source.end)
        } else {
            source.end
        };
    }
    Hours::from_seconds(seconds)
        .ok()
        .filter(|time| *time > Hours::ZERO)
}

fn samples(
    devices: &[Device],
    observed: &Observed,
    cpu_time: Option<Hours>,
    start: f64,
    end: f64,
) -> Vec<Sample> {
    let lines = (MOST_FIGURES / devices.len().max(1)).clamp(2, MOST_LINES);
    let mut samples: Vec<Sample> = (0..lines)
        .map(|line| {
            let elapsed = (end - start) * line as f64 / (lines - 1) as f64;
            sample(devices, observed, start, elapsed)
        })
        .collect();
    if let (Some(last), Some(time)) = (samples.last_mut(), cpu_time) {
        let all = CpuTime {
            user: time.seconds(),
            ..CpuTime::default()
        };
        last.observed
            .cpu_time_seconds
            .insert("merged".to_owned(), all);
    }
    samples
}

fn sample(devices: &[Device], observed: &Observed, start: f64, elapsed: f64) -> Sample {
    let time = start + elapsed;
    Sample {
        schema: SCHEMA,
        timestamp: time,
        elapsed,
        energy: devices
            .iter()
            .map(|device| {
                let meter = Meter {
                    total_j: device.machine.as_ref().map(|curve| curve.at(time)),
                    attributed_j: Some(device.attributed.at(time)),
                    method: device.method.clone(),
                };
                (device.component.clone(), meter)
            })
            .collect(),
        mark: None,
        marks: Vec::new(),
        observed: observed.clone(),
    }
}
