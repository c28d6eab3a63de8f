//! What a log is made of: components, methods of measuring, samples, marks and the description of a run.
//!
//! Sensors, the log and the ledger share these types. Nothing here reads or writes files.

pub(crate) mod basis;
mod component;
mod dataset;
mod doubt;
mod environment;
mod fallback;
/// The description of a run: `info.json`.
pub mod info;
mod intensity;
mod mark;
mod method;
mod password_options;
mod place_source;
mod present;
mod pseudonym;
mod pue_source;
mod redaction;
/// One tick of the tracker: a line of `data.json`.
pub mod sample;
/// Passwords, keys and tokens in text that is to be published.
pub mod secret;
mod secret_name;
mod zone_id;

pub use basis::{Basis, Emissions, Mix, NoSuchEmissions};
pub use component::{Component, CpuSocket, EnergyClass, MOST_DEVICE_WATTS};
pub use dataset::{Dataset, NoSuchDataset, OtherEmissions};
pub use doubt::{Doubt, DoubtKind};
pub use environment::Environment;
pub use fallback::{Fallback, SubstitutionRule};
pub use info::Info;
pub use intensity::{Intensity, Provenance, Shares, Source};
pub use mark::{BadMark, Edge, LARGEST_COUNT, LONGEST_NAME, MOST_COUNTS, Mark};
pub use method::Method;
pub use place_source::PlaceSource;
pub use present::Present;
pub use pseudonym::Pseudonyms;
pub use pue_source::{Citation, PersonalComputer, PersonalComputerKind, PueSource};
pub use redaction::{Names, Redaction};
pub use sample::{Meter, Sample};
pub use zone_id::{NotAZone, ZoneId};

/// The version of the log format that this version writes, and the newest it reads.
pub const SCHEMA: u32 = 2;
