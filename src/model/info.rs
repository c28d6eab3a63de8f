use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};

use super::ZoneId;
use super::{Component, Method};
use crate::units::{GramsPerKwh, Pue};

/// What was run, where and when: `info.json`, written at the start and completed at the end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Info {
    pub schema: u32,
    pub impact_version: String,
    pub id: String,
    /// The run of the tracker that this one was tracked by, as part of its command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inside: Option<String>,
    /// The runs that were merged into this one, and those merged into them.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub merged_from: BTreeSet<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working_directory: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<DateTime<FixedOffset>>,
    /// Left out while the run goes on, and for ever if the tracker was killed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<DateTime<FixedOffset>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pue: Option<Pue>,
    pub host: Host,
    /// Slurm, MPI and other job, step and rank ids, by the name of their environment variable.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub scheduler: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git: Option<Git>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub python: Option<Python>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<Region>,
    /// Who said the carbon intensities in the samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub realtime_source: Option<String>,
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
    /// CPU seconds `impact` itself used; not part of the run's energy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead_cpu_s: Option<f64>,
}

/// Where a component's energy went: attributed + other + idle = total.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Balance {
    pub total_j: f64,
    /// The run's.
    pub attributed_j: f64,
    /// That of everything else that ran.
    pub other_j: f64,
    /// Drawn while nobody used it.
    pub idle_j: f64,
}

/// The machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Host {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hostname: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boot_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub os: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Cpu>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gpus: Vec<GpuCard>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_driver: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cgroup: Option<String>,
}

/// The processors.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cpu {
    pub brand: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sockets: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
}

/// One accelerator.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GpuCard {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power_limit_w: Option<f64>,
}

/// The state of the working directory's repository.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Git {
    pub commit: String,
    /// Whether tracked files differ from the commit, where that can be told without running git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty: Option<bool>,
}

/// The Python that was run, and the packages it could see.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Python {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    pub packages: BTreeMap<String, String>,
}

/// Where the electricity came from, and how dirty it is on average.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Region {
    pub zone: ZoneId,
    /// The state, where the zone spans several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lat: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lon: Option<f64>,
    /// How the zone was found: a flag, the cloud's metadata, the configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub how: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carbon_intensity: Option<GramsPerKwh>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What the average stands in for, where it is not the one of this very place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallbacks: Vec<String>,
}

/// What stands before the source of a provider's PUE.
const PUE_BY: &str = "; PUE by ";

impl Region {
    /// Notes who published the PUE that is taken for this cloud.
    pub fn note_pue_source(&mut self, source: &str) {
        let how = self.how.get_or_insert_default();
        how.push_str(PUE_BY);
        how.push_str(source);
    }

    /// Who published the PUE that the tracker took for this cloud; none where it is the run's own.
    #[must_use]
    pub fn pue_source(&self) -> Option<&str> {
        let (_, source) = self.how.as_deref()?.rsplit_once(PUE_BY)?;
        Some(source)
    }

    /// Where the average is from, of which year it is and what it stands in for.
    #[must_use]
    pub fn provenance(&self) -> String {
        let source = self.source.as_deref();
        let mut words = source
            .unwrap_or("the average recorded with the run")
            .to_owned();
        if let Some(year) = self.year {
            words.push_str(&format!(", {year}"));
        }
        for fallback in &self.fallbacks {
            words.push_str(&format!("; {fallback}"));
        }
        words
    }
}

/// One sensor that was looked for, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SensorNote {
    pub component: Component,
    /// The file or library it was read from.
    pub source: String,
    #[serde(flatten)]
    pub method: Method,
}
