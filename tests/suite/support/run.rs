//! Logs of `impact track`, written as plain JSON: each test says what its run drew and where.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::NOON;

/// A run whose figures can be told by heart: every component draws constant power, unless `joules_per_watt` says otherwise.
#[derive(Debug, Clone)]
pub struct Run {
    /// What `info.json` holds. Without an `id` the run's folder is its id.
    pub info: Value,
    /// Seconds since 1970.
    pub start: f64,
    pub seconds: f64,
    pub step: f64,
    /// Watts of the machine and of the run, by component.
    pub watts: BTreeMap<String, (f64, f64)>,
    /// `method` of every meter, and `model` if it has one.
    pub method: Value,
    /// Joules that one watt has become, given the start and the time since then.
    pub joules_per_watt: fn(start: f64, elapsed: f64) -> f64,
}

impl Default for Run {
    /// Two seconds in France: 100 J by the processor, of which half by its cores, and 10 J by the memory.
    fn default() -> Self {
        let watts = [
            ("package-0", (100.0, 50.0)),
            ("core-0", (50.0, 50.0)),
            ("dram-0", (5.0, 5.0)),
        ];
        Self {
            info: json!({
                "schema": 1,
                "impact_version": "0.1.0",
                "name": "own",
                "started": "2019-10-31T12:00:00-07:00",
                "ended": "2019-10-31T12:00:02-07:00",
                "host": { "hostname": "node1" },
                "region": { "zone": "FR", "carbon_intensity": 50.0, "source": "a table" },
            }),
            start: NOON,
            seconds: 2.0,
            step: 1.0,
            watts: watts.map(|(name, pair)| (name.to_owned(), pair)).into(),
            method: json!({ "method": "measured" }),
            joules_per_watt: |_, elapsed| elapsed,
        }
    }
}

impl Run {
    /// One hour in California, one processor at this many watts, all of it the run's.
    pub fn of_watts(watts: f64) -> Self {
        Self {
            info: json!({
                "schema": 1,
                "impact_version": "0.1.0",
                "host": {
                    "hostname": "node-1",
                    "boot_id": "boot-1",
                    "os": "Linux",
                    "kernel": "6.8.0",
                    "cpu": { "brand": "AMD EPYC 7763 64-Core Processor", "threads": 128 },
                },
                "region": { "zone": "US-CA", "carbon_intensity": 250.0, "source": "a test" },
            }),
            start: 1_700_000_000.0,
            seconds: 3600.0,
            step: 600.0,
            watts: [("package-0".to_owned(), (watts, watts))].into(),
            ..Self::default()
        }
    }

    /// Sets a field of `info.json`.
    pub fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.info[field] = value.into();
        self
    }

    /// Leaves a field of `info.json` out.
    pub fn without(mut self, field: &str) -> Self {
        self.info.as_object_mut().unwrap().remove(field);
        self
    }

    pub fn in_zone(mut self, zone: &str) -> Self {
        self.info["region"]["zone"] = zone.into();
        self
    }

    /// In zone XX-ZZ, of which no carbon intensity is known.
    pub fn in_unknown_zone(self) -> Self {
        self.with("region", json!({ "zone": "XX-ZZ", "source": "a table" }))
    }

    pub fn tag(mut self, name: &str, value: &str) -> Self {
        self.info["tags"][name] = value.into();
        self
    }

    pub fn on(mut self, host: &str, boot: &str) -> Self {
        self.info["host"]["hostname"] = host.into();
        self.info["host"]["boot_id"] = boot.into();
        self
    }

    /// One more GPU.
    pub fn gpu(mut self, name: &str, uuid: &str, driver: &str, watts: f64) -> Self {
        let host = &mut self.info["host"];
        host["gpu_driver"] = driver.into();
        if host["gpus"].is_null() {
            host["gpus"] = json!([]);
        }
        let cards = host["gpus"].as_array_mut().unwrap();
        cards.push(json!({ "uuid": uuid, "name": name }));
        self.component(&format!("gpu:{uuid}"), watts, watts)
    }

    pub fn component(mut self, name: &str, machine: f64, attributed: f64) -> Self {
        self.watts.insert(name.to_owned(), (machine, attributed));
        self
    }

    pub fn between(mut self, start: f64, seconds: f64) -> Self {
        self.start = start;
        self.seconds = seconds;
        self
    }

    pub fn write(&self, run: &Path) -> PathBuf {
        let folder = run.join("impacttracker");
        fs::create_dir_all(&folder).unwrap();
        let mut info = self.info.clone();
        if info["id"].is_null() {
            info["id"] = run.display().to_string().into();
        }
        fs::write(folder.join("info.json"), info.to_string()).unwrap();
        let mut lines = String::new();
        let steps = (self.seconds / self.step).ceil() as u32;
        for step in 0..=steps {
            let elapsed = (f64::from(step) * self.step).min(self.seconds);
            lines.push_str(&format!("{}\n", self.sample(elapsed)));
        }
        fs::write(folder.join("data.json"), lines).unwrap();
        run.to_owned()
    }

    fn sample(&self, elapsed: f64) -> Value {
        let joules = (self.joules_per_watt)(self.start, elapsed);
        let mut energy = json!({});
        for (component, (machine, attributed)) in &self.watts {
            let mut meter = self.method.clone();
            meter["total_j"] = (machine * joules).into();
            meter["attributed_j"] = (attributed * joules).into();
            energy[component] = meter;
        }
        json!({
            "schema": 1,
            "timestamp": self.start + elapsed,
            "elapsed": elapsed,
            "energy": energy,
        })
    }
}
