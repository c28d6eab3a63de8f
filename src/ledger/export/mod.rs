//! Tables for pandas and R: one row for each run or each sample, and the units in a table of their own.

mod row_writer;
mod runs;
mod samples;

pub use row_writer::{Column, RowFormat};
pub use runs::runs;
pub use samples::{ExportError, samples};
