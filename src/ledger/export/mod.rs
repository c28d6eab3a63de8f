//! Tidy tables for pandas and R: one row a run or a sample, units in a table of their own.

mod runs;
mod samples;
mod row_writer;

pub use row_writer::{Cell, Column, RowFormat, RowWriter};
pub use runs::runs;
pub use samples::{ExportError, samples};
