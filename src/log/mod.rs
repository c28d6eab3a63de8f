//! The record of one run on disk, and its only reader and writer.
//!
//! `<run>/impacttracker/data.json` holds one JSON object a line, a sample each; `info.json` beside it
//! says what was run, where and when. experiment-impact-tracker left the same `data.json` with an
//! `info.pkl`; [`legacy`] reads those.

mod cpu_times;
mod fields;
pub mod fill;
/// Finding runs in folders.
pub mod find;
mod gauge;
mod identity;
pub mod legacy;
mod lines;
pub mod pickle;
mod read;
mod row;
mod schema_1;
mod series;
/// Writing a log.
pub mod write;

pub use cpu_times::CpuTimes;
pub use gauge::{Gauge, Gauges};
pub use identity::Identity;
pub use read::{Damage, ReadError, Record, info_bytes};
pub use row::{RecordedIntensity, Row, check_component_count};
pub use series::{Point, TimeSeries};
pub use write::LogWriter;

/// The folder inside a run's folder that holds its log.
pub const FOLDER: &str = "impacttracker";
/// The samples, one a line.
pub const DATA_FILE: &str = "data.json";
/// What was run, where and when.
pub const INFO_FILE: &str = "info.json";
/// What the tracker had to say while it ran.
pub const MESSAGES_FILE: &str = "impact_tracker_log.log";
