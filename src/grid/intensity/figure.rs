use std::borrow::Cow;
use std::fmt;

use super::{Basis, Dataset};
use crate::grid::zone::ZoneId;
use crate::units::GramsPerKwh;

/// A carbon intensity with everything a reader needs to judge it.
#[derive(Debug, Clone, PartialEq)]
pub struct Intensity {
    pub value: GramsPerKwh,
    /// What is counted, where the source says so.
    pub basis: Option<Basis>,
    /// The year the figure is of, where the source says so.
    pub year: Option<i32>,
    pub source: Source,
    pub shares: Shares,
    /// What was used instead of what was asked for; empty if nothing was.
    pub fallbacks: Vec<Fallback>,
}

/// Who says so, and under which terms it may be repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub name: Cow<'static, str>,
    pub licence: Option<Cow<'static, str>>,
}

/// Parts of the electricity, from 0 to 1, where the source gives them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Shares {
    pub renewable: Option<f64>,
    pub fossil: Option<f64>,
}

/// Something used instead of what was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fallback {
    /// Another zone of the table stands for this one, by a written rule.
    StandIn { zone: ZoneId, rule: String },
    /// The zone has no figure, a larger one has.
    Wider { missing: ZoneId, used: ZoneId },
    /// The year has no figure, another has.
    OtherYear { asked: i32, used: i32 },
    /// The data set asked for has no figure, another has.
    OtherDataset { asked: Dataset, used: Dataset },
    /// Nothing nearer is known than the average of the world.
    World,
}

/// Where the figure is from and what it stands in for, as a statement says it.
impl fmt::Display for Intensity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source.name)?;
        if let Some(year) = self.year {
            write!(f, ", {year}")?;
        }
        for fallback in &self.fallbacks {
            write!(f, "; {fallback}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.licence {
            None => f.write_str(&self.name),
            Some(licence) => write!(f, "{} ({licence})", self.name),
        }
    }
}

impl fmt::Display for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StandIn { zone, rule } => write!(f, "{zone} stands for it ({rule})"),
            Self::Wider { missing, used } => {
                write!(f, "{missing} has no figure, that of {used} is used")
            }
            Self::OtherYear { asked, used } => {
                write!(f, "there is no figure for {asked}, that of {used} is used")
            }
            Self::OtherDataset { asked, used } => {
                write!(f, "{asked} has no figure, that of {used} is used")
            }
            Self::World => {
                f.write_str("there is no figure for the country, the world's average is used")
            }
        }
    }
}
