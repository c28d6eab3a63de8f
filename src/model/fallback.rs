use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Dataset, ZoneId};

/// Something used instead of what was asked for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Fallback {
    /// The table has no row for the area, so the figure of another zone is used.
    Substitute {
        /// The zone whose figure is used.
        zone: ZoneId,
        /// Why this zone.
        rule: SubstitutionRule,
    },
    /// The area is served by several zones, so the mean of their figures is used.
    Mix {
        /// The zones and their part of the electricity in percent, largest first.
        parts: Vec<(ZoneId, u8)>,
    },
    /// The zone has no figure, so that of a larger zone around it is used.
    Wider {
        /// The zone asked for.
        missing: ZoneId,
        /// The larger zone.
        used: ZoneId,
    },
    /// The year has no figure, so that of another year is used.
    OtherYear {
        /// The year asked for.
        asked: i32,
        /// The year of the figure.
        used: i32,
    },
    /// The data set asked for has no figure, so that of another data set is used.
    OtherDataset {
        /// The data set asked for.
        asked: Dataset,
        /// The data set of the figure.
        used: Dataset,
    },
    /// The country has no figure, so the average of the world is used.
    World,
    /// A fallback that is only known as a sentence, in a log of an older version.
    #[serde(untagged)]
    Described(String),
}

/// Why the figure of another zone is used for an area.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SubstitutionRule {
    /// The area is part of this country.
    Country,
    /// Most electricity of the area flows through this balancing area.
    LargestBalancingArea,
    /// The area is part of this regional grid.
    RegionalGrid,
    /// The area gets its electricity from this zone.
    SuppliedBy,
}

impl fmt::Display for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Substitute { zone, rule } => {
                let relation = match rule {
                    SubstitutionRule::Country => "its country",
                    SubstitutionRule::LargestBalancingArea => "its largest balancing area",
                    SubstitutionRule::RegionalGrid => "its regional grid",
                    SubstitutionRule::SuppliedBy => "which supplies it",
                };
                write!(f, "figure of {zone}, {relation}")
            }
            Self::Mix { parts } => {
                f.write_str("mean of the areas that serve it, by delivered energy:")?;
                for (number, (zone, percent)) in parts.iter().enumerate() {
                    let comma = if number == 0 { "" } else { "," };
                    write!(f, "{comma} {zone} {percent} %")?;
                }
                Ok(())
            }
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
            Self::Described(sentence) => f.write_str(sentence),
        }
    }
}
