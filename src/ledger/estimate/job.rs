use std::time::Duration;

use serde::Serialize;

use crate::grid::data::device::Device;
use crate::ledger::footprint::emissions;
use crate::units::{Energy, GramsCo2e, GramsPerKwh, Pue, Watts};

/// Boards under full load draw less than they are designed for, by up to this part.
const LOW: f64 = 0.7;
/// What a device draws when nothing runs on it, as a part of its design power.
const IDLE: f64 = 0.3;
/// Boards may pass their design power, and the supply loses some on the way.
const HIGH: f64 = 1.1;
/// Watts per gigabyte of memory (Karyakin and Salem 2017, as Green Algorithms uses it).
const MEMORY_WATTS_PER_GB: f64 = 0.3725;

/// Some devices of one kind, and how busy they are.
#[derive(Debug, Clone)]
pub struct Fleet {
    pub device: Device,
    pub count: u32,
    /// From 0 to 1.
    pub utilization: f64,
}

/// What is to be run.
#[derive(Debug, Clone)]
pub struct Job {
    pub fleets: Vec<Fleet>,
    pub memory_gb: Option<f64>,
    pub time: Duration,
    pub pue: Pue,
}

/// A figure that is only known to lie somewhere.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Range<T> {
    pub low: T,
    pub middle: T,
    pub high: T,
}

impl<T> Range<T> {
    /// The same range in another quantity.
    pub fn map<U>(self, convert: impl Fn(T) -> U) -> Range<U> {
        Range {
            low: convert(self.low),
            middle: convert(self.middle),
            high: convert(self.high),
        }
    }
}

impl Fleet {
    /// Design power times utilisation; below, what boards under load draw less; above, what idle ones
    /// draw all the same.
    fn watts(&self) -> Range<f64> {
        let all = self.device.watts.get() * f64::from(self.count);
        let busy = self.utilization;
        Range {
            low: all * busy * LOW,
            middle: all * busy,
            high: all * (busy + IDLE * (1.0 - busy)) * HIGH,
        }
    }
}

impl Job {
    /// What the machines draw while the job runs.
    pub fn power(&self) -> Range<Watts> {
        let memory = self.memory_gb.unwrap_or(0.0) * MEMORY_WATTS_PER_GB;
        let memory = Range {
            low: memory * LOW,
            middle: memory,
            high: memory * HIGH,
        };
        let sum = self
            .fleets
            .iter()
            .map(Fleet::watts)
            .fold(memory, |sum, watts| Range {
                low: sum.low + watts.low,
                middle: sum.middle + watts.middle,
                high: sum.high + watts.high,
            });
        // More than any data centre has is more than we can say.
        sum.map(|watts| Watts::new(watts.clamp(0.0, 1e9)).expect("it is finite and in range"))
    }

    /// With PUE.
    #[must_use]
    pub fn energy(&self) -> Range<Energy> {
        self.power().map(|watts| watts * self.time * self.pue)
    }

    /// With PUE.
    #[must_use]
    pub fn mass(&self, intensity: GramsPerKwh) -> Range<GramsCo2e> {
        self.power()
            .map(|watts| emissions(watts * self.time, self.pue, intensity))
    }

    /// What stands behind the figures, for people who want to do the sum themselves.
    #[must_use]
    pub fn assumptions(&self) -> Vec<String> {
        let mut lines = vec![
            "middle: design power x utilisation".to_owned(),
            format!(
                "low: {:.0} % of the middle, as boards under load seldom reach their design power",
                LOW * 100.0
            ),
            format!(
                "high: idle devices draw {:.0} % of their design power, and everything {:.0} % more",
                IDLE * 100.0,
                (HIGH - 1.0) * 100.0
            ),
        ];
        if self.memory_gb.is_some() {
            lines.push(format!("memory: {MEMORY_WATTS_PER_GB} W per GB"));
        }
        lines
            .push("networks, storage and the making of the hardware are not part of it".to_owned());
        lines
    }
}
