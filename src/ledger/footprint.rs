mod origin;
mod recorded;
mod running;

use std::collections::BTreeMap;

use chrono::Datelike;

use super::RunSummary;
use crate::grid::intensity;
use crate::grid::intensity::Dataset;
use crate::grid::zone::{ZoneId, register};
use crate::model::info::Region;
use crate::model::{EnergyClass, Intensity, Method, PueSource};
use crate::text::number::counted;
use crate::units::{Energy, GramsCo2e, GramsPerKwh, Pue};

pub use origin::{IntensityOrigin, PueOrigin};
pub(super) use recorded::RecordedSeries;
pub(crate) use running::RunningEmissions;

/// What the user states instead of what the logs say, or where they say nothing.
#[derive(Debug, Clone, Default)]
pub struct Assumptions {
    /// Used instead of the PUE a run recorded, or of the global average.
    pub pue: Option<Pue>,
    /// Used instead of every other carbon intensity.
    pub emissions_factor: Option<GramsPerKwh>,
    /// Where runs without a recorded region took place.
    pub default_zone: Option<ZoneId>,
    /// Used instead of the averages that runs recorded.
    pub dataset: Option<Dataset>,
}

impl Assumptions {
    /// How many runs a data set that was asked for does not apply to, in words; none where there is no
    /// such run. Intensities recorded with the samples are better than any average and are kept.
    #[must_use]
    pub fn past_the_data_set<'a>(
        &self,
        runs: impl Iterator<Item = &'a RunSummary>,
    ) -> Option<String> {
        let (Some(dataset), None) = (self.dataset, self.emissions_factor) else {
            return None;
        };
        let (mut all, mut kept) = (0, 0);
        for run in runs {
            all += 1;
            kept += usize::from(run.carbon.is_some());
        }
        (kept > 0).then(|| {
            format!(
                "--dataset {} does not apply to {kept} of {}; intensities recorded while a run went \
                 on are kept",
                dataset.name(),
                counted(all, "run")
            )
        })
    }
}

/// The energy with PUE and the emissions of a run. Emissions are computed in this module and nowhere else.
#[derive(Debug, Clone, PartialEq)]
pub struct Footprint {
    /// Energy of each group, without PUE.
    pub groups: BTreeMap<EnergyClass, Quality>,
    /// The PUE used.
    pub pue: Pue,
    /// Who says what the PUE is.
    pub pue_origin: PueOrigin,
    /// Energy with PUE.
    pub energy: Energy,
    /// None where the carbon intensity is not known.
    pub carbon: Option<Carbon>,
    /// The assumptions behind estimated parts.
    pub models: Vec<String>,
}

/// Energy by how it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quality {
    /// Measured by sensors.
    pub measured: Energy,
    /// From a model.
    pub estimated: Energy,
}

impl Quality {
    /// Both together.
    pub fn total(self) -> Energy {
        self.measured + self.estimated
    }
}

/// A mass of CO2eq and where its intensity came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Carbon {
    /// With PUE.
    pub mass: GramsCo2e,
    /// Where the electricity came from, if that is known.
    pub zone: Option<ZoneId>,
    /// The intensity used: a single value, or the mean of a recorded series.
    pub intensity: GramsPerKwh,
    /// Who says what the intensity is.
    pub origin: IntensityOrigin,
}

impl Footprint {
    /// The footprint of a run under these assumptions.
    #[must_use]
    pub fn of(run: &RunSummary, assumptions: &Assumptions) -> Self {
        let (pue, pue_origin) = match (assumptions.pue, run.pue) {
            (Some(given), _) => (given, PueOrigin::Given),
            (None, Some(recorded)) => {
                let origin = match &run.pue_source {
                    Some(PueSource::Provider(citation)) => PueOrigin::Provider(citation.clone()),
                    _ => PueOrigin::Recorded,
                };
                (recorded, origin)
            }
            (None, None) => (Pue::global_average(), PueOrigin::Assumed),
        };
        let mut groups: BTreeMap<EnergyClass, Quality> = BTreeMap::new();
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
            pue_origin,
            energy: run.total() * pue,
            carbon: carbon(run, assumptions, pue),
            models,
        }
    }
}

/// The first of these that is known: a given factor, what was recorded while the run went on, a data
/// set asked for by name, the table's figure for the very year of the run, the average recorded with
/// the run, the table's figure for the nearest year.
fn carbon(run: &RunSummary, assumptions: &Assumptions, pue: Pue) -> Option<Carbon> {
    let region = run.region.as_ref();
    let zone = region
        .map(|region| &region.zone)
        .or(assumptions.default_zone.as_ref());
    let flat = |intensity, origin| {
        Some(Carbon {
            mass: emissions(run.total(), pue, intensity),
            zone: zone.cloned(),
            intensity,
            origin,
        })
    };
    let average = |intensity: Intensity| {
        flat(
            intensity.value,
            IntensityOrigin::Average(intensity.provenance),
        )
    };
    if let Some(factor) = assumptions.emissions_factor {
        return flat(factor, IntensityOrigin::Given);
    }
    if let Some(recorded) = &run.carbon {
        return Some(Carbon {
            mass: recorded.mass * pue,
            zone: zone.cloned(),
            intensity: recorded.mean,
            origin: IntensityOrigin::Recorded(recorded.sources.clone()),
        });
    }
    let area = match region {
        Some(region) => register::area_of(region),
        None => register::find_area(zone?),
    };
    let year = run.started.map(|time| time.year());
    let looked_up = |dataset| intensity::for_area(area.as_ref().ok()?, year, dataset).ok();
    if let Some(dataset) = assumptions.dataset {
        return average(looked_up(dataset)?);
    }
    let Some(recorded) = region.and_then(Region::average) else {
        return average(looked_up(Dataset::Auto)?);
    };
    // An average of another year was the best there was when the run was tracked.
    let recorded_year = recorded.provenance.year;
    if recorded_year.is_some() && recorded_year != year {
        let of_the_year = looked_up(Dataset::Auto).filter(|of| of.provenance.fallbacks.is_empty());
        return average(of_the_year.unwrap_or(recorded));
    }
    average(recorded)
}

/// The mass of CO2eq caused by an energy that does not include the PUE yet.
pub(crate) fn emissions(energy: Energy, pue: Pue, intensity: GramsPerKwh) -> GramsCo2e {
    energy * pue * intensity
}
