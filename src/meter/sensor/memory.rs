//! An estimate of the memory's power from its modules or its size, for machines without a meter of it.

use std::time::Instant;

use super::kernel_file::line;
use super::{KernelFile, PowerSource, Processor, ReadError, Reading, Roots, Sensor, Wraps};
use crate::grid::data::typical_power::Part;
use crate::model::{Component, CpuSocket, Method};

/// What memory modules are counted in: 2^30 bytes.
const GB: f64 = 1_073_741_824.0;
/// More controllers and modules than any machine has are not looked at.
const MOST_ENTRIES: usize = 1024;

/// The power assumed for all memory, and the model in words.
#[derive(Debug, Clone, PartialEq)]
struct MemoryPower {
    watts: f64,
    model: String,
}

/// The estimated energy of all memory; none if its size is not known.
pub(crate) fn sensor(roots: &Roots, processor: &Processor) -> Option<Sensor> {
    let power = MemoryPower::of(roots, processor)?;
    Some(Sensor {
        // How the memory is divided among sockets is not known.
        component: Component::Dram(CpuSocket::socket(0)),
        method: Method::Estimated { model: power.model },
        place: roots.proc("meminfo").display().to_string(),
        first: Reading::Counter {
            microjoules: 0,
            wraps: Wraps::Never,
        },
        source: Box::new(ConstantPower {
            watts: power.watts,
            started: Instant::now(),
        }),
    })
}

impl MemoryPower {
    /// By what the user states, by the number of modules, or by size.
    fn of(roots: &Roots, processor: &Processor) -> Option<Self> {
        let gigabytes = total_bytes(roots)? as f64 / GB;
        if let Some(milliwatts) = roots.memory_mw_per_gb {
            let each = f64::from(milliwatts) / 1e3;
            return Some(Self::by_size(each, gigabytes, "as stated"));
        }
        let modules = modules(roots);
        if modules == 0 {
            let each = Part::MemoryGb.power().watts.get();
            return Some(Self::by_size(each, gigabytes, "assumed"));
        }
        let part = if processor.is_arm {
            Part::ArmMemoryModule
        } else {
            Part::MemoryModule
        };
        let each = part.power().watts.get();
        let watts = each * modules as f64;
        Some(Self {
            watts,
            model: format!("{modules} memory modules, assumed {each} W each: {watts:.0} W"),
        })
    }

    fn by_size(each: f64, gigabytes: f64, origin: &str) -> Self {
        let watts = each * gigabytes;
        Self {
            watts,
            model: format!("{gigabytes:.0} GB of memory, {each} W a GB {origin}: {watts:.1} W"),
        }
    }
}

/// The memory of the machine, also in a container with a limit.
fn total_bytes(roots: &Roots) -> Option<u64> {
    // The needed line is the first of the file.
    let mut buffer = [0; 256];
    let file = KernelFile::open(&roots.proc("meminfo")).ok()?;
    let text = file.text(&mut buffer).ok()?;
    let size = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib: u64 = size?.split_ascii_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024).filter(|bytes| *bytes > 0)
}

/// The number of memory modules that the kernel's error detection lists; 0 if there is none.
fn modules(roots: &Roots) -> usize {
    let below = |folder: &std::path::Path, prefix: &'static str| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let entries = entries.take(MOST_ENTRIES).map(|entry| entry.path());
        entries.filter(move |path| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with(prefix))
        })
    };
    // In megabytes; an empty slot has 0.
    let has_memory = |module: &std::path::PathBuf| {
        let size: Option<u64> = line(&module.join("size")).and_then(|size| size.parse().ok());
        size.is_some_and(|size| size > 0)
    };
    below(&roots.sys("devices/system/edac/mc"), "mc")
        .flat_map(|controller| below(&controller, "dimm"))
        .filter(has_memory)
        .count()
}

/// A counter that rises with time.
#[derive(Debug)]
struct ConstantPower {
    watts: f64,
    started: Instant,
}

impl PowerSource for ConstantPower {
    fn read(&mut self) -> Result<Reading, ReadError> {
        let joules = self.watts * self.started.elapsed().as_secs_f64();
        Ok(Reading::of_joules(joules))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn memory_counts_as_stated_by_its_modules_or_by_its_size() {
        let folder = tempfile::tempdir().unwrap();
        let mut roots = Roots {
            sysfs: folder.path().to_owned(),
            procfs: folder.path().to_owned(),
            ..Roots::default()
        };
        let x86 = Processor::default();
        let power = |roots: &Roots, processor: &Processor| MemoryPower::of(roots, processor);
        assert_eq!(power(&roots, &x86), None);
        fs::write(folder.path().join("meminfo"), "MemTotal: 33554432 kB\n").unwrap();
        let by_size = power(&roots, &x86).unwrap();
        assert!((by_size.watts - 32.0 * 0.3725).abs() < 1e-9);
        assert_eq!(
            by_size.model,
            "32 GB of memory, 0.3725 W a GB assumed: 11.9 W"
        );
        for (slot, size) in [
            ("mc0/dimm0", "16384"),
            ("mc0/dimm1", "0"),
            ("mc1/dimm0", "16384"),
        ] {
            let slot = folder.path().join("devices/system/edac/mc").join(slot);
            fs::create_dir_all(&slot).unwrap();
            fs::write(slot.join("size"), size).unwrap();
        }
        assert_eq!(power(&roots, &x86).unwrap().watts, 10.0);
        let arm = Processor {
            is_arm: true,
            ..Processor::default()
        };
        assert_eq!(power(&roots, &arm).unwrap().watts, 3.0);
        roots.memory_mw_per_gb = Some(250);
        assert_eq!(power(&roots, &x86).unwrap().watts, 8.0);
    }
}
