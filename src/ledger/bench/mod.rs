//! Benchmarks of commands: the figures of their samples, statistics, a comparison, and how they are shown.
//!
//! Nothing here runs a command or reads a sensor.

mod bars;
mod csv;
mod figure;
mod html;
mod idle;
mod json;
mod markdown;
mod notes;
mod outliers;
mod repetition;
mod sample;
mod schedule;
mod statistics;
mod table;
mod text;

pub use csv::csv;
pub use figure::BenchFigure;
pub use html::html;
pub use idle::idle_energy;
pub use json::json;
pub use markdown::markdown;
pub use outliers::Outliers;
pub use repetition::{CounterUpdates, runs_of_a_sample};
pub use sample::{Bench, BenchCommand, BenchSample, DeviceEnergy, IdlePower, WorkOfRun};
pub use schedule::order;
pub use statistics::Statistics;
pub use text::text;

/// The confidence level of all intervals.
pub const CONFIDENCE: f64 = 0.95;
