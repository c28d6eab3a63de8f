use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Emissions;

/// A table of yearly carbon intensities.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Dataset {
    /// The best figure for the year: Electricity Maps, the 2019 averages for 2019, then Ember.
    #[default]
    Auto,
    /// Electricity Maps' yearly figures by zone, from 2021.
    ElectricityMaps,
    /// The averages of experiment-impact-tracker, for reproducing old papers.
    #[serde(rename = "eit-2019")]
    Eit2019,
    /// Ember's yearly figures by country, from 2000.
    Ember,
    /// The direct emissions of American states in 2023. Used only if the user asks for it or for direct figures.
    Egrid,
}

impl Dataset {
    /// Every choice, in the order they are listed to users.
    pub const ALL: [Self; 5] = [
        Self::Auto,
        Self::ElectricityMaps,
        Self::Eit2019,
        Self::Ember,
        Self::Egrid,
    ];

    /// The name users write.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::ElectricityMaps => "electricity-maps",
            Self::Eit2019 => "eit-2019",
            Self::Ember => "ember",
            Self::Egrid => "egrid",
        }
    }
}

impl Dataset {
    /// Which emissions its figures count.
    #[must_use]
    pub fn emissions(self) -> Emissions {
        match self {
            Self::Auto | Self::ElectricityMaps | Self::Eit2019 | Self::Ember => {
                Emissions::LifeCycle
            }
            Self::Egrid => Emissions::Direct,
        }
    }

    /// The data set to use for figures that count these emissions.
    pub fn counting(self, wanted: Option<Emissions>) -> Result<Self, OtherEmissions> {
        match wanted {
            Some(Emissions::Direct) if self == Self::Auto => Ok(Self::Egrid),
            Some(wanted) if wanted != self.emissions() => Err(OtherEmissions {
                dataset: self,
                wanted,
            }),
            _ => Ok(self),
        }
    }
}

/// A data set whose figures count other emissions than those asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the data set {dataset} has {} figures, not {} ones", .dataset.emissions().name(), .wanted.name())]
pub struct OtherEmissions {
    dataset: Dataset,
    wanted: Emissions,
}

/// Text that is not the name of a data set.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("`{}` is not a data set; known are auto, electricity-maps, eit-2019, ember, egrid", .0.escape_debug())]
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
