//! Measures a command or a process with a [`Session`](crate::meter::Session) and writes its log.
//!
//! Nothing here may harm the job. Whatever fails while it runs becomes a note in the log.

mod board_process;
mod child;
mod command_meter;
mod control;
mod csv_series;
mod git;
mod info_writer;
mod job;
mod launcher;
mod log_thread;
mod mark_message;
pub(crate) mod mark_sender;
pub(crate) mod mark_socket;
mod meter_thread;
mod open_files;
mod output;
mod plan;
pub(crate) mod power_cap;
mod python;
mod recorder;
mod run_cgroup;
mod running_python;
mod signals;
mod spawn;
mod summary;
mod tracker;
mod waiting_marks;

pub use child::Ending;
pub use command_meter::{CommandMeter, CommandRuns, IdleMachine, MeterError, RunOptions};
pub use control::Control;
pub use plan::{Plan, Subject};
pub use power_cap::CapRequest;
pub use summary::{Display, LiveStatus, Summary};
pub use tracker::{StartError, track};
