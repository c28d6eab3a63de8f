mod assumed_place;
mod exceptions;
mod origin;
mod recorded;
mod running;
mod stated_sources;

use std::collections::BTreeMap;

use chrono::Datelike;

use super::{RecordedCarbon, RunSummary};
use crate::grid::intensity;
use crate::grid::intensity::{Dataset, Emissions};
use crate::grid::zone::{Iso3, ZoneId, register};
use crate::model::info::Region;
use crate::model::{Basis, EnergyClass, Intensity, Method, Provenance, PueSource};
use crate::units::{Energy, GramsCo2e, GramsPerKwh, IntensityRange, Pue};

use assumed_place::Placement;

pub use assumed_place::AssumedPlace;
pub use exceptions::Exceptions;
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
    /// Where runs took place whose log does not say where, or only by the clock of the machine.
    pub default_zone: Option<ZoneId>,
    /// The country whose average is used for runs of which nothing else is known.
    pub default_country: Option<Iso3>,
    /// Used instead of the averages that runs recorded.
    pub dataset: Option<Dataset>,
    /// Only intensities that count these emissions are used.
    pub emissions: Option<Emissions>,
    /// Those of these statements that a project's file made, by key.
    pub project_settings: BTreeMap<String, String>,
}

impl Assumptions {
    /// What was recorded while a run went on, if it counts the emissions asked for.
    fn recorded<'a>(&self, run: &'a RunSummary) -> Option<&'a RecordedCarbon> {
        run.carbon.as_ref().filter(|carbon| {
            let mut sources = carbon.sources.iter().peekable();
            self.emissions.is_none() || sources.peek().is_some() && sources.all(|s| self.counts(s))
        })
    }

    /// Whether an intensity counts the emissions asked for.
    fn counts(&self, provenance: &Provenance) -> bool {
        let counted = provenance.basis.and_then(Basis::emissions);
        self.emissions.is_none() || counted == self.emissions
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
    /// All intensities that were used.
    pub range: IntensityRange,
    /// Who says what the intensity is.
    pub origin: IntensityOrigin,
    /// The place that the intensity is of, where the log does not say where the run took place.
    pub assumed_place: Option<AssumedPlace>,
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
                    Some(PueSource::Machine(machine)) => PueOrigin::Machine(*machine),
                    _ => PueOrigin::Recorded,
                };
                (recorded, origin)
            }
            (None, None) => {
                let assumed = run.assumed_pue();
                (assumed.pue, PueOrigin::Assumed(assumed.citation))
            }
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
    let placement = Placement::of(run, assumptions);
    let (region, zone) = (placement.region(), placement.zone());
    if let Some(factor) = assumptions.emissions_factor {
        let is_country = matches!(placement, Placement::Stated(AssumedPlace::Country { .. }));
        return Some(Carbon {
            mass: emissions(run.total(), pue, factor),
            zone: zone.filter(|_| !is_country).cloned(),
            intensity: factor,
            range: IntensityRange::of(factor),
            origin: IntensityOrigin::Given,
            assumed_place: None,
        });
    }
    if let Some(recorded) = assumptions.recorded(run) {
        // The services were asked for the recorded zone.
        let of_clock = Placement::of(run, &Assumptions::default());
        return Some(Carbon {
            mass: recorded.mass * pue,
            zone: of_clock
                .zone()
                .or(assumptions.default_zone.as_ref())
                .cloned(),
            intensity: recorded.mean,
            range: recorded.range,
            origin: IntensityOrigin::Recorded(recorded.sources.clone()),
            assumed_place: of_clock.assumed(),
        });
    }
    let average = |intensity: Intensity| {
        Some(Carbon {
            mass: emissions(run.total(), pue, intensity.value),
            zone: zone.cloned(),
            intensity: intensity.value,
            range: IntensityRange::of(intensity.value),
            origin: IntensityOrigin::Average(intensity.provenance),
            assumed_place: placement.clone().assumed(),
        })
    };
    let area = match region {
        Some(region) => register::area_of(region),
        None => register::find_area(zone?),
    };
    let year = run.started.map(|time| time.year());
    let looked_up = |dataset: Dataset| {
        let dataset = dataset.counting(assumptions.emissions).ok()?;
        intensity::for_area(area.as_ref().ok()?, year, dataset).ok()
    };
    if let Some(dataset) = assumptions.dataset {
        return average(looked_up(dataset)?);
    }
    let recorded = region.and_then(Region::average);
    let recorded = recorded.filter(|recorded| assumptions.counts(&recorded.provenance));
    let Some(recorded) = recorded else {
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
