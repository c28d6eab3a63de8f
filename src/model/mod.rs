//! What a log is made of: components, methods of measuring, samples, marks and the description of a run.
//!
//! Sensors, the log and the ledger share these types. Nothing here reads or writes files.

mod component;
mod dataset;
mod environment;
mod fallback;
/// The description of a run: `info.json`.
pub mod info;
mod intensity;
mod method;
mod present;
mod pue_source;
/// One tick of the tracker: a line of `data.json`.
pub mod sample;
mod zone_id;

pub use component::{Component, CpuSocket, EnergyClass};
pub use dataset::{Dataset, NoSuchDataset};
pub use environment::Environment;
pub use fallback::{Fallback, SubstitutionRule};
pub use info::Info;
pub use intensity::{Basis, Intensity, Provenance, Shares, Source};
pub use method::Method;
pub use present::Present;
pub use pue_source::{Citation, PueSource};
pub use sample::{Edge, Mark, Meter, Sample};
pub use zone_id::{NotAZone, ZoneId};

/// The version of the log format that this version writes, and the newest it reads.
pub const SCHEMA: u32 = 2;
