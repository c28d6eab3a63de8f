//! Carbon accounting for experiments: measure the energy of a run, write it to a log, and turn logs
//! into statements, tables and pages.
//!
//! ```text
//! sensors -> Session -> Sample -> data.json                     measure
//!                                    |
//!      RunSummary -> Footprint -> Tally -> Statement, pages     account
//!                  (x PUE x intensity)
//! ```
//!
//! The log on disk is the only interface between the two halves. Modules are listed in order of
//! dependency: each uses only modules listed before it (`tests/suite/layers.rs` checks this).

// The print macros panic when a stream is full or closed.
#![cfg_attr(not(test), warn(clippy::print_stderr, clippy::print_stdout))]
// What only one feature uses is unused without it.
#![cfg_attr(
    not(all(
        feature = "cli",
        feature = "nvml",
        feature = "live",
        feature = "site",
        target_os = "linux"
    )),
    allow(dead_code, unused_imports)
)]

pub mod units;
pub mod text;
pub mod files;
pub mod model;
pub mod grid;
#[cfg(all(feature = "track", target_os = "linux"))]
pub mod meter;
pub mod log;
#[cfg(all(feature = "track", target_os = "linux"))]
pub mod track;
pub mod ledger;
#[cfg(feature = "site")]
pub mod site;
#[cfg(feature = "cli")]
pub mod cli;

pub use ledger::{Assumptions, Collection, Figure, Footprint, RunSummary, Tally, collect};
pub use model::{Component, EnergyClass, Info, Method, Sample, ZoneId};
pub use units::{Energy, GramsCo2e, GramsPerKwh, Hours, Pue, Watts};
