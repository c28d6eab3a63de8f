//! NVIDIA boards through NVML, loaded at run time.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use nvml_wrapper::enums::device::UsedGpuMemory;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, Nvml};

use super::accelerator::{Accelerator, Board, BoardReadings, POWER_PERIOD_S, visible};
use super::alive::is_alive;
use super::board_error::{DriverError, MeterError, ShareError};
use super::latest_reading::LatestReading;
use super::tdp::BoardPower;
use super::{PowerSource, ReadError, Reading, Roots, Sensor, Share, Wraps};
use crate::model::{Component, Method};
use crate::units::Watts;

/// One board; the library stays loaded until the program ends.
struct NvidiaBoard {
    device: Option<Arc<Device<'static>>>,
    uuid: String,
    name: String,
    driver: Option<String>,
    /// What can be read, with the first reading.
    meter: Result<(Meter, Reading), MeterError>,
    /// The power or the load, if its sensor reads that.
    latest: LatestReading,
    /// The newest utilisation sample seen, in the driver's clock.
    last_seen: u64,
    /// Whether the driver may report process ids of another namespace.
    has_foreign_pids: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Meter {
    /// An energy counter.
    Counter,
    /// A power sensor.
    Power,
    /// Neither: an estimate from design power and load.
    Load(BoardPower),
}

/// Whether to load the library: it was given by path, or the driver is present.
pub(crate) fn is_likely(roots: &Roots) -> bool {
    roots.nvml_lib.is_some()
        || ["/dev/nvidiactl", "/dev/dxg"]
            .iter()
            .any(|device| Path::new(device).exists())
}

/// The boards that a program started from here would see; the error says why there are none.
pub(crate) fn boards(
    roots: &Roots,
    visible_devices: Option<&str>,
) -> Result<Vec<Box<dyn Accelerator>>, DriverError> {
    let nvml: &'static Nvml = Box::leak(Box::new(
        load(roots.nvml_lib.as_deref()).map_err(DriverError::of)?,
    ));
    let has_foreign_pids = has_own_process_ids(roots);
    let count = nvml.device_count().map_err(DriverError::of)?;
    let driver = nvml.sys_driver_version().ok();
    let found: Vec<NvidiaBoard> = (0..count)
        .map(|index| {
            NvidiaBoard::of(
                nvml,
                index,
                driver.clone(),
                has_foreign_pids,
                roots.gpu_tdp_w,
            )
        })
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

/// Whether this process is in a container with its own pid namespace.
///
/// The driver may then report process ids of the host, which mean nothing here.
fn has_own_process_ids(roots: &Roots) -> bool {
    /// The host's pid namespace; the number is the same in every kernel.
    const HOST: &str = "pid:[4026531836]";
    let own = std::fs::read_link(roots.proc("self/ns/pid"));
    own.is_ok_and(|name| name.as_os_str() != HOST)
}

pub(crate) fn load(library: Option<&OsStr>) -> Result<Nvml, NvmlError> {
    let load = |name: &OsStr| Nvml::builder().lib_path(name).init();
    match library {
        Some(path) => load(path),
        None => load("libnvidia-ml.so.1".as_ref()).or_else(|_| load("libnvidia-ml.so".as_ref())),
    }
}

impl NvidiaBoard {
    fn of(
        nvml: &'static Nvml,
        index: u32,
        driver: Option<String>,
        has_foreign_pids: bool,
        stated_w: Option<u32>,
    ) -> Self {
        let device = nvml.device_by_index(index);
        let text = |ask: fn(&Device<'static>) -> Result<String, NvmlError>| {
            let device = device.as_ref().ok()?;
            ask(device).ok().filter(|text| !text.is_empty())
        };
        let uuid = text(Device::uuid).unwrap_or_else(|| format!("nvidia-{index}"));
        let name = text(Device::name).unwrap_or_else(|| format!("NVIDIA board {index}"));
        let meter = match &device {
            Err(error) => Err(MeterError::Unreadable(error.to_string())),
            Ok(device) => Meter::find(device, &name, stated_w)
                .map_err(|error| MeterError::Unreadable(error.to_string())),
        };
        Self {
            device: device.ok().map(Arc::new),
            uuid,
            name,
            driver,
            meter,
            latest: LatestReading::default(),
            last_seen: 0,
            has_foreign_pids,
        }
    }

    fn ids(&self) -> Vec<String> {
        ids(&self.uuid, self.device.as_deref())
    }

    /// Which processes computed since the last call, by time on the multiprocessors; none where the
    /// driver does not say.
    fn by_utilisation(&mut self) -> Vec<(u32, f64)> {
        let Some(device) = &self.device else {
            return Vec::new();
        };
        let samples = device.process_utilization_stats(self.last_seen);
        let samples = samples.unwrap_or_default();
        let new = samples.iter().filter(|s| s.timestamp > self.last_seen);
        let users = new.map(|sample| (sample.pid, f64::from(sample.sm_util)));
        let users = users.filter(|(_, worked)| *worked > 0.0).collect();
        let newest = samples.iter().map(|sample| sample.timestamp).max();
        self.last_seen = self.last_seen.max(newest.unwrap_or(0));
        users
    }

