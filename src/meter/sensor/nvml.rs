//! NVIDIA boards through NVML, loaded at run time.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use nvml_wrapper::enums::device::UsedGpuMemory;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, Nvml};

use super::accelerator::{Accelerator, Board, BoardReadings, POWER_PERIOD_S, visible};
use super::alive::is_alive;
use super::tdp::BoardPower;
use super::{PowerSource, ReadError, Reading, Roots, Sensor, Share, Wraps};
use crate::model::{Component, Method};
use crate::units::Watts;

/// One board of the library, which stays loaded until the program ends.
struct NvidiaBoard {
    nvml: &'static Nvml,
    index: u32,
    uuid: String,
    name: String,
    driver: Option<String>,
    meter: Result<Meter, String>,
    /// The newest utilisation sample seen, in the driver's clock.
    last_seen: u64,
    /// Whether the driver may name processes by numbers that mean nothing here.
    may_name_strangers: bool,
    counted_whole: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Meter {
    Counter,
    Power,
    /// Neither: its design power and its load, as an estimate.
    Load(BoardPower),
}

/// Whether it is worth loading the library: asked for by name, or the driver is there.
#[must_use]
pub fn is_likely(roots: &Roots) -> bool {
    roots.nvml_lib.is_some()
        || ["/dev/nvidiactl", "/dev/dxg"]
            .iter()
            .any(|device| Path::new(device).exists())
}

/// The boards a program started from here would see; the error says why there are none.
pub fn boards(
    roots: &Roots,
    visible_devices: Option<&str>,
) -> Result<Vec<Box<dyn Accelerator>>, String> {
    let nvml: &'static Nvml = Box::leak(Box::new(load(roots.nvml_lib.as_deref())?));
    let may_name_strangers = has_own_process_ids(roots);
    let count = nvml.device_count().map_err(|error| error.to_string())?;
    let driver = nvml.sys_driver_version().ok();
    let found: Vec<NvidiaBoard> = (0..count)
        .map(|index| NvidiaBoard::of(nvml, index, driver.clone(), may_name_strangers))
        .collect();
    let shown = match visible_devices {
        Some(list) => {
            let ids: Vec<Vec<String>> = found.iter().map(NvidiaBoard::ids).collect();
            visible(list, &ids)
        }
        None => vec![true; found.len()],
    };
    Ok(found
        .into_iter()
        .zip(shown)
        .filter(|(_, shown)| *shown)
        .map(|(board, _)| Box::new(board) as Box<dyn Accelerator>)
        .collect())
}

/// Whether we are in a container that numbers its processes itself.
///
/// The driver may then name processes by numbers that mean nothing here.
fn has_own_process_ids(roots: &Roots) -> bool {
    /// The name of the host's own numbering, the same in every kernel.
    const HOST: &str = "pid:[4026531836]";
    let ours = std::fs::read_link(roots.proc("self/ns/pid"));
    ours.is_ok_and(|name| name.as_os_str() != HOST)
}

fn load(library: Option<&OsStr>) -> Result<Nvml, String> {
    let names: Vec<OsString> = match library {
        Some(path) => vec![path.to_owned()],
        None => vec!["libnvidia-ml.so.1".into(), "libnvidia-ml.so".into()],
    };
    let mut why = String::new();
    for name in names {
        match Nvml::builder().lib_path(&name).init() {
            Ok(nvml) => return Ok(nvml),
            Err(error) => why = error.to_string(),
        }
    }
    Err(why)
}

impl NvidiaBoard {
    fn of(
        nvml: &'static Nvml,
        index: u32,
        driver: Option<String>,
        may_name_strangers: bool,
    ) -> Self {
        let device = nvml.device_by_index(index);
        let said = |text: Result<String, NvmlError>| text.ok().filter(|text| !text.is_empty());
        let uuid = device
            .as_ref()
            .ok()
            .and_then(|device| said(device.uuid()))
            .unwrap_or_else(|| format!("nvidia-{index}"));
        let name = device
            .as_ref()
            .ok()
            .and_then(|device| said(device.name()))
            .unwrap_or_else(|| format!("NVIDIA board {index}"));
        let meter = match &device {
            Err(error) => Err(error.to_string()),
            Ok(device) if device.total_energy_consumption().is_ok() => Ok(Meter::Counter),
            Ok(device) => match device.power_usage() {
                Ok(_) => Ok(Meter::Power),
                Err(error) => BoardPower::of(&name)
                    .filter(|_| device.utilization_rates().is_ok())
                    .map(Meter::Load)
                    .ok_or_else(|| error.to_string()),
            },
        };
        Self {
            nvml,
            index,
            uuid,
            name,
            driver,
            meter,
            last_seen: 0,
            may_name_strangers,
            counted_whole: false,
        }
    }

    fn device(&self) -> Result<Device<'static>, NvmlError> {
        self.nvml.device_by_index(self.index)
    }

    /// Its UUID, and those of the slices it is cut into.
    fn ids(&self) -> Vec<String> {
        let mut ids = vec![self.uuid.clone()];
        if let Ok(device) = self.device()
            && let Ok(slices) = device.mig_device_count()
        {
            ids.extend(
                (0..slices).filter_map(|slice| device.mig_device_by_index(slice).ok()?.uuid().ok()),
            );
        }
        ids
    }

