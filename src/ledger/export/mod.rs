//! Tables for pandas and R: one row for each run, phase or sample, and the units in a table of their own.

mod phases;
mod row_writer;
mod runs;
mod samples;

pub use phases::phases;
pub use row_writer::{Column, RowFormat};
pub use runs::runs;
pub use samples::{ExportError, samples};
