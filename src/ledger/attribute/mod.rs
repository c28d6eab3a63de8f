//! Where the energy of a run went: divides it among the spans of a profile.
//!
//! At each instant the power of a device is divided equally among the threads that are busy on it, and a thread's part
//! is that of its innermost span. Energies are integers, so the spans and what no span covers add up to the total. A
//! profile without times is divided by own time, and the result is labelled as estimated.

mod alignment;
mod call_totals;
mod csv;
mod devices;
mod divide;
mod json;
mod over_time;
mod paths;
mod picture;
mod portion;
mod power_curve;
mod profile;
mod sweep;
mod text;

use std::path::Path;

use super::RunSummary;
use super::summarise::{SummaryError, summarise_following};
use crate::units::{Energy, OutOfRange};
use devices::Devices;
use over_time::OverTime;
use paths::Paths;
use power_curve::CurveBuilder;
use profile::{Name, Names, Times};
use sweep::Own;

pub use self::csv::csv;
pub use alignment::{AlignedBy, Alignment};
pub use devices::Device;
pub use json::json;
pub use picture::{bands, flame, graph};
pub use profile::{Malformed, ProfileError, ProfileFormat};
pub use text::{By, text};

/// How the spans of a profile are matched with a run.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// When the profile's time 0 was; by default the times themselves say it.
    pub zero: Option<Zero>,
    /// Whether to divide the energy over time too, for a picture of it.
    pub over_time: bool,
}

/// When time 0 of a profile was, as the user says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Zero {
    /// So many ns after the start of the run.
    Offset(i64),
    /// When a phase of the run with this name began first.
    Phase(String),
}

/// The energy of a run, divided among the spans of a profile.
#[derive(Debug)]
pub struct Attribution {
    /// The name of the run.
    pub run: Option<String>,
    /// What the profile is written as.
    pub format: ProfileFormat,
    /// How the times of spans and run were matched; none if the profile has no times.
    pub alignment: Option<Alignment>,
    /// How many spans there are, where they have times.
    pub spans: Option<u64>,
    /// The energy of each device.
    pub devices: Vec<DeviceEnergy>,
    /// What the spans of each name had on each device, most energy first.
    pub rows: Vec<Row>,
    /// What a reader should know.
    pub notes: Vec<String>,
    names: Names,
    frames: Vec<Frame>,
    /// Caller, called, and the energy of the calls, where the frames do not say it.
    calls: Vec<(Name, Name, Energy)>,
    over_time: Option<OverTime>,
}

/// The energy of a device.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceEnergy {
    /// What it is.
    pub device: Device,
    /// All its energy in the run.
    pub energy: Energy,
    /// The part of it that no span covers.
    pub uncovered: Energy,
}

/// What the spans of a name had on a device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    name: Name,
    /// The place of the device.
    pub device: usize,
    /// How many spans there were, where that is known.
    pub calls: Option<u64>,
    /// Seconds while they were innermost, where the profile knows seconds.
    pub own_seconds: Option<f64>,
    /// Seconds with the spans within them.
    pub seconds: Option<f64>,
    /// Energy while they were innermost.
    pub own: Energy,
    /// Energy with the spans within them.
    pub energy: Energy,
    /// Mean energy of a span with the spans within it, in J.
    pub mean_j: Option<f64>,
    /// Half of the 95 % interval of that mean, in J.
    pub half_interval_j: Option<f64>,
}

/// A call path and what it had itself.
#[derive(Debug, Clone, Copy)]
struct Frame {
    /// Its place among the frames; none for the outermost.
    parent: Option<usize>,
    name: Option<Name>,
    device: usize,
    own: Own,
}

impl Frame {
    fn own_energy(&self) -> Energy {
        Energy::from_steps(self.own.energy)
    }
}

/// Why the energy of a run cannot be divided.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttributeError {
    /// The run has no figures.
    #[error(transparent)]
    Run(#[from] SummaryError),
    /// The profile cannot be read.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The log has a number that cannot be.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// The run has no phase with this name.
    #[error("the run has no phase called {0}")]
    NoPhase(String),
    /// No span is within the run.
    #[error("no span of the profile is within the run: {0}")]
    Apart(Alignment),
}

impl Attribution {
    /// Divides the energy of a run among the spans of a profile.
    pub fn of(run: &Path, profile: &Path, options: &Options) -> Result<Self, AttributeError> {
        let mut own = CurveBuilder::default();
        let mut foreign = CurveBuilder::default();
        let (summary, info) = summarise_following(run, |progress, timestamp| {
            let builder = if progress.is_of_totals() {
                &mut own
            } else {
                &mut foreign
            };
            builder.add(progress, timestamp);
        })?;
        let builder = if summary.is_legacy { foreign } else { own };
        let curve = builder.finish(&summary)?;
        let read = profile::read(profile)?;
        let mut attribution = Self {
            run: summary.name.clone(),
            format: read.format,
            alignment: None,
            spans: None,
            devices: Vec::new(),
            rows: Vec::new(),
            notes: Vec::new(),
            names: read.names,
            frames: Vec::new(),
            calls: Vec::new(),
            over_time: None,
        };
        match read.times {
            Times::Timed(mut timed) => {
                let devices = Devices::of(&curve, &info, &timed.threads.places().collect());
                let zero = given_zero(options, &summary)?;
                let alignment = Alignment::of(&timed, &read.memory, &curve, zero);
                attribution.divide_by_power(&curve, &devices, &mut timed, alignment, profile)?;
                attribution.sort();
                if options.over_time {
                    let memory = attribution.memory(&read.memory);
                    attribution.divide_over_time(&curve, &devices, &mut timed, memory, profile)?;
                }
            }
            Times::Untimed(untimed) => {
                attribution.divide_by_time(&curve, &untimed);
                attribution.sort();
            }
        }
        attribution.note_limits();
        attribution.notes.extend(summary.notes);
        Ok(attribution)
    }

