use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What a carbon intensity counts. Figures of different bases cannot be compared or added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Basis {
    /// The mean over all the electricity of a grid.
    Average {
        /// Which emissions.
        emissions: Emissions,
        /// Of which electricity; none if the source does not say.
        mix: Option<Mix>,
    },
    /// Emissions of one more kWh. This answers another question than an average, so a marginal source is
    /// used only if the user names it.
    Marginal {
        /// Which emissions; none if the source does not say.
        emissions: Option<Emissions>,
    },
}

/// Which emissions an intensity counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Emissions {
    /// Those of the whole life of the plants and their fuel.
    LifeCycle,
    /// Those of burning fuel only.
    Direct,
}

/// Of which electricity an average is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Mix {
    /// What is used in the zone, imports included.
    Consumption,
    /// What is generated in the zone.
    Production,
}

/// The first key of a basis. Logs had only this one before the others were added.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    LifeCycle,
    Direct,
    Marginal,
}

/// A basis as logs and JSON have it: keys beside those of the intensity.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Keys {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    basis: Option<Word>,
    /// Only beside `marginal`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    emissions: Option<Emissions>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mix: Option<Mix>,
}

impl Basis {
    /// All emissions over the life of the plants, averaged over what is used.
    pub const LIFE_CYCLE_CONSUMPTION: Self = Self::average(Emissions::LifeCycle, Mix::Consumption);
    /// All emissions over the life of the plants, averaged over what is generated.
    pub const LIFE_CYCLE_PRODUCTION: Self = Self::average(Emissions::LifeCycle, Mix::Production);
    /// Emissions of burning fuel, averaged over what is used.
    pub const DIRECT_CONSUMPTION: Self = Self::average(Emissions::Direct, Mix::Consumption);
    /// Emissions of burning fuel, averaged over what is generated.
    pub const DIRECT_PRODUCTION: Self = Self::average(Emissions::Direct, Mix::Production);

    const fn average(emissions: Emissions, mix: Mix) -> Self {
        Self::Average {
            emissions,
            mix: Some(mix),
        }
    }

    /// Which emissions are counted; none if the source does not say.
    #[must_use]
    pub fn emissions(self) -> Option<Emissions> {
        match self {
            Self::Average { emissions, .. } => Some(emissions),
            Self::Marginal { emissions } => emissions,
        }
    }

    /// Whether it is that of one more kWh.
    #[must_use]
    pub fn is_marginal(self) -> bool {
        matches!(self, Self::Marginal { .. })
    }

    fn keys(self) -> Keys {
        match self {
            Self::Average { emissions, mix } => Keys {
                basis: Some(match emissions {
                    Emissions::LifeCycle => Word::LifeCycle,
                    Emissions::Direct => Word::Direct,
                }),
                emissions: None,
                mix,
            },
            Self::Marginal { emissions } => Keys {
                basis: Some(Word::Marginal),
                emissions,
                mix: None,
            },
        }
    }
}

impl Keys {
    fn basis(self) -> Option<Basis> {
        let average = |emissions| Basis::Average {
            emissions,
            mix: self.mix,
        };
        Some(match self.basis? {
            Word::LifeCycle => average(Emissions::LifeCycle),
            Word::Direct => average(Emissions::Direct),
            Word::Marginal => Basis::Marginal {
                emissions: self.emissions,
            },
        })
    }
}

/// Written flattened: `basis`, `emissions` and `mix` stand beside the other keys.
impl Serialize for Basis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.keys().serialize(serializer)
    }
}

/// For `#[serde(flatten, with = "...")]` on a basis that may be absent.
pub(crate) mod optional {
    use super::{Basis, Deserialize, Deserializer, Keys, Serialize, Serializer};

    #[allow(
        clippy::ref_option,
        clippy::trivially_copy_pass_by_ref,
        reason = "serde passes a reference"
    )]
    pub(crate) fn serialize<S: Serializer>(
        basis: &Option<Basis>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        basis
            .map_or_else(Keys::default, Basis::keys)
            .serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        keys: D,
    ) -> Result<Option<Basis>, D::Error> {
        Ok(Keys::deserialize(keys)?.basis())
    }
}

impl Emissions {
    /// Every choice, in the order they are listed to users.
    pub const ALL: [Self; 2] = [Self::LifeCycle, Self::Direct];

    /// The name users write.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LifeCycle => "life-cycle",
            Self::Direct => "direct",
        }
    }
}

/// Text that names no emissions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a basis; known are life-cycle, direct", .0.escape_debug())]
pub struct NoSuchEmissions(String);

impl FromStr for Emissions {
    type Err = NoSuchEmissions;
    fn from_str(text: &str) -> Result<Self, NoSuchEmissions> {
        Self::ALL
            .into_iter()
            .find(|emissions| emissions.name().eq_ignore_ascii_case(text.trim()))
            .ok_or_else(|| NoSuchEmissions(text.to_owned()))
    }
}

impl fmt::Display for Emissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::LifeCycle => "life cycle",
            Self::Direct => "direct",
        })
    }
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Average { emissions, mix } => {
                let mix = match mix {
                    Some(Mix::Consumption) => ", consumption mix",
                    Some(Mix::Production) => ", production mix",
                    None => "",
                };
                f.pad(&format!("{emissions}{mix}"))
            }
            Self::Marginal { emissions: None } => f.pad("marginal"),
            Self::Marginal {
                emissions: Some(emissions),
            } => f.pad(&format!("{emissions}, marginal")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Figure {
        g: f64,
        #[serde(flatten, with = "optional")]
        basis: Option<Basis>,
    }

    #[test]
    fn a_basis_is_read_back_as_it_was_written_and_as_older_logs_have_it() {
        let marginal = |emissions| Some(Basis::Marginal { emissions });
        let life_cycle = Basis::Average {
            emissions: Emissions::LifeCycle,
            mix: None,
        };
        for (basis, json) in [
            (None, r#"{"g":1.0}"#),
            (Some(life_cycle), r#"{"g":1.0,"basis":"life_cycle"}"#),
            (marginal(None), r#"{"g":1.0,"basis":"marginal"}"#),
            (
                Some(Basis::DIRECT_PRODUCTION),
                r#"{"g":1.0,"basis":"direct","mix":"production"}"#,
            ),
            (
                marginal(Some(Emissions::Direct)),
                r#"{"g":1.0,"basis":"marginal","emissions":"direct"}"#,
            ),
        ] {
            let figure = Figure { g: 1.0, basis };
            assert_eq!(serde_json::to_string(&figure).unwrap(), json);
            assert_eq!(serde_json::from_str::<Figure>(json).unwrap(), figure);
        }
    }
}
