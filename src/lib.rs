//! Carbon accounting for experiments: what the hardware says goes into a log, what the log says goes
//! into a statement or a site.
//!
//! ```text
//! sensor -> Reading -> Odometer x Share -> Sample -> data.json
//!                                                       |
//!    Statement / Pages <- Collection <- Footprint <- RunSummary
//!                                        (x Pue x Intensity)
//! ```
//!
//! The log on disk is the only border between the two halves. Rooms are listed in the order of
//! dependency: each uses only those above it (`tests/layers.rs` keeps it so).

// The macros that print panic when a stream is full or gone.
#![cfg_attr(not(test), warn(clippy::print_stderr, clippy::print_stdout))]

pub mod units;
pub mod escape;
pub mod replacement;
pub mod table;
pub mod span;
pub mod moments;
pub mod nearest;
pub mod data;
pub mod zone;
pub mod intensity;
pub mod social_cost;
pub mod sensor;
pub mod require;
pub mod log;
pub mod track;
pub mod account;
pub mod merge;
pub mod statement;
pub mod compare;
pub mod export;
pub mod estimate;
#[cfg(feature = "cli")]
pub mod config;
#[cfg(feature = "site")]
pub mod site;
#[cfg(feature = "cli")]
pub mod cli;
