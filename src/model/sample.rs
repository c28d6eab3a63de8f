use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Component, Method};

/// One tick of the tracker: one line of `data.json`.
///
/// Energies are running totals since the start, so a lost line costs resolution, never energy.
/// Names that experiment-impact-tracker also has keep its names and units.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    pub schema: u32,
    /// Wall clock, seconds since 1970; a label only.
    pub timestamp: f64,
    /// Monotonic seconds since the run started.
    pub elapsed: f64,
    pub energy: BTreeMap<Component, Meter>,
    /// A phase boundary, when that is why this line was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<Mark>,
    #[serde(flatten)]
    pub observed: Observed,
}

/// What one component drew since the start: by the whole machine, and the part that is the run's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Meter {
    /// Absent (not 0) when the component cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_j: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attributed_j: Option<f64>,
    #[serde(flatten)]
    pub method: Method,
}

/// A phase boundary set by `impact mark`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    pub name: String,
    pub edge: Edge,
}

/// Whether a mark opens a phase, closes it, or only names an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edge {
    Start,
    End,
    Point,
}

/// Gauges at this instant, each left out where it is not known; in W, processors, parts of 1, bytes, seconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Observed {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rapl_power_draw_absolute: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rapl_estimated_attributable_power_draw: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nvidia_draw_absolute: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nvidia_estimated_attributable_power_draw: Option<f64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub cpu_time_seconds: BTreeMap<String, CpuTime>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average_relative_cpu_utilization: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub absolute_cpu_utilization: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average_gpu_estimated_utilization_absolute: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relative_mem_usage: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub absolute_mem_usage: Option<f64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub per_gpu_power_draw: BTreeMap<String, f64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub per_gpu_performance_state: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub per_gpu_temperature: BTreeMap<String, f64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub per_gpu_utilization: BTreeMap<String, f64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub per_gpu_memory_usage: BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub per_gpu_clock_mhz: BTreeMap<String, u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_count_adjusted_average_load: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub realtime_carbon_intensity: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub process_ids: Vec<u32>,
}

/// CPU seconds of one process, as experiment-impact-tracker wrote them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CpuTime {
    pub user: f64,
    pub system: f64,
    pub children_user: f64,
    pub children_system: f64,
}
