//! Logs as experiment-impact-tracker wrote them.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::pickle::{self, Value};

/// 2019-10-31 19:00:00 UTC, which is noon in California.
pub const NOON: f64 = 1_572_548_400.0;

/// A run of experiment-impact-tracker: rows of (seconds since the start, CPU W, GPU W, intensity).
pub struct LegacyRun {
    pub rows: Vec<(f64, f64, f64, &'static str)>,
    pub ended_after: Option<f64>,
    pub zone: &'static str,
    pub average: f64,
    pub gpus: usize,
    pub protocol: u8,
}

impl Default for LegacyRun {
    /// 750 J by the CPU and 3500 J by the GPU in 35 s; 200 g/kWh all along.
    fn default() -> Self {
        Self {
            rows: vec![
                (10.0, 10.0, 100.0, "\"n/a\""),
                (20.0, 20.0, 100.0, "200.0"),
                (30.0, 30.0, 100.0, "\"n/a\""),
            ],
            ended_after: Some(35.0),
            zone: "US-CA",
            average: 250.0,
            gpus: 1,
            protocol: 3,
        }
    }
}

impl LegacyRun {
    pub fn write(&self, run: &Path) -> PathBuf {
        let folder = run.join("impacttracker");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("data.json"), self.data()).unwrap();
        fs::write(folder.join("info.pkl"), self.info()).unwrap();
        run.to_owned()
    }

    pub fn data(&self) -> String {
        let mut text = String::new();
        for (after, cpu, gpu, intensity) in &self.rows {
            writeln!(
                text,
                "{{\"timestamp\":{},\"rapl_power_draw_absolute\":90.5,\
                 \"rapl_estimated_attributable_power_draw\":{cpu},\
                 \"cpu_time_seconds\":{{\"7\":{{\"user\":{after},\"system\":2,\"children_user\":0.0,\"children_system\":0}}}},\
                 \"nvidia_estimated_attributable_power_draw\":{gpu},\
                 \"average_gpu_estimated_utilization_absolute\":0.5,\
                 \"per_gpu_average_estimated_utilization_absolute\":{{\"(0, 7)\":{{\"sm\":50.0}}}},\
                 \"realtime_carbon_intensity\":{intensity},\"process_ids\":[7]}}",
                NOON + after
            )
            .unwrap();
        }
        text
    }

    fn info(&self) -> Vec<u8> {
        let local = |after: f64| Value::LocalTime {
            date: (2019, 10, 31),
            seconds: 12 * 3600 + after as u32,
        };
        let text = |words: &str| Value::Text(words.to_owned());
        let card = Value::Dict(vec![("name", text("TITAN V"))]);
        let mut entries = vec![
            ("experiment_impact_tracker_version", text("0.1.8")),
            ("experiment_start", local(0.0)),
            ("gpu_info", Value::List(vec![card; self.gpus])),
            ("region", Value::Dict(vec![("id", text(self.zone))])),
            (
                "region_carbon_intensity_estimate",
                Value::Dict(vec![("carbonIntensity", Value::Float(self.average))]),
            ),
        ];
        if let Some(after) = self.ended_after {
            entries.push(("experiment_end", local(after)));
        }
        pickle::write(&Value::Dict(entries), self.protocol)
    }
}
