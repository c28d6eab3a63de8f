//! Measuring: sensors, the run's share of what they show, and the measuring [`Session`].
//!
//! Nothing here starts a process, handles a signal, or writes to a terminal or a file.

pub(crate) mod cgroup;
pub(crate) mod clock;
mod conditions;
mod counter_lag;
mod escaped_processes;
pub(crate) mod host;
mod machine_state;
mod measurement;
mod memory_use;
mod metered_sensor;
mod newest_pid;
pub(crate) mod power_cap;
pub(crate) mod process_tree;
mod reaped_usage;
mod recent_totals;
pub mod require;
mod run_usage;
mod sampler;
mod scope;
pub(crate) mod sensor;
mod sensor_set;
pub(crate) mod session;
pub(crate) mod throttle;

pub use clock::{Clock, ClockReading, SystemClock};
pub use conditions::{Conditions, Disturbance};
pub use measurement::Measurement;
pub use scope::{Scope, ScopeError};
pub use sensor::{CpuTimes, PowerSource, ReadError, Reading, Roots, Sensor, Wraps};
pub use sensor_set::SensorSet;
pub use session::Session;
