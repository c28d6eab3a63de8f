use std::fmt;

use serde::{Deserialize, Serialize};

/// Who stated the PUE that a log records.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
#[non_exhaustive]
pub enum PueSource {
    /// The user who tracked the run.
    User,
    /// The cloud provider, as an average over its data centres.
    Provider(Citation),
    /// The mean over the runs that were merged into this one, weighted by their energy.
    MergedRuns,
}

/// A published figure: who published it, and the year it is of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Citation {
    /// Who published it; any text.
    pub source: String,
    /// None if the log does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<i32>,
}

impl fmt::Display for Citation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)?;
        match self.year {
            Some(year) => write!(f, ", {year}"),
            None => Ok(()),
        }
    }
}
