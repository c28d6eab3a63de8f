//! Tidy tables for pandas and R: one row a run or a sample, units in a table of their own.

mod runs;
mod samples;
mod sheet;

pub use runs::runs;
pub use samples::{ExportError, samples};
pub use sheet::{Cell, Column, Shape, Sheet};
