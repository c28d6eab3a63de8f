//! What the hardware says: which parts draw energy, how much, and how well that is known.

pub mod accelerator;
pub(crate) mod alive;
mod boards;
mod busy;
mod component;
mod cpu_list;
mod cpu_times;
pub mod drm;
pub mod group_clock;
pub mod kernel_file;
mod method;
#[cfg(feature = "nvml")]
pub mod nvml;
mod odometer;
pub mod perf;
mod present;
mod processor;
pub mod rapl;
mod reading;
mod roots;
mod share;
mod survey;
pub mod tdp;

pub use accelerator::Accelerator;
pub use boards::Boards;
pub use busy::BusyClock;
pub use component::{Component, Group, Unit};
pub use cpu_times::CpuTimes;
pub(crate) use cpu_times::tick;
pub use group_clock::GroupClock;
pub use kernel_file::KernelFile;
pub use method::Method;
pub use odometer::{Odometer, Surprise};
pub use present::Present;
pub use processor::Processor;
pub use reading::{PowerSource, ReadError, Reading, Sensor, Wraps};
pub use roots::Roots;
pub use share::{Ledger, Share};
pub use survey::{Finding, State, Survey};