    /// The energy of the run.
    pub fn total(&self) -> Energy {
        self.devices.iter().map(|device| device.energy).sum()
    }

    /// The part of it that no span covers.
    pub fn uncovered(&self) -> Energy {
        self.devices.iter().map(|device| device.uncovered).sum()
    }

    /// The part of 1 of the energy that spans cover; none if the run has no energy.
    #[must_use]
    pub fn coverage(&self) -> Option<f64> {
        let total = self.total();
        let covered = total.saturating_sub(self.uncovered());
        (total > Energy::ZERO).then(|| covered.kwh() / total.kwh())
    }

    /// Whether the spans have times, so that energy was divided by measured power.
    #[must_use]
    pub fn is_by_power(&self) -> bool {
        self.alignment.is_some()
    }

    /// The name of a row.
    #[must_use]
    pub fn name(&self, row: &Row) -> &str {
        self.names.text(row.name)
    }

    /// Whether the profile says how long calls took.
    fn knows_seconds(&self) -> bool {
        self.rows.iter().any(|row| row.own_seconds.is_some())
    }

    /// Caller, called, and the energy of the calls.
    fn calls(&self) -> Vec<(Name, Name, Energy)> {
        let mut calls = self.calls.clone();
        let mut energy: Vec<Energy> = self.frames.iter().map(Frame::own_energy).collect();
        for (place, frame) in self.frames.iter().enumerate().rev() {
            let Some(parent) = frame.parent else { continue };
            let sum = energy[place];
            energy[parent] += sum;
            let names = self.frames[parent].name.zip(frame.name);
            calls.extend(names.map(|(caller, called)| (caller, called, sum)));
        }
        calls
    }

    /// Memory with times in seconds since the start of the run.
    fn memory(&self, memory: &[(i64, f64)]) -> Vec<(f64, f64)> {
        let Some(alignment) = &self.alignment else {
            return Vec::new();
        };
        let seconds = |time: i64| time.saturating_add(alignment.shift) as f64 / 1e9;
        memory
            .iter()
            .map(|(time, bytes)| (seconds(*time), *bytes))
            .collect()
    }

    /// Whether the run has a figure for the device of a row.
    fn is_measured(&self, row: &Row) -> bool {
        !self.devices[row.device].device.components.is_empty()
    }

    fn sort(&mut self) {
        let names = &self.names;
        self.rows.sort_by(|a, b| {
            let by_name = || names.text(a.name).cmp(names.text(b.name));
            b.own
                .cmp(&a.own)
                .then_with(|| b.energy.cmp(&a.energy))
                .then_with(by_name)
                .then_with(|| a.device.cmp(&b.device))
        });
    }

    fn note_limits(&mut self) {
        let nameless = self.names.nameless();
        if nameless > 0 {
            let spans = crate::text::number::counted(nameless, "span");
            self.notes.push(format!(
                "there are too many names: {spans} are counted under one"
            ));
        }
        let beyond = |frame: &Frame| frame.name.is_none() && frame.own != Own::default();
        if self.frames.iter().any(beyond) {
            self.notes.push(format!(
                "there are more than {} call paths: the energy with calls is too low for those beyond",
                profile::MOST_PATHS
            ));
        }
    }
}

/// By what the user has said when time 0 of the profile was, and when that is, in ns since the start of the run.
fn given_zero(
    options: &Options,
    summary: &RunSummary,
) -> Result<Option<(AlignedBy, i64)>, AttributeError> {
    Ok(match &options.zero {
        None => None,
        Some(Zero::Offset(offset)) => Some((AlignedBy::Offset, *offset)),
        Some(Zero::Phase(name)) => {
            let phase = summary.phases.iter().find(|phase| *phase.name == **name);
            let phase = phase.ok_or_else(|| AttributeError::NoPhase(name.clone()))?;
            Some((AlignedBy::Phase, power_curve::nanoseconds(phase.first_s)))
        }
    })
}

/// The frames of a tree of paths on a device.
fn frames_of(paths: &Paths, own: &[Own], device: usize, frames: &mut Vec<Frame>) {
    let first = frames.len();
    for number in 1..paths.len() as u32 {
        let path = paths.get(number);
        let parent = (path.parent != Paths::ROOT).then(|| first + path.parent as usize - 1);
        frames.push(Frame {
            parent,
            name: (number != Paths::BEYOND).then_some(path.name),
            device,
            own: own.get(number as usize).copied().unwrap_or_default(),
        });
    }
}
