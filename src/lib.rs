//! Measures the energy of experiments, writes it to logs, and turns logs into statements, tables and
//! pages with carbon emissions.
//!
//! ```text
//! sensors -> Session -> Sample -> data.json                           measure
//!                                    |
//!      RunSummary -> Footprint -> Tally -> Statement, pages, tables   account
//!                  (x PUE x intensity)
//! ```
//!
//! The log on disk is the only interface between the two halves.
//!
//! # Measure a closure
//!
//! ```
//! # #[cfg(all(feature = "track", target_os = "linux"))] {
//! use impact::{Scope, SensorSet, Session, meter::{Roots, SystemClock}};
//!
//! let sensors = SensorSet::discover(&Roots::default());
//! let session = Session::start(sensors, &Scope::Machine, SystemClock)?;
//! let sum: f64 = (1..1_000_000).map(f64::from).map(f64::sqrt).sum();
//! let measurement = session.stop();
//! match measurement.energy() {
//!     Some(energy) => println!("{sum}: {} J", energy.joules()),
//!     None => println!("{sum}: this machine has no sensor that can be read"),
//! }
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Sum a folder of runs
//!
//! ```
//! use impact::{Assumptions, Footprint, Tally, collect};
//!
//! let collection = collect(&["impact-logs".into()], &|_| {});
//! let assumptions = Assumptions::default();
//! let total = collection
//!     .runs
//!     .iter()
//!     .map(|(_, run)| Tally::of(run, &Footprint::of(run, &assumptions)))
//!     .fold(Tally::default(), Tally::merge);
//! println!("{} runs used {} kWh", total.runs, total.energy.kwh());
//! ```
//!
//! # Look up the carbon intensity of a place
//!
//! ```
//! use impact::{PlaceQuery, PlaceResolver};
//!
//! let place = PlaceResolver::default().resolve(&PlaceQuery::Address("Paris, France".into()))?;
//! assert_eq!(place.area.zone.as_str(), "FR");
//! println!("{} g CO2eq/kWh", place.intensity.value.get());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! `cli`: the command line. `track`: measuring, on Linux. `nvml`: NVIDIA GPUs. `live`: grid services
//! over the network. `site`: the HTML appendix.

// Modules are listed in order of dependency: each uses only modules listed before it
// (`tests/suite/layers.rs` checks this).

#![warn(missing_docs)]
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

pub use grid::{PlaceQuery, PlaceResolver, ResolvedPlace};
pub use ledger::{Assumptions, Collection, Figure, Footprint, RunSummary, Tally, collect};
#[cfg(all(feature = "track", target_os = "linux"))]
pub use meter::{Measurement, Scope, SensorSet, Session};
pub use model::{Component, EnergyClass, Info, Method, Sample, ZoneId};
pub use units::{Energy, GramsCo2e, GramsPerKwh, Hours, Pue, Watts};
