//! The logs of many nodes or ranks as one run.
//!
//! Ranks that tracked themselves on one node all saw the same machine. Its energy is counted once, by
//! host, boot id and overlapping time, and the parts of the ranks add up to no more than that.

mod curve;
mod describe;
mod node;
mod source;

use crate::model::info::Info;
use crate::model::sample::{CpuTime, Observed};
use crate::model::{Component, Meter, Method, SCHEMA, Sample};
use crate::units::Hours;

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
            "the runs were not all at one time; for {:.3} h of the wall-clock time there was none",
            time.hours()
        ));
    }
    notes.extend(describe::missing(&sources, &mut info));
    notes.extend(describe::mean_pue(&sources));
    info.notes = notes;
    let cpu_time = sources
        .iter()
        .filter_map(|source| source.summary.cpu_time)
        .reduce(|a, b| a + b);
    let samples = samples(&devices, &observed, cpu_time, start, end);
    Some(Merged {
        info,
        samples,
        origin,
        time_between,
    })
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
