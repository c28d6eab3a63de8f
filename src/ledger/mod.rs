//! Accounting: from a log to energy, from energy to grams of CO2eq, from runs to totals, statements and
//! tables. Everything here is arithmetic over logs; nothing writes to a terminal.

mod accounted_run;
pub mod backfill;
pub mod collect;
pub mod compare;
pub mod estimate;
pub mod export;
pub mod figure;
pub mod filter;
pub mod footprint;
pub mod merge;
pub mod phases;
mod power_integral;
mod running_totals;
pub mod statement;
pub mod summarise;
pub mod summary;
pub mod tally;

pub use accounted_run::AccountedRun;
pub use collect::{Collection, Skipped, SkippedKind, collect, counted_among};
pub use figure::Figure;
pub use footprint::{Assumptions, Footprint};
pub use summary::{Part, RecordedCarbon, RunSummary};
pub use tally::Tally;
