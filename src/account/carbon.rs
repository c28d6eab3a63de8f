use std::collections::BTreeMap;

use super::RunSummary;
use crate::sensor::{Group, Method};
use crate::units::{GramsCo2e, GramsPerKwh, Joules, Pue};
use crate::zone::ZoneId;

/// What is assumed where the logs do not say, or in place of what they say.
#[derive(Debug, Clone, Default)]
pub struct Assumptions {
    /// In place of the PUE a run recorded, or of the global average.
    pub pue: Option<Pue>,
    /// In place of every other carbon intensity.
    pub emissions_factor: Option<GramsPerKwh>,
    /// Where runs without a recorded region took place.
    pub elsewhere: Option<Place>,
}

/// A zone with the carbon intensity to use for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    pub zone: ZoneId,
    pub intensity: GramsPerKwh,
    pub source: String,
}

/// What a run meant for the climate: the only place where grams are born.
#[derive(Debug, Clone, PartialEq)]
pub struct Footprint {
    /// Energy of each group, without PUE.
    pub groups: BTreeMap<Group, Quality>,
    pub pue: Pue,
    /// Energy with PUE.
    pub energy: Joules,
    /// None where nothing says how dirty the electricity was.
    pub carbon: Option<Carbon>,
    /// The assumptions behind estimated parts.
    pub models: Vec<String>,
}

/// Energy by how it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quality {
    pub measured: Joules,
    pub estimated: Joules,
}

impl Quality {
    pub fn total(self) -> Joules {
        self.measured + self.estimated
    }
}

/// A mass of CO2eq and where its intensity came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Carbon {
    /// With PUE.
    pub mass: GramsCo2e,
    pub zone: Option<ZoneId>,
    /// The intensity used: a single value, or the mean of a recorded series.
    pub intensity: GramsPerKwh,
    pub source: String,
}

impl Footprint {
    #[must_use]
    pub fn of(run: &RunSummary, assumptions: &Assumptions) -> Self {
        let pue = assumptions
            .pue
            .or(run.pue)
            .unwrap_or_else(Pue::global_average);
        let mut groups: BTreeMap<Group, Quality> = BTreeMap::new();
        let mut models = Vec::new();
        for (group, _, part) in run.counted() {
            let quality = groups.entry(group).or_default();
            if part.method.is_measured() {
                quality.measured += part.attributed;
            } else {
                quality.estimated += part.attributed;
            }
            if let Method::Estimated { model } = &part.method {
                models.push(model.clone());
            }
        }
        Self {
            groups,
            pue,
            energy: run.total() * pue,
            carbon: carbon(run, assumptions, pue),
            models,
        }
    }
}

/// The first of these that is known: a given factor, what was recorded while the run went on, the
/// average recorded for its region, the place given for runs without one.
fn carbon(run: &RunSummary, assumptions: &Assumptions, pue: Pue) -> Option<Carbon> {
    let zone = run.region.as_ref().map(|region| region.zone.clone());
    let flat = |zone: Option<ZoneId>, intensity: GramsPerKwh, source: String| Carbon {
        mass: run.total() * pue * intensity,
        zone,
        intensity,
        source,
    };
    if let Some(factor) = assumptions.emissions_factor {
        return Some(flat(zone, factor, "the emissions factor given".to_owned()));
    }
    if let Some(recorded) = &run.carbon {
        return Some(Carbon {
            mass: recorded.mass * pue,
            zone,
            intensity: recorded.mean,
            source: "carbon intensity recorded in real time".to_owned(),
        });
    }
    let average = run.region.as_ref().and_then(|region| {
        let source = region
            .source
            .clone()
            .unwrap_or_else(|| "average recorded with the run".to_owned());
        Some(flat(zone.clone(), region.carbon_intensity?, source))
    });
    average.or_else(|| {
        let place = assumptions.elsewhere.as_ref()?;
        Some(flat(
            Some(place.zone.clone()),
            place.intensity,
            place.source.clone(),
        ))
    })
}
