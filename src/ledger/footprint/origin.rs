use std::fmt;

use serde::{Serialize, Serializer};

use crate::ledger::basis_split::Bases;
use crate::model::{Citation, PersonalComputer, Provenance};

/// Who says what the PUE is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum PueOrigin {
    /// The user, for all runs.
    Given,
    /// The run's log.
    Recorded,
    /// The cloud provider, of its data centres in general; the log only keeps it.
    Provider(Citation),
    /// Nobody: the run took place on a personal computer, which has no data centre around it.
    Machine(PersonalComputer),
    /// Nobody: a global average is used.
    Assumed(Citation),
}

impl PueOrigin {
    /// One word for machines.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Recorded => "recorded",
            Self::Provider(_) => "provider",
            Self::Machine(_) => "machine",
            Self::Assumed(_) => "assumed",
        }
    }

    /// Who published the figure, where somebody did.
    #[must_use]
    pub fn citation(&self) -> Option<&Citation> {
        match self {
            Self::Provider(citation) | Self::Assumed(citation) => Some(citation),
            Self::Given | Self::Recorded | Self::Machine(_) => None,
        }
    }

    /// Who published the figure, or which machine it is of.
    #[must_use]
    pub fn source(&self) -> Option<String> {
        match self {
            Self::Machine(machine) => Some(machine.to_string()),
            _ => self.citation().map(Citation::to_string),
        }
    }
}

impl Serialize for PueOrigin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Who says what the carbon intensity is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum IntensityOrigin {
    /// The user, for all runs.
    Given,
    /// Services that were asked while the run went on; empty where the log does not name them.
    Recorded(Vec<Provenance>),
    /// An average: from a table, or recorded with the run.
    Average(Provenance),
}

impl IntensityOrigin {
    /// What the intensities count.
    #[must_use]
    pub fn bases(&self) -> Bases {
        match self {
            Self::Given => Bases::from([None]),
            Self::Recorded(services) if services.is_empty() => Bases::from([None]),
            Self::Recorded(services) => services.iter().map(|service| service.basis).collect(),
            Self::Average(provenance) => Bases::from([provenance.basis]),
        }
    }
}

/// One line for tables and machine-readable formats.
impl fmt::Display for IntensityOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given => f.write_str("the emissions factor given"),
            Self::Recorded(services) if services.is_empty() => {
                f.write_str("carbon intensity recorded in real time")
            }
            Self::Recorded(services) => {
                f.write_str("recorded over time from ")?;
                for (position, service) in services.iter().enumerate() {
                    if position > 0 {
                        f.write_str("; ")?;
                    }
                    service_words(f, service)?;
                }
                Ok(())
            }
            Self::Average(provenance) => provenance.fmt(f),
        }
    }
}

/// A service that was asked, with what its values count.
fn service_words(f: &mut fmt::Formatter<'_>, service: &Provenance) -> fmt::Result {
    f.write_str(&service.source.name)?;
    if let Some(year) = service.year {
        write!(f, ", average of {year}")?;
    }
    for fallback in &service.fallbacks {
        write!(f, "; {fallback}")?;
    }
    match service.basis {
        Some(basis) => write!(f, " ({basis})"),
        None => Ok(()),
    }
}
