//! What users set once: five levels of settings, and where each value came from.
//!
//! The command line is stronger than the environment, that than the project's file, that than the
//! user's file, that than the defaults. To add a key, add a row to the table in [`keys`].

mod file;
mod key;
pub mod keys;
pub mod perun;
mod resolve;
mod sources;

pub use file::{BadFile, commented, with_value};
pub use key::{Key, NoSuchKey};
pub use resolve::{BadSetting, Config, Origin, Setting};
pub use sources::{PROJECT_FILE, Sources};
