use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Deserializer, Serialize};

use super::{
    Basis, Component, Doubt, Fallback, Intensity, Method, PlaceSource, Provenance, PueSource,
    Shares, Source, ZoneId,
};
use crate::units::{GramsPerKwh, Pue};

/// What was run, where and when: `info.json`, written at the start and completed at the end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Info {
    /// The version of the format.
    pub schema: u32,
    /// The version of the program that wrote the log.
    pub impact_version: String,
    /// Tells the run from every other.
    pub id: String,
    /// The run of the tracker that this one was tracked by, as part of its command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inside: Option<String>,
    /// All runs that this one is a part of, the outermost first; the last is `inside`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outer_runs: Vec<String>,
    /// The process that was followed, where the tracker did not start it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub followed: Option<FollowedProcess>,
    /// How long each merged run had lasted when it was merged, in seconds.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub merged_seconds: BTreeMap<String, f64>,
    /// The runs that were merged into this one, and those merged into them.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub merged_from: BTreeSet<String>,
    /// Given by the user, or the name of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Given by the user.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
    /// The command line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Where the command was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working_directory: Option<String>,
    /// When the run started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<DateTime<FixedOffset>>,
    /// Left out while the run goes on, and for ever if the tracker was killed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<DateTime<FixedOffset>>,
    /// Of the command; 128+n if signal n killed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Seconds between two samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_s: Option<f64>,
    /// Power usage effectiveness of the data centre.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pue: Option<Pue>,
    /// Who stated the PUE; none in logs of schema 1, which may have it in `region.how`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pue_source: Option<PueSource>,
    /// The machine.
    pub host: Host,
    /// Slurm, MPI and other job, step and rank ids, by the name of their environment variable.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub scheduler: BTreeMap<String, String>,
    /// The repository of the working directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git: Option<Git>,
    /// The Python that was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub python: Option<Python>,
    /// Where the run took place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<Region>,
    /// Who stated the carbon intensities in the samples.
    #[serde(
        rename = "realtime_source",
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "realtime_sources"
    )]
    pub realtime_sources: Vec<Provenance>,
    /// Every sensor that was looked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sensors: Vec<SensorNote>,
    /// What each energy counter showed at the start, in microjoules.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub counters_at_start: BTreeMap<Component, u64>,
    /// Where each component's energy went; known at the end.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub balance: BTreeMap<Component, Balance>,
    /// What was lost or could not be read, in the order it happened.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Settings of this run that a project's file made, by key.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub project_settings: BTreeMap<String, String>,
    /// CPU seconds `impact` itself used; not part of the run's energy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead_cpu_s: Option<f64>,
}

/// A running process, told from every other since the machine was booted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FollowedProcess {
    /// Its id.
    pub pid: u32,
    /// When it started, in clock ticks since the boot.
    pub started_ticks: u64,
}

/// Where a component's energy went: attributed + other + idle = total.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Balance {
    /// All of it.
    pub total_j: f64,
    /// The part of the run.
    pub attributed_j: f64,
    /// The part of other processes.
    pub other_j: f64,
    /// Drawn while no process used it.
    pub idle_j: f64,
    /// What its sensor showed but cannot have drawn; not a part of the total.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out_j: f64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// The machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Host {
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hostname: Option<String>,
    /// Changes with each boot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boot_id: Option<String>,
    /// The distribution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub os: Option<String>,
    /// The release of the kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The processors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Cpu>,
    /// Installed memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// The GPUs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gpus: Vec<GpuCard>,
    /// The version of their driver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_driver: Option<String>,
    /// The kind of container, such as docker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// The control group of the tracker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cgroup: Option<String>,
}

/// The processors.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cpu {
    /// The name of the model.
    pub brand: String,
    /// How many sockets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sockets: Option<u32>,
    /// How many cores, over all sockets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<u32>,
    /// How many hardware threads, over all sockets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
}

/// One accelerator.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GpuCard {
    /// Tells the card from every other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// The name of the model.
    pub name: String,
    /// Installed memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// The most it may draw, in W.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power_limit_w: Option<f64>,
}

