//! Watches a command without touching it: reads the meters before, every tick and after, and writes
//! what it sees into a log.
//!
//! Nothing here may harm the job. Whatever fails while it runs becomes a note in the log.

mod child;
mod git;
pub mod mark_socket;
mod plan;
mod python;
mod recorder;
mod info_writer;
mod csv_series;
mod signals;
mod spawn;
mod summary;
mod tracker;

pub use child::Ending;
pub use plan::{Plan, Subject};
pub use summary::{Display, LiveStatus, Summary};
pub use tracker::{StartError, track};
