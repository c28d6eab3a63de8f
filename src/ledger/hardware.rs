use std::collections::BTreeMap;

use crate::model::info::Host;
use crate::model::{Component, Info};
use crate::text::number::{self, counted};
use crate::units::{Energy, Hours};

use super::Part;

/// The processors and accelerators that runs used. Merging is exact.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hardware {
    /// How many runs used this many of each accelerator, by its name, and for how long.
    pub gpus: BTreeMap<String, Devices>,
    /// Runs by the processors and the memory of their machine, in words.
    pub machines: BTreeMap<String, u64>,
}

/// Accelerators of one name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Devices {
    /// How many runs used them.
    pub runs: u64,
    /// The most of them that one run used.
    pub most: u64,
    /// Wall-clock time, times the number of them.
    pub time: Hours,
}

impl Hardware {
    /// What one run used: the accelerators it was charged for, or all where the log does not tell them apart.
    pub(super) fn of(info: &Info, parts: &BTreeMap<Component, Part>, duration: Hours) -> Self {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for card in &info.host.gpus {
            let part = card
                .uuid
                .as_ref()
                .and_then(|uuid| parts.get(&Component::Gpu(uuid.clone())));
            if part.is_none_or(|part| part.attributed > Energy::ZERO) {
                *counts.entry(card.name.clone()).or_default() += 1;
            }
        }
        let gpus = counts.into_iter().map(|(name, most)| {
            let time = (0..most).map(|_| duration).sum();
            (
                name,
                Devices {
                    runs: 1,
                    most,
                    time,
                },
            )
        });
        let machine = machine(&info.host);
        Self {
            gpus: gpus.collect(),
            machines: machine.into_iter().map(|machine| (machine, 1)).collect(),
        }
    }

    /// Adds what other runs used.
    pub(super) fn add(&mut self, other: Self) {
        for (name, devices) in other.gpus {
            let mine = self.gpus.entry(name).or_default();
            mine.runs += devices.runs;
            mine.most = mine.most.max(devices.most);
            mine.time += devices.time;
        }
        for (name, runs) in other.machines {
            *self.machines.entry(name).or_default() += runs;
        }
    }

    /// Wall-clock time of all accelerators together; none where no run names one.
    #[must_use]
    pub fn gpu_hours(&self) -> Option<Hours> {
        let times = self.gpus.values().map(|devices| devices.time);
        times.reduce(|a, b| a + b)
    }
}

fn machine(host: &Host) -> Option<String> {
    let cpu = host
        .cpu
        .as_ref()
        .filter(|cpu| !cpu.brand.trim().is_empty())?;
    let mut words = cpu.brand.trim().to_owned();
    if let Some(cores) = cpu.cores {
        words.push_str(&format!(", {}", counted(cores, "core")));
    }
    if let Some(bytes) = host.memory_bytes {
        words.push_str(&format!(", {} of memory", number::bytes(bytes)));
    }
    Some(words)
}