/// The state of the working directory's repository.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Git {
    /// The commit.
    pub commit: String,
    /// Whether tracked files differ from the commit, where that can be told without running git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty: Option<bool>,
}

/// The Python that was run, and the packages it could see.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Python {
    /// Such as 3.12.1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Versions by package.
    pub packages: BTreeMap<String, String>,
}

/// The place of the run, and the average carbon intensity there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Region {
    /// The zone of the electricity map.
    pub zone: ZoneId,
    /// The state, where the zone spans several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Given by the user, or the name of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Degrees north.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lat: Option<f64>,
    /// Degrees east.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lon: Option<f64>,
    /// How the zone was found, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub how: Option<String>,
    /// Who or what says that it is this zone; none in logs of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placed_by: Option<PlaceSource>,
    /// The average carbon intensity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carbon_intensity: Option<GramsPerKwh>,
    /// The year of the average.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<i32>,
    /// Who published the average.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The licence of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// What the average counts.
    #[serde(flatten, with = "super::basis::optional")]
    pub basis: Option<Basis>,
    /// What was used instead of the figure of this very place and year.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallbacks: Vec<Fallback>,
    /// Why the average may be wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Doubt>,
}

impl Region {
    /// A region of which only the zone is known.
    #[must_use]
    pub fn of(zone: ZoneId) -> Self {
        Self {
            zone,
            state: None,
            name: None,
            lat: None,
            lon: None,
            how: None,
            placed_by: None,
            carbon_intensity: None,
            year: None,
            source: None,
            licence: None,
            basis: None,
            fallbacks: Vec::new(),
            doubts: Vec::new(),
        }
    }

    /// The region with an average for it.
    #[must_use]
    pub fn with_average(self, intensity: &Intensity) -> Self {
        let provenance = &intensity.provenance;
        Self {
            carbon_intensity: Some(intensity.value),
            year: provenance.year,
            source: Some(provenance.source.name.to_string()),
            licence: provenance.source.licence.as_deref().map(str::to_owned),
            basis: provenance.basis,
            fallbacks: provenance.fallbacks.clone(),
            doubts: provenance.doubts.clone(),
            ..self
        }
    }

    /// The time zone that the zone is only assumed by; none where something better says where the run took place.
    #[must_use]
    pub fn time_zone(&self) -> Option<&str> {
        match &self.placed_by {
            Some(PlaceSource::TimeZone { time_zone }) => Some(time_zone),
            _ => None,
        }
    }

    /// The average and where it comes from; none where the log has no average.
    #[must_use]
    pub fn average(&self) -> Option<Intensity> {
        let recorded = self.source.clone();
        let mut source = Source::named(
            recorded.unwrap_or_else(|| "the average recorded with the run".to_owned()),
        );
        source.licence = self.licence.clone().map(Into::into);
        let mut provenance = Provenance::of(source);
        provenance.year = self.year;
        provenance.basis = self.basis;
        provenance.fallbacks.clone_from(&self.fallbacks);
        provenance.doubts.clone_from(&self.doubts);
        Some(Intensity {
            value: self.carbon_intensity?,
            provenance,
            shares: Shares::default(),
        })
    }
}

/// One sensor that was looked for, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SensorNote {
    /// What it measures.
    pub component: Component,
    /// The file or library it was read from.
    pub source: String,
    /// How, or why not.
    #[serde(flatten)]
    pub method: Method,
}

/// A list of sources, or one line with all of them as logs of schema 1 have it.
///
/// The line is taken for one source: names may contain whatever separated them.
fn realtime_sources<'de, D: Deserializer<'de>>(value: D) -> Result<Vec<Provenance>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Form {
        List(Vec<Provenance>),
        Line(String),
    }
    Ok(match Option::deserialize(value)? {
        None => Vec::new(),
        Some(Form::List(sources)) => sources,
        Some(Form::Line(line)) => vec![Provenance::of(Source::named(line))],
    })
}
