use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;

use super::{FOLDER, ReadError, info_bytes};

/// What tells a run from every other, read without reading its samples.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Identity {
    /// Tells the run from every other.
    pub id: String,
    /// The run that this one was tracked as a part of.
    pub inside: Option<String>,
    /// The runs that were merged into this one.
    #[serde(default)]
    pub merged_from: BTreeSet<String>,
}

impl Identity {
    /// That of the run in this folder, or none where its log does not say, as foreign ones do not.
    pub fn of(run: &Path) -> Result<Option<Self>, ReadError> {
        let bytes = info_bytes(&run.join(FOLDER))?;
        let identity = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Ok(identity.filter(|identity: &Self| !identity.id.is_empty()))
    }
}
