//! Watches a command without touching it: reads the meters before, every tick and after, and writes
//! what it sees into a log.
//!
//! Nothing here may harm the job. Whatever fails while it runs becomes a note in the log.

mod births;
mod child;
mod clock;
mod footing;
mod git;
pub mod host;
mod lag;
mod leavers;
mod machine;
pub mod mailbox;
mod pace;
mod panel;
mod plan;
mod python;
mod reaped;
mod record;
mod scope;
mod scribe;
mod series;
mod shed;
mod signals;
mod spawn;
mod summary;
mod tracker;
mod trail;
mod tree;
mod witness;

pub use child::Ending;
pub use plan::{Plan, Subject};
pub use summary::{Glance, Screen, Summary};
pub use tracker::{StartError, track};
