//! Whether groups of runs differ: means, confidence intervals, significance tests, and conditions for CI.

mod comparison;
mod csv;
mod effect_size;
pub mod gate;
mod html;
mod json;
mod markdown;
mod plot;
mod random;
mod rank;
mod resample;
mod environment;
mod t;
mod test;
mod text;

pub use comparison::{Comparison, Contrast, Contrasts, Group, GroupFigure, Options};
pub use csv::csv;
pub use environment::{Aspect, Environment};
pub use html::html;
pub use json::json;
pub use markdown::markdown;
pub use plot::svg;
pub use resample::Resampling;
pub use test::{NoTestResult, Test, TestResult};
pub use text::text;
