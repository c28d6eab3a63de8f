//! The sensors of a machine: what they meter, how they are read, and how good their figures are.

pub(crate) mod accelerator;
pub(crate) mod alive;
pub(crate) mod board_error;
mod boards;
mod chassis;
pub(crate) mod cgroup_cpu_time;
mod cpu_list;
mod cpu_times;
mod drm;
mod drm_clients;
pub(crate) mod kernel_file;
mod latest_reading;
mod machine_cpu_time;
mod memory;
mod mirrored_dies;
#[cfg(feature = "nvml")]
pub(crate) mod nvml;
mod odometer;
mod perf;
mod processor;
pub(crate) mod rapl;
mod reading;
mod roots;
mod share;
mod survey;
pub(crate) mod tdp;

pub(crate) use boards::Boards;
pub(crate) use cgroup_cpu_time::CgroupCpuTime;
pub use chassis::personal_computer;
pub use cpu_times::CpuTimes;
pub(crate) use cpu_times::tick;
pub(crate) use kernel_file::KernelFile;
pub(crate) use machine_cpu_time::MachineCpuTime;
pub(crate) use odometer::{Anomaly, Odometer};
pub(crate) use processor::Processor;
pub use reading::{PowerSource, ReadError, Reading, Sensor, Wraps};
pub use roots::Roots;
pub(crate) use share::{Ledger, Share};
pub(crate) use survey::{Finding, Interface, State, Survey};
