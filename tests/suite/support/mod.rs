//! Small logs of both trackers, made anew by each test that needs them.
#![allow(dead_code, reason = "each test file uses a part of it")]

pub mod pickle;
pub mod clean;
pub mod receipt;
pub mod run;
pub mod site;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;

/// The program under test, without anything of the caller's environment that could change figures.
pub fn impact() -> Command {
    let mut command = Command::cargo_bin("impact").unwrap();
    command.env_remove("OVERRIDE_PUE").env("NO_COLOR", "1");
    command
}

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
        let local = |after: f64| pickle::Value::LocalTime {
            date: (2019, 10, 31),
            seconds: 12 * 3600 + after as u32,
        };
        let text = |words: &str| pickle::Value::Text(words.to_owned());
        let card = pickle::Value::Dict(vec![("name", text("TITAN V"))]);
        let mut entries = vec![
            ("experiment_impact_tracker_version", text("0.1.8")),
            ("experiment_start", local(0.0)),
            ("gpu_info", pickle::Value::List(vec![card; self.gpus])),
            ("region", pickle::Value::Dict(vec![("id", text(self.zone))])),
            (
                "region_carbon_intensity_estimate",
                pickle::Value::Dict(vec![(
                    "carbonIntensity",
                    pickle::Value::Float(self.average),
                )]),
            ),
        ];
        if let Some(after) = self.ended_after {
            entries.push(("experiment_end", local(after)));
        }
        pickle::write(&pickle::Value::Dict(entries), self.protocol)
    }
}

/// A run of our own tracker: rows of (elapsed s, package J, DRAM J) as running totals of the run.
pub struct OwnRun {
    pub rows: Vec<(f64, f64, f64)>,
    pub zone: Option<&'static str>,
    pub method: &'static str,
    pub pue: Option<&'static str>,
    pub ended: bool,
}

impl Default for OwnRun {
    fn default() -> Self {
        Self {
            rows: vec![(0.0, 0.0, 0.0), (1.0, 50.0, 5.0), (2.0, 100.0, 10.0)],
            zone: Some("FR"),
            method: "\"method\":\"measured\"",
            pue: None,
            ended: true,
        }
    }
}

impl OwnRun {
    /// A run in zone XX-ZZ, of which nobody knows a carbon intensity.
    pub fn write_in_unknown_zone(folder: &Path) {
        let run = Self {
            zone: Some("XX-ZZ"),
            ..Self::default()
        };
        let info = run.write(folder).join("impacttracker/info.json");
        let text = fs::read_to_string(&info).unwrap();
        fs::write(&info, text.replace(",\"carbon_intensity\":50.0", "")).unwrap();
    }

    pub fn write(&self, run: &Path) -> PathBuf {
        let folder = run.join("impacttracker");
        fs::create_dir_all(&folder).unwrap();
        let mut text = String::new();
        for (elapsed, package, dram) in &self.rows {
            let method = self.method;
            writeln!(
                text,
                "{{\"schema\":1,\"timestamp\":{},\"elapsed\":{elapsed},\"energy\":{{\
                 \"package-0\":{{\"total_j\":{},\"attributed_j\":{package},{method}}},\
                 \"core-0\":{{\"total_j\":{package},\"attributed_j\":{package},{method}}},\
                 \"dram-0\":{{\"total_j\":{dram},\"attributed_j\":{dram},{method}}}}}}}",
                NOON + elapsed,
                package * 2.0
            )
            .unwrap();
        }
        fs::write(folder.join("data.json"), text).unwrap();
        let region = self.zone.map_or_else(String::new, |zone| {
            format!(",\"region\":{{\"zone\":\"{zone}\",\"carbon_intensity\":50.0,\"source\":\"a table\"}}")
        });
        let pue = self
            .pue
            .map_or_else(String::new, |pue| format!(",\"pue\":{pue}"));
        let ended = if self.ended {
            ",\"ended\":\"2019-10-31T12:00:02-07:00\""
        } else {
            ""
        };
        // Two runs at two paths are two runs.
        let id = serde_json::to_string(&run.display().to_string()).unwrap();
        let info = format!(
            "{{\"schema\":1,\"impact_version\":\"0.1.0\",\"id\":{id},\"name\":\"own\",\
             \"started\":\"2019-10-31T12:00:00-07:00\",\"host\":{{\"hostname\":\"node1\"}}{region}{pue}{ended}}}"
        );
        fs::write(folder.join("info.json"), info).unwrap();
        run.to_owned()
    }
}
