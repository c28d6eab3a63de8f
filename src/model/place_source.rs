use serde::{Deserialize, Serialize};

/// Who or what says where a run took place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
#[non_exhaustive]
pub enum PlaceSource {
    /// An option of the command that tracked the run.
    CommandLine,
    /// A settings file or an environment variable.
    Configuration,
    /// What a cloud provider has left on the machine.
    CloudMetadata {
        /// The file or the environment variable.
        evidence: String,
    },
    /// The clock of the machine: it tells the country at most, and somebody may have set it to another one.
    TimeZone {
        /// Its name, such as Europe/Berlin.
        time_zone: String,
    },
}
