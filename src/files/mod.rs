//! Reading files of others within limits, and writing files so that a reader never sees half of one.

mod atomic_file;
mod regular_file;

pub(crate) use atomic_file::AtomicFile;
pub(crate) use regular_file::{open, open_unless_link, read, read_text};
