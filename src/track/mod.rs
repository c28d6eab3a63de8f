//! Measures a command or a process with a [`Session`](crate::meter::Session) and writes its log.
//!
//! Nothing here may harm the job. Whatever fails while it runs becomes a note in the log.

mod child;
mod csv_series;
mod git;
mod info_writer;
mod job;
pub(crate) mod mark_socket;
mod output;
mod plan;
mod python;
mod recorder;
mod run_cgroup;
mod signals;
mod spawn;
mod summary;
mod tracker;

pub use child::Ending;
pub use plan::{Plan, Subject};
pub use summary::{Display, LiveStatus, Summary};
pub use tracker::{StartError, track};
