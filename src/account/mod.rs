//! Pure arithmetic over records: from a log to energy, from energy to grams, from runs to totals.

pub mod carbon;
pub mod collect;
pub mod energy;
mod counters;
pub mod figure;
mod integral;
pub mod phases;
mod series;
pub mod summary;
pub mod tally;

pub use carbon::{Assumptions, Footprint};
pub use collect::{Collection, Skipped, SkippedKind, collect, counted_among};
pub use figure::Figure;
pub use summary::{Part, RecordedCarbon, RunSummary};
pub use tally::Tally;
