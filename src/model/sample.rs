use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Component, Mark, Method, Provenance};

/// One tick of the tracker: one line of `data.json`.
///
/// Energies are running totals since the start, so a lost line costs resolution, never energy.
/// Names that experiment-impact-tracker also has keep its names and units.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The version of the format.
    pub schema: u32,
    /// Wall clock, seconds since 1970; a label only.
    pub timestamp: f64,
    /// Monotonic seconds since the run started.
    pub elapsed: f64,
    /// Running totals by component.
    pub energy: BTreeMap<Component, Meter>,
    /// A phase boundary, when that is why this line was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<Mark>,
    /// The same, if it is not one mark that was set at this instant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// Gauges at this instant.
    #[serde(flatten)]
    pub observed: Observed,
}

/// What one component drew since the start: by the whole machine, and the part that is the run's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Meter {
    /// Absent (not 0) when the component cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_j: Option<f64>,
    /// The run's part, in J.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attributed_j: Option<f64>,
    /// How the figures were obtained.
    #[serde(flatten)]
    pub method: Method,
}

/// Gauges at this instant, each left out where it is not known; in W, processors, parts of 1, bytes, seconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Observed {
    /// W of the CPUs and their memory since the last sample, whole machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rapl_power_draw_absolute: Option<f64>,
    /// The run's part of it, in W.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rapl_estimated_attributable_power_draw: Option<f64>,
    /// W of all GPUs since the last sample, whole machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nvidia_draw_absolute: Option<f64>,
    /// The run's part of it, in W.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nvidia_estimated_attributable_power_draw: Option<f64>,
    /// CPU seconds since the start, by process or group.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub cpu_time_seconds: BTreeMap<String, CpuTime>,
    /// The run's part of the CPU time the machine used, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average_relative_cpu_utilization: Option<f64>,
    /// CPUs kept busy by the run since the last sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub absolute_cpu_utilization: Option<f64>,
    /// Mean over the GPUs of the time kept busy by the run, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average_gpu_estimated_utilization_absolute: Option<f64>,
    /// The run's part of the memory in use, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relative_mem_usage: Option<f64>,
    /// Bytes of memory of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub absolute_mem_usage: Option<f64>,
    /// W by GPU UUID.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub per_gpu_power_draw: BTreeMap<String, f64>,
    /// Such as P0, by GPU UUID.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub per_gpu_performance_state: BTreeMap<String, String>,
    /// Degrees Celsius by GPU UUID.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub per_gpu_temperature: BTreeMap<String, f64>,
    /// From 0 to 1, whoever used it, by GPU UUID.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub per_gpu_utilization: BTreeMap<String, f64>,
    /// Bytes, whoever used them, by GPU UUID.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub per_gpu_memory_usage: BTreeMap<String, u64>,
    /// MHz by GPU UUID.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub per_gpu_clock_mhz: BTreeMap<String, u32>,
    /// Degrees Celsius of the hottest CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_temperature: Option<f64>,
    /// Load averages of 1, 5 and 15 minutes, divided by the number of CPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_count_adjusted_average_load: Option<[f64; 3]>,
    /// g CO2eq/kWh of the electricity at this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub realtime_carbon_intensity: Option<f64>,
    /// Who stated that intensity.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub realtime_source: Vec<Provenance>,
    /// The processes of the run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub process_ids: Vec<u32>,
}

/// CPU seconds of one process, as experiment-impact-tracker wrote them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CpuTime {
    /// In user mode.
    pub user: f64,
    /// In the kernel.
    pub system: f64,
    /// Of ended children, in user mode.
    pub children_user: f64,
    /// Of ended children, in the kernel.
    pub children_system: f64,
}
