use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Basis, Doubt, Fallback, ZoneId};
use crate::units::GramsPerKwh;

/// A carbon intensity with everything a reader needs to judge it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Intensity {
    /// Grams of CO2-equivalent for each kWh.
    pub value: GramsPerKwh,
    /// Where the value comes from.
    pub provenance: Provenance,
    /// The parts of the electricity that are renewable and fossil.
    pub shares: Shares,
}

/// Where a carbon intensity comes from and what it counts.
///
/// Two intensities with equal provenance can be described together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Provenance {
    /// Who published the value.
    #[serde(flatten)]
    pub source: Source,
    /// The year the value is an average of; none for a value of one hour, or if the source does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<i32>,
    /// What is counted; none if the source does not say.
    #[serde(flatten, with = "super::basis::optional")]
    pub basis: Option<Basis>,
    /// What was used instead of what was asked for; empty if nothing was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallbacks: Vec<Fallback>,
    /// Why the value may be wrong; empty if nothing is known to be wrong with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Doubt>,
}

/// Who published a figure, and the licence it may be repeated under.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Source {
    /// Any text: a user's own source may contain any character.
    #[serde(rename = "source")]
    pub name: Cow<'static, str>,
    /// None if the source names no licence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub licence: Option<Cow<'static, str>>,
}

/// Parts of the electricity, from 0 to 1; none where the source does not say.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct Shares {
    /// The renewable part.
    pub renewable: Option<f64>,
    /// The fossil part.
    pub fossil: Option<f64>,
}

impl Provenance {
    /// The provenance of a figure that only names its source.
    #[must_use]
    pub fn of(source: Source) -> Self {
        Self {
            source,
            year: None,
            basis: None,
            fallbacks: Vec::new(),
            doubts: Vec::new(),
        }
    }
}

impl Provenance {
    /// The zones whose figures make up the value asked for `zone`: that zone, unless a fallback names others.
    #[must_use]
    pub fn zones<'a>(&'a self, zone: &'a ZoneId) -> Vec<&'a ZoneId> {
        let others = self
            .fallbacks
            .iter()
            .rev()
            .find_map(|fallback| match fallback {
                Fallback::Substitute { zone, .. } => Some(vec![zone]),
                Fallback::Mix { parts } => Some(parts.iter().map(|(zone, _)| zone).collect()),
                Fallback::Wider { used, .. } => Some(vec![used]),
                Fallback::World => Some(Vec::new()),
                _ => None,
            });
        others.unwrap_or_else(|| vec![zone])
    }
}

impl Source {
    /// A source without a licence.
    #[must_use]
    pub fn named(name: impl Into<Cow<'static, str>>) -> Self {
        Self {
            name: name.into(),
            licence: None,
        }
    }
}

impl Shares {
    /// These parts of the electricity.
    #[must_use]
    pub fn new(renewable: Option<f64>, fossil: Option<f64>) -> Self {
        Self { renewable, fossil }
    }
}

/// The source, its year, its basis and each fallback, as statements print them.
impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source.name)?;
        if let Some(year) = self.year {
            write!(f, ", {year}")?;
        }
        if let Some(basis) = self.basis {
            write!(f, ", {basis}")?;
        }
        for fallback in &self.fallbacks {
            write!(f, "; {fallback}")?;
        }
        for doubt in &self.doubts {
            write!(f, "; {doubt}")?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::SubstitutionRule;

    #[test]
    fn a_provenance_is_read_back_as_it_was_written_whatever_its_source_is_called() {
        let provenance = Provenance {
            year: Some(2023),
            basis: Some(Basis::LIFE_CYCLE_CONSUMPTION),
            fallbacks: vec![
                Fallback::Substitute {
                    zone: "US-MIDA-PJM".parse().unwrap(),
                    rule: SubstitutionRule::LargestBalancingArea,
                },
                Fallback::OtherYear {
                    asked: 2024,
                    used: 2023,
                },
                Fallback::World,
                Fallback::Described("US-CAL-CISO stands for it (largest balancing area)".into()),
            ],
            ..Provenance::of(Source::named("RTE eCO2mix; draft, 2023"))
        };
        let json = serde_json::to_string(&provenance).unwrap();
        let read: Provenance = serde_json::from_str(&json).unwrap();
        assert_eq!(read, provenance, "{json}");
    }
}
