//! Accounting: from a log to energy, from energy to grams of CO2eq, from runs to totals, statements and
//! tables. Everything here is arithmetic over logs; nothing writes to a terminal.

mod accounted_run;
mod assumed_pue;
pub mod attribute;
pub mod backfill;
pub mod bench;
/// The mass of CO2eq by basis.
pub mod basis_split;
mod clip;
/// Reading all runs under some folders.
pub mod collect;
pub mod compare;
mod coverage;
pub mod estimate;
pub mod export;
/// The figures of runs, by name.
pub mod figure;
pub(crate) mod file_figures;
/// Choosing runs by their tags, names and figures.
pub mod filter;
/// From energy to CO2eq.
pub mod footprint;
/// The processors and accelerators of runs.
pub mod hardware;
pub mod merge;
/// The energy of marked phases.
pub mod phases;
/// How runs ended.
pub mod outcome;
mod plausible_totals;
mod power_integral;
pub(crate) mod related;
mod running_totals;
pub mod statement;
/// From a log to a summary of the run.
pub mod summarise;
/// What one run drew.
pub mod summary;
/// Sums over runs.
pub mod tally;
/// Sums over the runs under some folders.
pub mod totals;
/// Work that was counted, and the energy for it.
pub mod work;

pub use accounted_run::AccountedRun;
pub use assumed_pue::AssumedPue;
pub use collect::{Collection, Gathered, Skipped, SkippedKind, collect, gather};
pub use figure::Figure;
pub use footprint::{Assumptions, Exceptions, Footprint};
pub use hardware::Hardware;
pub use outcome::{Only, RunOutcome};
pub use summary::{Part, RecordedCarbon, RunSummary};
pub use tally::Tally;
pub use totals::Totals;
