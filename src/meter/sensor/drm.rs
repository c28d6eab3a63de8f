//! AMD and Intel boards, read from the energy, power and load files of their kernel drivers.

use std::io;
use std::path::{Path, PathBuf};

use super::accelerator::{Accelerator, Board, BoardReadings, POWER_PERIOD_S};
use super::kernel_file::line;
use super::{KernelFile, PowerSource, ReadError, Reading, Roots, Sensor, Share, Wraps};
use crate::model::{Component, Method};
use crate::units::Watts;

const NVIDIA: &str = "0x10de";

/// A graphics card with a hardware monitor.
#[derive(Debug)]
struct Card {
    device: PathBuf,
    monitor: PathBuf,
    uuid: String,
}

/// Every card whose driver has an energy or power file, in the order of their numbers.
pub(crate) fn boards(roots: &Roots) -> Vec<Box<dyn Accelerator>> {
    let mut folders: Vec<PathBuf> = std::fs::read_dir(roots.sys("class/drm"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| is_card(path))
        .collect();
    folders.sort();
    folders
        .iter()
        .filter_map(|folder| Card::of(&folder.join("device")))
        .map(|card| Box::new(card) as Box<dyn Accelerator>)
        .collect()
}

/// `card0`, but not `card0-HDMI-A-1`.
fn is_card(path: &Path) -> bool {
    path.file_name()
        .and_then(|name| name.to_str()?.strip_prefix("card"))
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

impl Card {
    fn of(device: &Path) -> Option<Self> {
        if line(&device.join("vendor")).as_deref() == Some(NVIDIA) {
            return None;
        }
        let monitor = std::fs::read_dir(device.join("hwmon"))
            .ok()?
            .flatten()
            .map(|entry| entry.path())
            .find(|monitor| METERS.iter().any(|(file, _)| monitor.join(file).exists()))?;
        let address = || {
            Some(
                device
                    .canonicalize()
                    .ok()?
                    .file_name()?
                    .to_str()?
                    .to_owned(),
            )
        };
        let uuid = line(&device.join("unique_id")).or_else(address)?;
        Some(Self {
            device: device.to_owned(),
            monitor,
            uuid,
        })
    }

    /// Whether this is a GPU inside a processor, whose power file shows the whole chip.
    ///
    /// Only those have a northbridge voltage.
    fn is_part_of_the_processor(&self) -> bool {
        line(&self.monitor.join("in1_label")).as_deref() == Some("vddnb")
    }
}

fn number(file: &Path) -> Option<f64> {
    line(file)?.parse().ok()
}

/// The energy and power files of a board, best first.
const METERS: [(&str, Kind); 3] = [
    ("energy1_input", Kind::Microjoules),
    ("power1_average", Kind::Microwatts),
    ("power1_input", Kind::Microwatts),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Microjoules,
    Microwatts,
}

#[derive(Debug)]
struct CardMeter {
    file: KernelFile,
    kind: Kind,
}

impl Accelerator for Card {
    fn board(&self) -> Board {
        let model = line(&self.device.join("device")).unwrap_or_default();
        Board {
            uuid: self.uuid.clone(),
            name: line(&self.device.join("product_name"))
                .unwrap_or_else(|| format!("graphics card {model}").trim_end().to_owned()),
            memory_bytes: number(&self.device.join("mem_info_vram_total"))
                .map(|bytes| bytes as u64),
            power_limit_w: number(&self.monitor.join("power1_cap"))
                .map(|microwatts| microwatts / 1e6),
            driver: line(&self.monitor.join("name")),
        }
    }

    fn sensor(&self) -> Result<Sensor, String> {
        if self.is_part_of_the_processor() {
            return Err("it is a part of the processor and metered with it".to_owned());
        }
        let mut why = String::from("no energy or power file");
        for (name, kind) in METERS {
            let path = self.monitor.join(name);
            match CardMeter::open(&path, kind) {
                Ok((meter, first)) => {
                    return Ok(Sensor {
                        component: Component::Gpu(self.uuid.clone()),
                        method: match kind {
                            Kind::Microjoules => Method::Measured,
                            Kind::Microwatts => Method::Integrated {
                                period_s: Some(POWER_PERIOD_S),
                            },
                        },
                        place: format!("{} (whole board)", path.display()),
                        first,
                        source: Box::new(meter),
                    });
                }
                Err(error) if path.exists() => why = error.to_string(),
                Err(_) => {}
            }
        }
        Err(why)
    }

    fn readings(&self) -> BoardReadings {
        BoardReadings {
            watts: METERS[1..]
                .iter()
                .find_map(|(file, _)| number(&self.monitor.join(file)))
                .map(|microwatts| microwatts / 1e6),
            utilisation: number(&self.device.join("gpu_busy_percent"))
                .map(|percent| percent / 100.0),
            temperature_c: number(&self.monitor.join("temp1_input"))
                .map(|millidegrees| millidegrees / 1e3),
            performance_state: None,
            memory_used: number(&self.device.join("mem_info_vram_used")).map(|bytes| bytes as u64),
            clock_mhz: number(&self.monitor.join("freq1_input")).map(|hertz| (hertz / 1e6) as u32),
        }
    }

    fn share(&mut self, _processes: &[u32]) -> Result<Share, &'static str> {
        Err("its driver does not say who uses it")
    }
}

impl CardMeter {
    /// Opens the file and reads it once.
    fn open(path: &Path, kind: Kind) -> io::Result<(Self, Reading)> {
        let file = KernelFile::open(path)?;
        let mut meter = Self { file, kind };
        let first = meter.read().map_err(io::Error::other)?;
        Ok((meter, first))
    }
}

impl PowerSource for CardMeter {
    fn read(&mut self) -> Result<Reading, ReadError> {
        let value = self
            .file
            .number()
            .map_err(|error| match error.raw_os_error() {
                Some(libc::ENODEV | libc::ENXIO | libc::EIO) => ReadError::Lost(error.to_string()),
                _ => ReadError::Again(error.to_string()),
            })?;
        Ok(match self.kind {
            Kind::Microjoules => Reading::Counter {
                microjoules: value,
                wraps: Wraps::Never,
            },
            Kind::Microwatts => Reading::Gauge {
                watts: Watts::new(value as f64 / 1e6)
                    .map_err(|error| ReadError::Again(error.to_string()))?,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn an_amd_card_is_metered_by_its_power_file() {
        let folder = tempfile::tempdir().unwrap();
        let device = folder.path().join("class/drm/card0/device");
        let monitor = device.join("hwmon/hwmon3");
        fs::create_dir_all(&monitor).unwrap();
        fs::create_dir_all(folder.path().join("class/drm/card0-HDMI-A-1")).unwrap();
        fs::write(device.join("vendor"), "0x1002\n").unwrap();
        fs::write(device.join("unique_id"), "8c1f\n").unwrap();
        fs::write(device.join("gpu_busy_percent"), "37\n").unwrap();
        fs::write(monitor.join("power1_average"), "155000000\n").unwrap();
        let roots = Roots {
            sysfs: folder.path().to_owned(),
            ..Roots::default()
        };
        let cards = boards(&roots);
        assert_eq!(cards.len(), 1);
        assert_eq!(cards[0].board().component().to_string(), "gpu:8c1f");
        assert_eq!(cards[0].readings().utilisation, Some(0.37));
        let sensor = cards[0].sensor().unwrap();
        let watts = Watts::new(155.0).unwrap();
        assert_eq!(sensor.first, Reading::Gauge { watts });
        fs::write(monitor.join("in1_label"), "vddnb\n").unwrap();
        assert!(cards[0].sensor().is_err());
    }
}
