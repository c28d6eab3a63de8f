use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::sensor::kernel_file::line;
use super::sensor::{KernelFile, MachineCpuTime, Roots};

/// The kernel computes the load averages this often.
const AVERAGES_PERIOD: Duration = Duration::from_secs(5);

/// The state of the whole machine: load, memory, temperature.
#[derive(Debug)]
pub(crate) struct MachineState {
    clock: Option<MachineCpuTime>,
    load: Option<KernelFile>,
    averages: Option<[f64; 3]>,
    averages_due: Instant,
    memory: Option<KernelFile>,
    temperature_sensor: Option<KernelFile>,
}

/// Memory, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) total: u64,
    pub(crate) used: u64,
}

impl MachineState {
    pub(crate) fn of(roots: &Roots, clock: Option<MachineCpuTime>) -> Self {
        Self {
            clock,
            load: KernelFile::open(&roots.proc("loadavg")).ok(),
            averages: None,
            averages_due: Instant::now(),
            memory: KernelFile::open(&roots.proc("meminfo")).ok(),
            temperature_sensor: temperature_sensor(roots)
                .and_then(|path| KernelFile::open(&path).ok()),
        }
    }

    /// CPU time of the whole machine since boot.
    pub(crate) fn busy(&self) -> Option<Duration> {
        self.clock.as_ref()?.read().ok()
    }

    /// The load averages over 1, 5 and 15 minutes.
    pub(crate) fn load(&mut self) -> Option<[f64; 3]> {
        let now = Instant::now();
        if now >= self.averages_due {
            self.averages = self.read_load();
            self.averages_due = now + AVERAGES_PERIOD;
        }
        self.averages
    }

    fn read_load(&self) -> Option<[f64; 3]> {
        let mut buffer = [0; 128];
        let mut fields = self.load.as_ref()?.text(&mut buffer).ok()?.split(' ');
        let mut next = || fields.next()?.parse().ok();
        Some([next()?, next()?, next()?])
    }

    pub(crate) fn memory(&self) -> Option<Memory> {
        // The needed lines are the first of the file.
        let mut buffer = [0; 256];
        parse_memory(self.memory.as_ref()?.text(&mut buffer).ok()?)
    }

    /// Degrees Celsius of the processor.
    pub(crate) fn temperature(&self) -> Option<f64> {
        Some(self.temperature_sensor.as_ref()?.number().ok()? as f64 / 1000.0)
    }
}

fn parse_memory(text: &str) -> Option<Memory> {
    let kib = |name: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_ascii_whitespace().next()?.parse().ok()
    };
    let total = kib("MemTotal:")?;
    let free = kib("MemAvailable:").or_else(|| kib("MemFree:"))?;
    Some(Memory {
        total: total * 1024,
        used: total.saturating_sub(free) * 1024,
    })
}

/// The file of the processor's temperature sensor.
fn temperature_sensor(roots: &Roots) -> Option<PathBuf> {
    let monitors = std::fs::read_dir(roots.sys("class/hwmon")).ok()?;
    monitors
        .flatten()
        .map(|entry| entry.path())
        .find_map(|monitor| {
            let driver = line(&monitor.join("name"))?;
            let input = monitor.join("temp1_input");
            (matches!(
                driver.as_str(),
                "coretemp" | "k10temp" | "zenpower" | "cpu_thermal"
            ) && input.exists())
            .then_some(input)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_not_available_is_used() {
        let text = "MemTotal:       1000 kB\nMemFree:  100 kB\nMemAvailable:    400 kB\n";
        assert_eq!(
            parse_memory(text),
            Some(Memory {
                total: 1_024_000,
                used: 614_400
            })
        );
    }
}
