use std::sync::OnceLock;

use serde::Deserialize;

use crate::grid::data;
use crate::meter::sensor::tdp;
use crate::text::nearest;
use crate::units::Watts;

/// A processor or accelerator of the tables.
#[derive(Debug, Clone, PartialEq)]
pub struct Device {
    pub name: String,
    /// Thermal design power.
    pub watts: Watts,
}

/// Which table a device is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Cpu,
    Gpu,
}

/// A name that is no device's, or that of several that differ.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoSuchDevice {
    #[error("no {kind} is called `{}`{}", .asked.escape_debug(), nearest::said(.nearest))]
    Unknown {
        kind: &'static str,
        asked: String,
        nearest: Vec<String>,
    },
    #[error("`{}` can be {}", .asked.escape_debug(), .candidates.join(", "))]
    Several {
        asked: String,
        candidates: Vec<String>,
    },
}

/// Devices shown where a name is that of several.
const CANDIDATES: usize = 10;

#[derive(Deserialize)]
struct Row {
    name: String,
    tdp_w: f64,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Cpu => "CPU",
            Self::Gpu => "GPU",
        }
    }

    /// Every device, in the order of the table.
    #[must_use]
    pub fn all(self) -> &'static [Device] {
        static CPUS: OnceLock<Vec<Device>> = OnceLock::new();
        static GPUS: OnceLock<Vec<Device>> = OnceLock::new();
        let (cell, table) = match self {
            Self::Cpu => (&CPUS, &data::CPU_TDP),
            Self::Gpu => (&GPUS, &data::GPU_TDP),
        };
        cell.get_or_init(|| {
            table
                .rows::<Row>()
                .into_iter()
                .filter_map(|row| {
                    let watts = Watts::new(row.tdp_w).ok()?;
                    Some(Device {
                        name: row.name,
                        watts,
                    })
                })
                .collect()
        })
    }

    /// Where the figures are from.
    #[must_use]
    pub fn source(self) -> String {
        let about = match self {
            Self::Cpu => &data::CPU_TDP.provenance,
            Self::Gpu => &data::GPU_TDP.provenance,
        };
        format!("{} {}", about.source, about.version)
    }

    /// The device people mean by a name: the same words, else all of these words among others.
    pub fn find(self, name: &str) -> Result<&'static Device, NoSuchDevice> {
        let asked = nearest::short(name);
        let wanted = words(&asked);
        let all = self.all();
        if let Some(device) = all.iter().find(|device| words(&device.name) == wanted) {
            return Ok(device);
        }
        let holds = |device: &&Device| {
            let known = words(&device.name);
            !wanted.is_empty() && wanted.iter().all(|word| known.contains(word))
        };
        let candidates: Vec<&Device> = all.iter().filter(holds).collect();
        match candidates.as_slice() {
            [] => Err(self.unknown(asked)),
            [first, others @ ..] if others.iter().all(|other| other.watts == first.watts) => {
                Ok(first)
            }
            several => Err(NoSuchDevice::Several {
                asked,
                candidates: several
                    .iter()
                    .take(CANDIDATES)
                    .map(|device| device.name.clone())
                    .collect(),
            }),
        }
    }

    fn unknown(self, asked: String) -> NoSuchDevice {
        let wanted = words(&asked).join(" ");
        let devices = self
            .all()
            .iter()
            .map(|device| (&device.name, [words(&device.name).join(" ")]));
        NoSuchDevice::Unknown {
            kind: self.name(),
            asked,
            nearest: nearest::among(&wanted, devices)
                .into_iter()
                .cloned()
                .collect(),
        }
    }
}

/// The words that tell devices apart. People leave makers and families out, which a driver never does.
fn words(name: &str) -> Vec<String> {
    let mut words = tdp::words(name);
    words.retain(|word| !matches!(word.as_str(), "amd" | "intel" | "tesla" | "geforce"));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(kind: Kind, name: &str) -> (String, f64) {
        let device = kind.find(name).unwrap();
        (device.name.clone(), device.watts.get())
    }

    #[test]
    fn a_device_is_found_by_the_name_people_write() {
        let a100 = ("A100 SXM4 80 GB".to_owned(), 400.0);
        for name in ["A100 SXM4 80GB", "NVIDIA A100-SXM4-80GB", "a100 sxm4 80 gb"] {
            assert_eq!(found(Kind::Gpu, name), a100);
        }
        assert_eq!(
            found(Kind::Cpu, "EPYC 7763"),
            ("AMD EPYC 7763".to_owned(), 280.0)
        );
    }

    #[test]
    fn a_name_that_several_different_devices_have_lists_them() {
        let error = Kind::Gpu.find("A100").unwrap_err();
        let NoSuchDevice::Several { candidates, .. } = error else {
            panic!("{error}");
        };
        assert!(candidates.contains(&"A100 SXM4 80 GB".to_owned()));
    }

    #[test]
    fn an_unknown_name_suggests_the_nearest() {
        let error = Kind::Gpu.find("A100 SXN4 80GB").unwrap_err();
        assert!(error.to_string().contains("A100 SXM4 80 GB"), "{error}");
        assert!(Kind::Gpu.find("").is_err());
    }
}
