//! Rough estimates of jobs that have not run, from the design power of their hardware.

mod job;
mod render;
mod window;

pub use job::{Fleet, Job, Range};
pub(crate) use render::range;
pub use render::{Estimate, Grid, json, text};
pub use window::{Window, best_window};
