//! The configuration: five levels of settings, and where each value was set.
//!
//! Strongest first: the command line, the environment, the project's file, the user's file, the
//! defaults. To add a key, add a row to the table in [`keys`].

mod file;
mod key;
pub(crate) mod keys;
pub(crate) mod perun;
mod resolve;
mod sources;

pub(crate) use file::{commented, is_outside, with_value};
pub(crate) use key::{Key, NoSuchKey};
pub(crate) use resolve::{Config, Origin, Setting};
pub(crate) use sources::{IgnoredFile, PROJECT_FILE, Sources};

/// Reads a file as settings, and sets a value in its text.
#[cfg(fuzzing)]
pub(crate) fn read_any(path: &std::path::Path) {
    let _ = file::read(path);
    let _ = with_value(path, &keys::KEYS[0], "1");
}
