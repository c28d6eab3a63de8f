//! Caps on the power of NVIDIA boards: for the time of a run, or until they are reset.
//!
//! A process of its own sets them and takes them back. It sees the end of the tracker, however that ends, by the end of
//! their connection. What it has changed stands in a record, so that the next `impact` takes back what a killed one has
//! left.

mod keeper;
mod process;
mod records;
mod run_caps;

pub(crate) use keeper::{BoardState, Changed, Recovered, Reset, Selection, ShownBoard, Wanted};
pub(crate) use process::{PowerCapProcess, Question};
pub(crate) use run_caps::RunCaps;

use crate::units::Watts;

/// A cap for the time of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CapRequest {
    /// The most that each board may draw.
    pub cap: Watts,
    /// Run without the cap where it cannot be set.
    pub best_effort: bool,
}
