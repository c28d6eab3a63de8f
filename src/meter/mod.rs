//! Measuring: sensors, the share of a run in what they read, and samples of both over time.
//!
//! Nothing here starts a process, handles a signal or writes to a terminal or a file.

pub mod clock;
pub(crate) mod counter_lag;
mod escaped_processes;
pub mod host;
mod machine_state;
mod memory_use;
mod newest_pid;
pub(crate) mod process_tree;
pub(crate) mod reaped_usage;
pub(crate) mod recent_totals;
pub mod require;
pub(crate) mod run_cgroup;
pub(crate) mod sampler;
pub mod sensor;
pub(crate) mod sensor_set;
mod throttle;
