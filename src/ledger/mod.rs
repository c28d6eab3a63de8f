//! Accounting: from a log to energy, from energy to grams of CO2eq, from runs to totals, statements and
//! tables. Everything here is arithmetic over logs; nothing writes to a terminal.

mod accounted_run;
pub mod backfill;
/// Reading all runs under some folders.
pub mod collect;
pub mod compare;
pub mod estimate;
pub mod export;
/// The figures of runs, by name.
pub mod figure;
/// Choosing runs by their tags, names and figures.
pub mod filter;
/// From energy to CO2eq.
pub mod footprint;
pub mod merge;
/// The energy of marked phases.
pub mod phases;
mod power_integral;
mod running_totals;
pub mod statement;
/// From a log to a summary of the run.
pub mod summarise;
/// What one run drew.
pub mod summary;
/// Sums over runs.
pub mod tally;

pub use accounted_run::AccountedRun;
pub use collect::{Collection, Skipped, SkippedKind, collect, counted_among};
pub use figure::Figure;
pub use footprint::{Assumptions, Footprint};
pub use summary::{Part, RecordedCarbon, RunSummary};
pub use tally::Tally;
