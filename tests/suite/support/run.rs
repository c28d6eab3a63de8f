//! Logs written by code: each test says what its runs drew and where.

#![allow(dead_code, reason = "every test binary uses a part of it")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use impact::log::{DATA_FILE, FOLDER, INFO_FILE};
use impact::model::SCHEMA;
use impact::model::info::{Cpu, GpuCard, Host, Region};
use impact::model::{Component, Info, Meter, Method, Sample};
use impact::units::GramsPerKwh;

/// A run that draws constant power, so that its figures can be told by heart.
#[derive(Debug, Clone)]
pub struct Run {
    pub info: Info,
    /// Seconds since 1970.
    pub start: f64,
    pub seconds: f64,
    pub step: f64,
    /// Watts of the machine and of the run, by component.
    pub watts: BTreeMap<Component, (f64, f64)>,
}

impl Run {
    /// One hour, one processor at this many watts, all of it the run's.
    pub fn of_watts(watts: f64) -> Self {
        let info = Info {
            schema: SCHEMA,
            impact_version: "0.1.0".into(),
            id: "run".into(),
            host: Host {
                hostname: Some("node-1".into()),
                boot_id: Some("boot-1".into()),
                os: Some("Linux".into()),
                kernel: Some("6.8.0".into()),
                cpu: Some(Cpu {
                    brand: "AMD EPYC 7763 64-Core Processor".into(),
                    threads: Some(128),
                    ..Cpu::default()
                }),
                ..Host::default()
            },
            region: Some(Region {
                zone: "US-CA".parse().unwrap(),
                state: None,
                name: None,
                lat: None,
                lon: None,
                how: None,
                carbon_intensity: Some(GramsPerKwh::new(250.0).unwrap()),
                year: None,
                source: Some("a test".into()),
                fallbacks: Vec::new(),
            }),
            ..Info::default()
        };
        Self {
            info,
            start: 1_700_000_000.0,
            seconds: 3600.0,
            step: 600.0,
            watts: BTreeMap::from([(Component::from("package-0"), (watts, watts))]),
        }
    }

    pub fn tag(mut self, name: &str, value: &str) -> Self {
        self.info.tags.insert(name.into(), value.into());
        self
    }

    pub fn on(mut self, host: &str, boot: &str) -> Self {
        self.info.host.hostname = Some(host.into());
        self.info.host.boot_id = Some(boot.into());
        self
    }

    pub fn gpu(mut self, name: &str, uuid: &str, watts: f64) -> Self {
        self.info.host.gpus.push(GpuCard {
            uuid: Some(uuid.into()),
            name: name.into(),
            ..GpuCard::default()
        });
        self.watts
            .insert(Component::Gpu(uuid.into()), (watts, watts));
        self
    }

    pub fn component(mut self, name: &str, machine: f64, attributed: f64) -> Self {
        self.watts
            .insert(Component::from(name), (machine, attributed));
        self
    }

    pub fn between(mut self, start: f64, seconds: f64) -> Self {
        self.start = start;
        self.seconds = seconds;
        self
    }

    pub fn write(&self, folder: &Path) {
        let folder = folder.join(FOLDER);
        fs::create_dir_all(&folder).unwrap();
        let info = serde_json::to_vec_pretty(&self.info).unwrap();
        fs::write(folder.join(INFO_FILE), info).unwrap();
        let mut lines = String::new();
        let steps = (self.seconds / self.step).ceil() as u32;
        for step in 0..=steps {
            let elapsed = (f64::from(step) * self.step).min(self.seconds);
            lines.push_str(&serde_json::to_string(&self.sample(elapsed)).unwrap());
            lines.push('\n');
        }
        fs::write(folder.join(DATA_FILE), lines).unwrap();
    }

    fn sample(&self, elapsed: f64) -> Sample {
        Sample {
            schema: SCHEMA,
            timestamp: self.start + elapsed,
            elapsed,
            energy: self
                .watts
                .iter()
                .map(|(component, (machine, attributed))| {
                    let meter = Meter {
                        total_j: Some(machine * elapsed),
                        attributed_j: Some(attributed * elapsed),
                        method: Method::Measured,
                    };
                    (component.clone(), meter)
                })
                .collect(),
            ..Sample::default()
        }
    }
}
