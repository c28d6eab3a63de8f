//! What the hardware says: which parts draw energy, how much, and how well that is known.

pub mod accelerator;
pub(crate) mod alive;
mod boards;
mod cpu_list;
mod cpu_times;
pub mod drm;
pub mod cgroup_cpu_time;
pub mod kernel_file;
mod machine_cpu_time;
#[cfg(feature = "nvml")]
pub mod nvml;
mod odometer;
pub mod perf;
mod processor;
pub mod rapl;
mod reading;
mod roots;
mod share;
mod survey;
pub mod tdp;

pub use accelerator::Accelerator;
pub use boards::Boards;
pub use cgroup_cpu_time::CgroupCpuTime;
pub use cpu_times::CpuTimes;
pub(crate) use cpu_times::tick;
pub use kernel_file::KernelFile;
pub use machine_cpu_time::MachineCpuTime;
pub use odometer::{Anomaly, Odometer};
pub use processor::Processor;
pub use reading::{PowerSource, ReadError, Reading, Sensor, Wraps};
pub use roots::Roots;
pub use share::{Ledger, Share};
pub use survey::{Finding, State, Survey};