    /// Which processes use the board, by memory held.
    fn by_memory(&self) -> Vec<(u32, f64)> {
        let Some(device) = &self.device else {
            return Vec::new();
        };
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
        let device = self.device.as_ref();
        Board {
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

    fn sensor(&self) -> Result<Sensor, MeterError> {
        let (meter, first) = self.meter.clone()?;
        let device = self.device.clone().ok_or(MeterError::NotFound)?;
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
            first,
            source: Box::new(NvidiaMeter {
                device,
                meter,
                latest: self.latest.clone(),
            }),
        })
    }

    fn readings(&self) -> BoardReadings {
        let Some(device) = &self.device else {
            return BoardReadings::default();
        };
        let latest = self.latest.take();
        let power = || power(device).ok();
        let utilisation = || utilisation(device).ok();
        let (watts, utilisation) = match &self.meter {
            Ok((Meter::Power, _)) => (latest.or_else(power), utilisation()),
            Ok((Meter::Load(_), _)) => (None, latest.or_else(utilisation)),
            _ => (power(), utilisation()),
        };
        BoardReadings {
            watts,
            utilisation,
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

    /// By time on the multiprocessors; if no process computed or the driver does not say, by memory.
    fn share(&mut self, processes: &[u32]) -> Result<Share, ShareError> {
        let mut users = self.by_utilisation();
        if users.is_empty() {
            users = self.by_memory();
        }
        if self.has_foreign_pids
            && !users.is_empty()
            && users.iter().all(|(pid, _)| !is_alive(*pid))
        {
            return Err(ShareError::HostProcessIds);
        }
        let all = users.iter().map(|(_, part)| part).sum();
        let of_run = users.iter().filter(|(pid, _)| processes.contains(pid));
        Ok(Share::of(of_run.map(|(_, part)| part).sum(), all))
    }
}

/// The UUID of a board, and those of the slices it is cut into.
pub(crate) fn ids(uuid: &str, device: Option<&Device>) -> Vec<String> {
    let mut ids = vec![uuid.to_owned()];
    if let Some(device) = device
        && let Ok(slices) = device.mig_device_count()
    {
        ids.extend(
            (0..slices).filter_map(|slice| device.mig_device_by_index(slice).ok()?.uuid().ok()),
        );
    }
    ids
}

fn power(device: &Device) -> Result<f64, NvmlError> {
    Ok(f64::from(device.power_usage()?) / 1e3)
}

fn utilisation(device: &Device) -> Result<f64, NvmlError> {
    Ok(f64::from(device.utilization_rates()?.gpu) / 100.0)
}

impl Meter {
    /// The best meter of a board, with its first reading.
    fn find(
        device: &Device,
        name: &str,
        stated_w: Option<u32>,
    ) -> Result<(Self, Reading), NvmlError> {
        let latest = LatestReading::default();
        if let Ok(first) = Self::Counter.read(device, &latest) {
            return Ok((Self::Counter, first));
        }
        let error = match Self::Power.read(device, &latest) {
            Ok(first) => return Ok((Self::Power, first)),
            Err(error) => error,
        };
        let model = BoardPower::of(name, stated_w)
            .map(Self::Load)
            .ok_or(error)?;
        let first = model.read(device, &latest)?;
        Ok((model, first))
    }

    fn read(&self, device: &Device, latest: &LatestReading) -> Result<Reading, NvmlError> {
        latest.set(None);
        let read = |ask: fn(&Device) -> Result<f64, NvmlError>| {
            ask(device).inspect(|value| latest.set(Some(*value)))
        };
        Ok(match self {
            Self::Counter => Reading::Counter {
                microjoules: device.total_energy_consumption()?.saturating_mul(1000),
                wraps: Wraps::Never,
            },
            Self::Power => Reading::Gauge {
                watts: Watts::new(read(power)?).expect("a 32-bit count of milliwatts is a power"),
            },
            Self::Load(board) => Reading::Gauge {
                watts: board.at(read(utilisation)?),
            },
        })
    }
}

struct NvidiaMeter {
    device: Arc<Device<'static>>,
    meter: Meter,
    latest: LatestReading,
}

impl PowerSource for NvidiaMeter {
    fn read(&mut self) -> Result<Reading, ReadError> {
        let reading = self.meter.read(&self.device, &self.latest);
        reading.map_err(|error| match error {
            NvmlError::GpuLost | NvmlError::ResetRequired | NvmlError::Uninitialized => {
                ReadError::Lost(error.to_string())
            }
            other => ReadError::Again(other.to_string()),
        })
    }
}
