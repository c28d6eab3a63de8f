//! How dirty electricity is. A figure always travels with its source, and says so when it stands in for another.

pub mod given;
mod ladder;
mod table;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Utc};

use crate::units::GramsPerKwh;
use crate::zone::ZoneId;

pub use ladder::{for_area, for_zone};
pub use table::fuel;

/// A carbon intensity with everything a reader needs to judge it.
#[derive(Debug, Clone, PartialEq)]
pub struct Intensity {
    pub value: GramsPerKwh,
    pub basis: Basis,
    pub period: Period,
    pub source: Source,
    pub shares: Shares,
    /// What was used instead of what was asked for; empty if nothing was.
    pub fallbacks: Vec<Fallback>,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Basis {
    /// Everything from building the plant to its fuel.
    LifeCycle,
    /// Only what leaves the stack.
    Direct,
    /// The source does not say.
    Unstated,
}

/// When the figure is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Period {
    Year(i32),
    Span {
        from: DateTime<Utc>,
        to: DateTime<Utc>,
    },
    Unstated,
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
    /// Another reason, said by whoever fell back.
    Because(String),
}

/// The tables that can be asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dataset {
    /// The best figure for the year: Electricity Maps, the 2019 averages for 2019, then Ember.
    #[default]
    Auto,
    ElectricityMaps,
    /// The averages of experiment-impact-tracker, for reproducing old papers.
    Eit2019,
    Ember,
}

impl Dataset {
    pub const ALL: [Self; 4] = [Self::Auto, Self::ElectricityMaps, Self::Eit2019, Self::Ember];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::ElectricityMaps => "electricity-maps",
            Self::Eit2019 => "eit-2019",
            Self::Ember => "ember",
        }
    }
}

/// A data set nobody ships.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("`{}` is not a data set; known are auto, electricity-maps, eit-2019, ember", .0.escape_debug())]
pub struct NoSuchDataset(String);

impl FromStr for Dataset {
    type Err = NoSuchDataset;
    fn from_str(text: &str) -> Result<Self, NoSuchDataset> {
        Self::ALL
            .into_iter()
            .find(|dataset| dataset.name().eq_ignore_ascii_case(text.trim()))
            .ok_or_else(|| NoSuchDataset(text.to_owned()))
    }
}

impl fmt::Display for Dataset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LifeCycle => "life cycle",
            Self::Direct => "direct",
            Self::Unstated => "unstated",
        })
    }
}

impl Period {
    /// The year, if it is a whole one.
    #[must_use]
    pub fn year(self) -> Option<i32> {
        match self {
            Self::Year(year) => Some(year),
            Self::Span { .. } | Self::Unstated => None,
        }
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Year(year) => write!(f, "{year}"),
            Self::Span { from, to } => write!(f, "{} to {}", from.format("%F %H:%M"), to.format("%F %H:%M UTC")),
            Self::Unstated => f.write_str("no stated period"),
        }
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
            Self::Wider { missing, used } => write!(f, "{missing} has no figure, that of {used} is used"),
            Self::OtherYear { asked, used } => write!(f, "there is no figure for {asked}, that of {used} is used"),
            Self::OtherDataset { asked, used } => write!(f, "{asked} has no figure, that of {used} is used"),
            Self::World => f.write_str("there is no figure for the country, the world's average is used"),
            Self::Because(why) => f.write_str(why),
        }
    }
}
