use std::time::Duration;

use serde::Serialize;

use crate::grid::data::device::Device;
use crate::grid::data::typical_power::Part;
use crate::ledger::footprint::emissions;
use crate::units::{Energy, GramsCo2e, GramsPerKwh, Pue, Watts};

/// Share of the design power that a device under full load draws at least.
const LOW: f64 = 0.7;
/// Share of the design power that an idle device draws.
const IDLE: f64 = 0.3;
/// Devices may exceed their design power, and power supplies have losses.
const HIGH_PERCENT: f64 = 110.0;

/// Devices of one model and their utilisation.
#[derive(Debug, Clone)]
pub struct Fleet {
    /// The model; several where its power depends on what is not known of it. Never empty.
    pub devices: Vec<Device>,
    /// How many there are.
    pub count: u32,
    /// From 0 to 1.
    pub utilization: f64,
}

/// A job: its hardware, its duration and the PUE of the data centre.
#[derive(Debug, Clone)]
pub struct Job {
    /// The processors and accelerators.
    pub fleets: Vec<Fleet>,
    /// The memory in GB; none if it is not counted.
    pub memory_gb: Option<f64>,
    /// How long the job runs.
    pub time: Duration,
    /// Power usage effectiveness of the data centre.
    pub pue: Pue,
}

/// A figure with a lower and an upper bound.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Range<T> {
    /// The lower bound.
    pub low: T,
    /// The most likely value.
    pub middle: T,
    /// The upper bound.
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
    /// The design power of one device: the least, half-way, and the most that it may have.
    #[must_use]
    pub fn design_power(&self) -> Range<f64> {
        let watts = || self.devices.iter().map(|device| device.watts.get());
        let low = watts().fold(f64::INFINITY, f64::min);
        let high = watts().fold(0.0, f64::max);
        Range {
            low,
            middle: f64::midpoint(low, high),
            high,
        }
    }

    /// In the middle, design power times utilisation. The upper bound adds the idle power.
    fn watts(&self) -> Range<f64> {
        let all = self.design_power().map(|one| one * f64::from(self.count));
        let busy = self.utilization;
        Range {
            low: all.low * busy * LOW,
            middle: all.middle * busy,
            high: all.high * (busy + IDLE * (1.0 - busy)) * HIGH_PERCENT / 100.0,
        }
    }

    /// The names of all that the device may be.
    #[must_use]
    pub fn name(&self) -> String {
        let names: Vec<&str> = self.devices.iter().map(|d| d.name.as_str()).collect();
        names.join(" or ")
    }
}

impl Job {
    /// The power of the hardware, without PUE.
    pub fn power(&self) -> Range<Watts> {
        let memory = self.memory_gb.unwrap_or(0.0) * Part::MemoryGb.power().watts.get();
        let memory = Range {
            low: memory * LOW,
            middle: memory,
            high: memory * HIGH_PERCENT / 100.0,
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
        // No data centre has more than 1 GW.
        sum.map(|watts| Watts::new(watts.clamp(0.0, 1e9)).expect("it is finite and in range"))
    }

    /// The energy of the job, with PUE.
    #[must_use]
    pub fn energy(&self) -> Range<Energy> {
        self.power().map(|watts| watts * self.time * self.pue)
    }

    /// The emissions of the job, with PUE.
    #[must_use]
    pub fn mass(&self, intensity: GramsPerKwh) -> Range<GramsCo2e> {
        self.power()
            .map(|watts| emissions(watts * self.time, self.pue, intensity))
    }

    /// What the figures assume, one sentence a line.
    #[must_use]
    pub fn assumptions(&self) -> Vec<String> {
        let unclear = self.fleets.iter().filter(|fleet| fleet.devices.len() > 1);
        let mut lines: Vec<String> = unclear
            .map(|fleet| {
                let Range { low, middle, high } = fleet.design_power();
                format!(
                    "the name may mean {} devices: low with {low} W, middle with {middle} W, high with {high} W",
                    fleet.devices.len()
                )
            })
            .collect();
        lines.extend([
            "middle: design power x utilisation".to_owned(),
            format!(
                "low: {:.0} % of that, because devices under load often draw less than their design power",
                LOW * 100.0
            ),
            format!(
                "high: idle devices draw {:.0} % of their design power; all power is {:.0} % higher",
                IDLE * 100.0,
                HIGH_PERCENT - 100.0
            ),
        ]);
        if self.memory_gb.is_some() {
            let watts = Part::MemoryGb.power().watts.get();
            lines.push(format!("memory: {watts} W per GB"));
        }
        lines.push("not included: networks, storage and the production of the hardware".to_owned());
        lines
    }
}
