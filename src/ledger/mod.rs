//! Accounting: from a log to energy, from energy to grams of CO2eq, from runs to totals, statements and
//! tables. Everything here is arithmetic over logs; nothing writes to a terminal.

mod carbon_series;
pub mod collect;
pub mod energy;
pub mod compare;
mod counters;
pub mod estimate;
pub mod export;
pub mod figure;
pub mod footprint;
mod integral;
pub mod merge;
pub mod phases;
pub mod statement;
pub mod summary;
pub mod tally;

pub use collect::{Collection, Skipped, SkippedKind, collect, counted_among};
pub use figure::Figure;
pub use footprint::{Assumptions, Footprint};
pub use summary::{Part, RecordedCarbon, RunSummary};
pub use tally::Tally;
