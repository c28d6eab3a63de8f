//! What a job would draw, from tables of design power: a rough estimate, and marked as one.

mod job;
mod say;
mod window;

pub use job::{Fleet, Job, Range};
pub use say::{Estimate, Grid, json, text};
pub use window::{Window, best_window};
