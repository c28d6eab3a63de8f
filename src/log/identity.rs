use std::collections::BTreeSet;

use serde::Deserialize;

use crate::model::info::FollowedProcess;

/// What identifies a run, read without reading its samples.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Identity {
    /// Unique to the run.
    pub id: String,
    /// The run that this one was tracked as a part of.
    pub inside: Option<String>,
    /// All runs that this one was tracked as a part of.
    #[serde(default)]
    pub outer_runs: Vec<String>,
    /// The process that was followed.
    pub followed: Option<FollowedProcess>,
    /// The runs that were merged into this one.
    #[serde(default)]
    pub merged_from: BTreeSet<String>,
}

impl Identity {
    /// The other runs that the log names.
    pub fn others(&self) -> impl Iterator<Item = &String> {
        let outer = self.inside.iter().chain(&self.outer_runs);
        outer.chain(&self.merged_from)
    }

    /// What an `info.json` says, or none where it does not say it, as those of foreign runs do not.
    #[must_use]
    pub fn parse(info: &[u8]) -> Option<Self> {
        let identity: Option<Self> = serde_json::from_slice(info).ok();
        identity.filter(|identity| !identity.id.is_empty())
    }
}