    /// Who computed since the last call, by time on the multiprocessors; nobody where the driver does
    /// not say.
    fn by_utilisation(&mut self, device: &Device) -> Vec<(u32, f64)> {
        let samples = device.process_utilization_stats(self.last_seen);
        let samples = samples.unwrap_or_default();
        let new = samples.iter().filter(|s| s.timestamp > self.last_seen);
        let users = new.map(|sample| (sample.pid, f64::from(sample.sm_util)));
        let users = users.filter(|(_, worked)| *worked > 0.0).collect();
        let newest = samples.iter().map(|sample| sample.timestamp).max();
        self.last_seen = self.last_seen.max(newest.unwrap_or(0));
        users
    }

    /// Who is on the board, by memory held.
    fn by_memory(device: &Device) -> Vec<(u32, f64)> {
        let users = [
            device.running_compute_processes(),
            device.running_graphics_processes(),
        ];
        let held = |memory| match memory {
            UsedGpuMemory::Used(bytes) => bytes.max(1) as f64,
            UsedGpuMemory::Unavailable => 1.0,
        };
        let users = users.into_iter().flatten().flatten();
        users
            .map(|user| (user.pid, held(user.used_gpu_memory)))
            .collect()
    }
}

impl Accelerator for NvidiaBoard {
    fn board(&self) -> Board {
        let device = self.device().ok();
        let device = device.as_ref();
        Board {
            component: Component::Gpu(self.uuid.clone()),
            uuid: self.uuid.clone(),
            name: self.name.clone(),
            memory_bytes: device
                .and_then(|device| device.memory_info().ok())
                .map(|memory| memory.total),
            power_limit_w: device
                .and_then(|device| device.enforced_power_limit().ok())
                .map(|milliwatts| f64::from(milliwatts) / 1e3),
            driver: self.driver.clone(),
        }
    }

    fn sensor(&self) -> Result<Sensor, String> {
        let meter = self.meter.clone()?;
        let device = self.device().map_err(|error| error.to_string())?;
        Ok(Sensor {
            component: Component::Gpu(self.uuid.clone()),
            method: match &meter {
                Meter::Counter => Method::Measured,
                Meter::Power => Method::Integrated {
                    period_s: Some(POWER_PERIOD_S),
                },
                Meter::Load(power) => Method::Estimated {
                    model: power.model.clone(),
                },
            },
            place: match meter {
                Meter::Counter => format!("NVML total energy of {}", self.name),
                Meter::Power => format!("NVML power of {}", self.name),
                Meter::Load(_) => format!("NVML utilisation of {}", self.name),
            },
            source: Box::new(NvidiaMeter { device, meter }),
        })
    }

    fn readings(&self) -> BoardReadings {
        let Ok(device) = self.device() else {
            return BoardReadings::default();
        };
        BoardReadings {
            watts: device.power_usage().ok().map(|mw| f64::from(mw) / 1e3),
            utilisation: device
                .utilization_rates()
                .ok()
                .map(|rates| f64::from(rates.gpu) / 100.0),
            temperature_c: device
                .temperature(TemperatureSensor::Gpu)
                .ok()
                .map(f64::from),
            performance_state: device
                .performance_state()
                .ok()
                .map(|state| format!("P{}", state.as_c())),
            memory_used: device.memory_info().ok().map(|memory| memory.used),
            clock_mhz: device.clock_info(Clock::SM).ok(),
        }
    }

    /// By time on the multiprocessors; if nobody computed or the driver does not say, by memory held.
    fn share(&mut self, processes: &[u32]) -> Share {
        let Ok(device) = self.device() else {
            return Share::Idle;
        };
        let mut users = self.by_utilisation(&device);
        if users.is_empty() {
            users = Self::by_memory(&device);
        }
        if self.may_name_strangers
            && !users.is_empty()
            && users.iter().all(|(pid, _)| !is_alive(*pid))
        {
            self.counted_whole = true;
            return Share::Of(1.0);
        }
        let all = users.iter().map(|(_, part)| part).sum();
        let ours = users.iter().filter(|(pid, _)| processes.contains(pid));
        Share::of(ours.map(|(_, part)| part).sum(), all)
    }

    fn counts_whole_because(&mut self) -> Option<&'static str> {
        std::mem::take(&mut self.counted_whole)
            .then_some("its driver names processes as the host does, which a container cannot see")
    }
}

struct NvidiaMeter {
    device: Device<'static>,
    meter: Meter,
}

impl PowerSource for NvidiaMeter {
    fn read(&mut self) -> Result<Reading, ReadError> {
        let reading = match &self.meter {
            Meter::Counter => {
                self.device
                    .total_energy_consumption()
                    .map(|millijoules| Reading::Counter {
                        microjoules: millijoules.saturating_mul(1000),
                        wraps: Wraps::Never,
                    })
            }
            Meter::Power => self.device.power_usage().map(|milliwatts| Reading::Gauge {
                watts: Watts::new(f64::from(milliwatts) / 1e3)
                    .expect("a 32-bit count of milliwatts is a power"),
            }),
            Meter::Load(power) => self.device.utilization_rates().map(|rates| Reading::Gauge {
                watts: power.at(f64::from(rates.gpu) / 100.0),
            }),
        };
        reading.map_err(|error| match error {
            NvmlError::GpuLost | NvmlError::ResetRequired | NvmlError::Uninitialized => {
                ReadError::Lost(error.to_string())
            }
            other => ReadError::Again(other.to_string()),
        })
    }
}
