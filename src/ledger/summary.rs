use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use super::phases::{Counts, Occurrence, Phase};
use super::{AssumedPue, Hardware, RunOutcome};
use crate::model::info::{FollowedProcess, PowerCap, Region};
use crate::model::{Component, EnergyClass, Method, Present, Provenance, PueSource};
use crate::units::{Energy, GramsCo2e, GramsPerKwh, Hours, IntensityRange, Pue};

/// What one run drew, without PUE, carbon intensity or price.
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own about a log"
)]
#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    /// Tells the run from every other; foreign logs have none.
    pub id: Option<String>,
    /// The run that this one was tracked as a part of.
    pub inside: Option<String>,
    /// All runs that this one was tracked as a part of, the outermost first.
    pub outer_runs: Vec<String>,
    /// The ids of the runs that were merged into this one.
    pub merged_from: BTreeSet<String>,
    /// How long each of those had lasted when it was merged, in seconds.
    pub merged_seconds: BTreeMap<String, f64>,
    /// The boot of the machine.
    pub boot_id: Option<String>,
    /// The process that was followed, where the tracker did not start it.
    pub followed: Option<FollowedProcess>,
    /// Given by the user, or the name of the program.
    pub name: Option<String>,
    /// Given by the user.
    pub tags: BTreeMap<String, String>,
    /// What each component drew, counted or not.
    pub parts: BTreeMap<Component, Part>,
    /// What the log has no figure for, and why.
    pub absent: BTreeMap<EnergyClass, String>,
    /// Wall-clock time.
    pub duration: Hours,
    /// CPU time of all processes.
    pub cpu_time: Option<Hours>,
    /// GPU time, weighted by utilisation.
    pub gpu_time: Option<Hours>,
    /// By the intensities recorded with the samples.
    pub carbon: Option<RecordedCarbon>,
    /// Where it took place, with the average intensity there.
    pub region: Option<Region>,
    /// The PUE recorded with the run.
    pub pue: Option<Pue>,
    /// Whether experiment-impact-tracker wrote the log.
    pub is_legacy: bool,
    /// Who stated the PUE, where the log says so.
    pub pue_source: Option<PueSource>,
    /// When it started.
    pub started: Option<DateTime<Utc>>,
    /// The name of the machine.
    pub host: Option<String>,
    /// The processors and accelerators that it used.
    pub hardware: Hardware,
    /// How its command ended.
    pub outcome: RunOutcome,
    /// What phases marked inside the run took, in order of time.
    pub phases: Vec<Phase>,
    /// Occurrences of phases in order of time, if they were asked for.
    pub occurrences: Vec<Occurrence>,
    /// Work counted by marks, by unit.
    pub counts: Counts,
    /// The tracker was stopped, or still runs: the figures go up to the last sample.
    pub has_no_end: bool,
    /// Lines of the log that are no samples.
    pub bad_lines: u64,
    /// `info.json` has a checksum that is wrong.
    pub info_was_changed: bool,
    /// Settings of the run that a project's file made, by key.
    pub project_settings: BTreeMap<String, String>,
    /// The power cap that was asked for.
    pub power_cap: Option<PowerCap>,
    /// Energy in the log that cannot be and is not counted.
    pub implausible: Energy,
    /// In how many ways samples of the log contradict each other or cannot be; the notes name them.
    pub contradictions: usize,
    /// Energy of the run that is counted with another run.
    pub counted_elsewhere: bool,
    /// What a reader should know about the quality of this log.
    pub notes: Vec<String>,
}

/// What one component drew.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// The share that is the run's.
    pub attributed: Energy,
    /// What the whole machine drew meanwhile, where the log says so.
    pub machine: Option<Energy>,
    /// How the figure was obtained.
    pub method: Method,
}

/// The mass of CO2eq by the intensities that were recorded while the run went on, without PUE.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedCarbon {
    /// Without PUE.
    pub mass: GramsCo2e,
    /// The plain mean over the samples.
    pub mean: GramsPerKwh,
    /// All intensities that were recorded.
    pub range: IntensityRange,
    /// Who was asked; empty where the log does not say.
    pub sources: Vec<Provenance>,
}

impl RunSummary {
    /// The parts that add up to the run's energy, each with the group it belongs to.
    pub fn counted(&self) -> impl Iterator<Item = (EnergyClass, &Component, &Part)> {
        let present: Present = self.parts.keys().collect();
        self.parts.iter().filter_map(move |(component, part)| {
            component
                .counted_as(&present)
                .map(|group| (group, component, part))
        })
    }

    /// Whether the log says where the run took place; the clock of the machine alone does not.
    #[must_use]
    pub fn has_place(&self) -> bool {
        let region = self.region.as_ref();
        region.is_some_and(|region| region.time_zone().is_none())
    }

    /// The PUE of the run if none is stated.
    #[must_use]
    pub fn assumed_pue(&self) -> AssumedPue {
        if self.is_legacy {
            AssumedPue::of_legacy_logs()
        } else {
            AssumedPue::newest()
        }
    }

    /// The run's energy in one group, or none where nothing was recorded.
    #[must_use]
    pub fn energy(&self, wanted: EnergyClass) -> Option<Energy> {
        self.counted()
            .filter(|(group, ..)| *group == wanted)
            .map(|(.., part)| part.attributed)
            .reduce(|a, b| a + b)
    }

    /// The run's energy, without PUE.
    pub fn total(&self) -> Energy {
        self.counted().map(|(.., part)| part.attributed).sum()
    }
}
