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
    /// Nobody: the machine is a personal computer, which has no data centre around it.
    Machine(PersonalComputer),
    /// The mean over the runs that were merged into this one, weighted by their energy.
    MergedRuns,
}

/// A machine that stands on a desk, and how that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PersonalComputer {
    /// What it is.
    #[serde(rename = "machine")]
    pub kind: PersonalComputerKind,
    /// The type of its chassis in SMBIOS; none if its battery shows what it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chassis_type: Option<u8>,
}

/// A kind of personal computer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PersonalComputerKind {
    /// A laptop or tablet.
    Laptop,
    /// A desktop or tower.
    Workstation,
}

/// `a laptop, by its battery`.
impl fmt::Display for PersonalComputer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            PersonalComputerKind::Laptop => "laptop",
            PersonalComputerKind::Workstation => "workstation",
        };
        match self.chassis_type {
            Some(number) => write!(f, "a {kind}, by its chassis type {number}"),
            None => write!(f, "a {kind}, by its battery"),
        }
    }
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
