//! What users set once: five levels of settings, and where each value came from.
//!
//! The command line is stronger than the environment, that than the project's file, that than the
//! user's file, that than the defaults. To add a key, add a row to the table in [`keys`].

mod file;
mod key;
pub(crate) mod keys;
pub(crate) mod perun;
mod resolve;
mod sources;

pub(crate) use file::{commented, with_value};
pub(crate) use key::Key;
pub(crate) use resolve::{Config, Origin, Setting};
pub(crate) use sources::{PROJECT_FILE, Sources};
