//! Meters that tests can move, and logs that tests can read.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use super::program::{IMPACT, program};

/// A machine of files: a powercap tree, and a place for logs.
pub struct Machine {
    pub folder: tempfile::TempDir,
}

impl Machine {
    pub fn bare() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// One package with a core and a memory domain, all at 1 J.
    pub fn with_rapl() -> Self {
        let machine = Self::bare();
        machine.domain("intel-rapl:0", "package-0", 262_143_328_850);
        machine.domain("intel-rapl:0:0", "core", 262_143_328_850);
        machine.domain("intel-rapl:0:1", "dram", 65_712_999_613);
        machine
    }

    pub fn domain(&self, zone: &str, name: &str, range: u64) -> PathBuf {
        let folder = self.path("sys/class/powercap").join(zone);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("name"), format!("{name}\n")).unwrap();
        fs::write(folder.join("max_energy_range_uj"), format!("{range}\n")).unwrap();
        self.set(zone, 1_000_000);
        folder
    }

    pub fn set(&self, zone: &str, microjoules: u64) {
        fs::write(self.counter(zone), format!("{microjoules}\n")).unwrap();
    }

    pub fn counter(&self, zone: &str) -> PathBuf {
        self.path("sys/class/powercap").join(zone).join("energy_uj")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `impact` on this machine, in its folder.
    pub fn impact(&self) -> Command {
        self.program(IMPACT)
    }

    /// The same, with the control groups of this machine and the meters it has.
    pub fn impact_with_groups(&self) -> Command {
        let mut command = self.impact();
        command.env_remove("IMPACT_SYSFS_ROOT");
        command
    }

    /// The same, started with these signals ignored.
    pub fn impact_ignoring(&self, signals: &str) -> Command {
        let mut command = self.program("env");
        command.arg(format!("--ignore-signal={signals}"));
        command.arg(IMPACT);
        command
    }

    /// Any program, in the folder and with the environment of `impact` on this machine.
    pub fn program(&self, name: &str) -> Command {
        let sys = self.path("sys");
        fs::create_dir_all(&sys).unwrap();
        let mut command = program(name);
        command
            .current_dir(self.folder.path())
            .env("IMPACT_SYSFS_ROOT", sys);
        command
    }

    /// Tracks a shell script into the folder `log`.
    pub fn track(&self, options: &[&str], script: &str) -> Output {
        self.impact()
            .args(["track", "--out", "log"])
            .args(options)
            .args(["--", "sh", "-c", script])
            .output()
            .unwrap()
    }

    pub fn log(&self) -> Log {
        Log::read(&self.path("log"))
    }
}

/// A log as it lies on the disk.
pub struct Log {
    pub samples: Vec<Value>,
    pub info: Value,
}

impl Log {
    pub fn read(run: &Path) -> Self {
        let folder = run.join("impacttracker");
        let data = fs::read_to_string(folder.join("data.json")).unwrap();
        let info = fs::read_to_string(folder.join("info.json")).unwrap();
        Self {
            samples: data
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect(),
            info: serde_json::from_str(&info).unwrap(),
        }
    }

    pub fn last(&self) -> &Value {
        self.samples.last().unwrap()
    }

    pub fn total(&self, component: &str) -> f64 {
        self.last()["energy"][component]["total_j"]
            .as_f64()
            .unwrap()
    }

    pub fn attributed(&self, component: &str) -> f64 {
        self.last()["energy"][component]["attributed_j"]
            .as_f64()
            .unwrap()
    }

    /// CPU seconds of the run.
    pub fn cpu_seconds(&self) -> f64 {
        let times = self.last()["cpu_time_seconds"].as_object().unwrap();
        let sum = |time: &Value| time["user"].as_f64().unwrap() + time["system"].as_f64().unwrap();
        times.values().map(sum).sum()
    }

    pub fn notes(&self) -> String {
        self.info["notes"].to_string()
    }
}
