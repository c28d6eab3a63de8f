use std::fmt;
use std::str::FromStr;

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
    pub const ALL: [Self; 4] = [
        Self::Auto,
        Self::ElectricityMaps,
        Self::Eit2019,
        Self::Ember,
    ];

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
