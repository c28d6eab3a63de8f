//! The record of one run on disk, and its only reader and writer.
//!
//! `<run>/impacttracker/data.json` holds one JSON object a line, a sample each; `info.json` beside it
//! says what was run, where and when. experiment-impact-tracker left the same `data.json` with an
//! `info.pkl`; [`legacy`] reads those.

pub(crate) mod checksum;
mod cpu_times;
pub(crate) mod fields;
pub mod fill;
mod fingerprint;
/// Finding runs in folders.
pub mod find;
mod gauge;
mod identity;
mod implausible_sample;
mod kept_info;
pub mod legacy;
mod lines;
pub mod pickle;
mod read;
pub(crate) mod row;
mod schema_1;
mod series;
/// Writing a log.
pub mod write;

pub use cpu_times::CpuTimes;
pub use fingerprint::fingerprint;
pub use gauge::{Gauge, Gauges};
pub use identity::Identity;
pub use implausible_sample::{ImplausibleSample, check_component_count};
pub use kept_info::KeptInfo;
pub use read::{Damage, ReadError, Record, info_bytes, is_copy};
pub use row::{RecordedIntensity, Row, intensity_sources};
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
