//! Which table answers: the zone's own figure of the year, then of its nearest year, then that of a larger zone.

use std::borrow::Cow;

use super::table::{Figure, Series};
use super::{Dataset, Fallback, Intensity, table};
use crate::grid::zone::register::NoSuchZone;
use crate::grid::zone::{AreaId, Zone, ZoneId, register};

/// Why a zone has no intensity in a data set.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoIntensity {
    /// No zone has this name.
    #[error(transparent)]
    Zone(#[from] NoSuchZone),
    /// The data set counts other emissions than the others, so that none of them can be used instead.
    #[error(transparent)]
    Figure(#[from] NoFigure),
}

/// A data set without a figure for a zone, where no other data set counts the same.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no {} carbon intensity for {zone}: the data set {dataset} has the United States only", .dataset.emissions().name())]
pub struct NoFigure {
    zone: ZoneId,
    dataset: Dataset,
}

/// The intensity of a zone in a year, or in the newest there is.
pub fn for_zone(
    zone: &ZoneId,
    year: Option<i32>,
    dataset: Dataset,
) -> Result<Intensity, NoIntensity> {
    for_area(&register::find_area(zone)?, year, dataset)
}

/// The intensity of an area in a year, or in the newest there is.
///
/// Every known area has an answer in data sets of life-cycle figures; what it falls back on is in [`Provenance::fallbacks`](crate::model::Provenance::fallbacks).
pub fn for_area(
    area: &AreaId,
    year: Option<i32>,
    dataset: Dataset,
) -> Result<Intensity, NoIntensity> {
    let zone = register::find(&area.zone)?;
    Ok(for_area_in(zone, area.state.as_deref(), year, dataset)?)
}

/// As [`for_area`], for an area of a zone that is already known: the part of the zone in a state, or all of it.
pub(in crate::grid) fn for_area_in(
    zone: &'static Zone,
    state: Option<&str>,
    year: Option<i32>,
    dataset: Dataset,
) -> Result<Intensity, NoFigure> {
    let levels = levels(zone, state);
    let mut fallbacks = Vec::new();
    let found = levels.iter().find_map(|level| {
        let (series, figure) = pick(level.series(dataset, year), year, dataset)?;
        Some((level, series, figure))
    });
    let (series, figure) = match found {
        Some((level, series, figure)) => {
            if level.zone.id != zone.id {
                fallbacks.push(Fallback::Wider {
                    missing: zone.id.clone(),
                    used: level.zone.id.clone(),
                });
            }
            (series, figure)
        }
        None if matches!(dataset, Dataset::Eit2019 | Dataset::ElectricityMaps) => {
            let year = year.or(own_year(dataset));
            let mut intensity = for_area_in(zone, state, year, Dataset::Ember)?;
            intensity.provenance.fallbacks.insert(
                0,
                Fallback::OtherDataset {
                    asked: dataset,
                    used: Dataset::Ember,
                },
            );
            return Ok(intensity);
        }
        None if dataset == Dataset::Egrid => {
            return Err(NoFigure {
                zone: zone.id.clone(),
                dataset,
            });
        }
        None => {
            fallbacks.push(Fallback::World);
            let world = table::world();
            let figure = year.map_or_else(|| world.newest(), |year| world.nearest(year));
            (
                Offered {
                    series: world,
                    substitute: None,
                },
                figure,
            )
        }
    };
    fallbacks.extend(series.substitute.clone());
    if let Some(asked) = year.filter(|year| *year != figure.year && own_year(dataset).is_none()) {
        fallbacks.push(Fallback::OtherYear {
            asked,
            used: figure.year,
        });
    }
    let mut intensity = figure.intensity(series.series.dataset);
    intensity.provenance.fallbacks = fallbacks;
    let zones = intensity.provenance.zones(&zone.id);
    let doubts = zones
        .iter()
        .flat_map(|zone| series.series.doubts(zone, &figure));
    intensity.provenance.doubts = doubts.collect();
    Ok(intensity)
}

/// The year a data set is of, if it is of one only.
fn own_year(dataset: Dataset) -> Option<i32> {
    (dataset == Dataset::Eit2019).then_some(2019)
}

/// The area and the zones around it, smallest first.
fn levels<'a>(zone: &'static Zone, state: Option<&'a str>) -> Vec<Level<'a>> {
    let own = Level { zone, state };
    std::iter::successors(Some(own), |level| {
        let larger = match level.zone_of_state() {
            Some(state) => state,
            None => register::all().get(level.zone.parent.as_ref()?)?,
        };
        Some(Level {
            zone: larger,
            state: None,
        })
    })
    .collect()
}

/// A zone, or the part of it in a state.
struct Level<'a> {
    zone: &'static Zone,
    state: Option<&'a str>,
}

/// A series, and the fallback to report if it is another zone's.
struct Offered {
    series: Series,
    substitute: Option<Fallback>,
}

impl Level<'_> {
    /// The zone of the state that a balancing area such as `US-NW-BPAT:OR` lies in: the 2019 tables know that.
    fn zone_of_state(&self) -> Option<&'static Zone> {
        let state = format!("US-{}", self.state?).parse().ok()?;
        let zone = register::find_area(&state).ok()?.zone;
        (zone != self.zone.id).then(|| register::all().get(&zone))?
    }

    /// What the tables have for this level, in the order they are to be asked.
    fn series(&self, dataset: Dataset, year: Option<i32>) -> Vec<Offered> {
        let own = |series| Offered {
            series,
            substitute: None,
        };
        let eit = || table::eit_2019(&self.zone.id).map(own);
        let ember = || self.national().map(own);
        let offers: [Option<Offered>; 3] = match dataset {
            Dataset::ElectricityMaps => [self.electricity_maps(), None, None],
            Dataset::Eit2019 => [eit(), None, None],
            Dataset::Ember => [ember(), None, None],
            Dataset::Egrid => [self.egrid(), None, None],
            Dataset::Auto => {
                let of_2019 = || eit().filter(|offer| offer.series.of_year(2019).is_some());
                let middle = if year == Some(2019) { of_2019() } else { None };
                [self.electricity_maps(), middle, ember()]
            }
        };
        offers.into_iter().flatten().collect()
    }

    /// The figure of the American state of the level, else of its zone.
    fn egrid(&self) -> Option<Offered> {
        let state: Cow<str> = match self.state {
            Some(state) => format!("US-{state}").into(),
            None => self.zone.id.as_str().into(),
        };
        let is_part_of_state = self.zone_of_state().is_some();
        Some(Offered {
            series: table::egrid(&state)?,
            substitute: is_part_of_state.then_some(Fallback::Wider {
                missing: self.zone.id.clone(),
                used: state.parse().ok()?,
            }),
        })
    }

    fn electricity_maps(&self) -> Option<Offered> {
        if let Some((series, fallback)) = table::state_mix(&self.zone.id, self.state) {
            return Some(Offered {
                series,
                substitute: Some(fallback),
            });
        }
        let Some(other) = table::substitute(&self.zone.id, self.state) else {
            let series = table::electricity_maps(&self.zone.id)?;
            return Some(Offered {
                series,
                substitute: None,
            });
        };
        Some(Offered {
            series: table::electricity_maps(&other.zone)?,
            substitute: other.fallback(),
        })
    }

    /// Ember's figures, if the level is a whole country.
    fn national(&self) -> Option<Series> {
        if self.zone.parent.is_some() {
            return None;
        }
        table::ember(self.zone.country?)
    }
}

/// The first offer with the year, else the one whose nearest year is nearest; without a year the first offer.
fn pick(offers: Vec<Offered>, year: Option<i32>, dataset: Dataset) -> Option<(Offered, Figure)> {
    let Some(year) = year.filter(|_| own_year(dataset).is_none()) else {
        return offers.into_iter().next().map(|offer| {
            let figure = offer.series.newest();
            (offer, figure)
        });
    };
    offers
        .into_iter()
        .map(|offer| {
            let figure = offer
                .series
                .of_year(year)
                .unwrap_or_else(|| offer.series.nearest(year));
            (offer, figure)
        })
        .min_by_key(|(_, figure)| figure.year.abs_diff(year))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::intensity::Emissions;

    fn of(zone: &str, year: Option<i32>, dataset: Dataset) -> Intensity {
        for_zone(&zone.parse().unwrap(), year, dataset).unwrap()
    }

    fn g(zone: &str, year: i32) -> f64 {
        of(zone, Some(year), Dataset::Auto).value.get()
    }

    #[test]
    fn an_experiment_gets_the_intensity_of_its_own_year() {
        assert_eq!(g("CA-QC", 2021), 28.0);
        assert_eq!(g("CA-QC", 2025), 41.0);
        assert_eq!(g("US-CA", 2019), 250.733_376_178_534_63);
        assert_eq!(
            of("FR", Some(2010), Dataset::Auto).provenance.source.name,
            "Ember, by Our World in Data"
        );
        assert!(
            of("FR", Some(2010), Dataset::Auto)
                .provenance
                .fallbacks
                .is_empty()
        );
    }

    #[test]
    fn a_part_of_a_country_keeps_its_own_nearest_year_and_says_so() {
        let quebec = of("CA-QC", Some(2015), Dataset::Auto);
        assert_eq!(quebec.value.get(), 28.0);
        assert_eq!(
            quebec.provenance.fallbacks,
            [Fallback::OtherYear {
                asked: 2015,
                used: 2021
            }]
        );
    }

    #[test]
    fn the_original_data_set_gives_the_original_figures() {
        assert_eq!(
            of("US-CA", None, Dataset::Eit2019).value.get(),
            250.733_376_178_534_63
        );
        assert_eq!(
            of("US-CA", Some(2023), Dataset::Eit2019).value.get(),
            250.733_376_178_534_63
        );
        let florida = of("US-FL", None, Dataset::Eit2019);
        assert_eq!(florida.value.get(), 325.0);
        assert!(matches!(
            florida.provenance.fallbacks[0],
            Fallback::Wider { .. }
        ));
        let china = of("CN", None, Dataset::Eit2019);
        assert_eq!(china.provenance.year, Some(2019));
        assert!(matches!(
            china.provenance.fallbacks[0],
            Fallback::OtherDataset { .. }
        ));
    }

    #[test]
    fn a_zone_without_a_row_takes_its_country_and_a_country_without_one_the_world() {
        assert_eq!(
            of("UA-CR", None, Dataset::Auto).provenance.fallbacks.len(),
            1
        );
        assert_eq!(
            of("BV", None, Dataset::Auto).provenance.fallbacks,
            [Fallback::World]
        );
    }

    #[test]
    fn a_state_of_several_balancing_areas_has_their_mean_and_names_them() {
        for (state, grams) in [("US-SC", 458.0), ("US-KY", 612.0), ("US-OR", 209.0)] {
            let intensity = of(state, Some(2025), Dataset::Auto);
            assert_eq!(intensity.value.get().round(), grams, "{state}");
            assert!(
                matches!(&intensity.provenance.fallbacks[..], [Fallback::Mix { parts }] if parts.len() > 2),
                "{state}"
            );
        }
        assert_eq!(g("US-TX", 2025), 363.0, "ERCOT delivers most of it");
    }

    #[test]
    fn a_balancing_area_in_a_state_has_its_own_figure_and_the_2019_figure_of_the_state() {
        let area: AreaId = "US-NW-BPAT:OR".parse().unwrap();
        let intensity = |dataset| for_area(&area, None, dataset).unwrap();
        assert_eq!(intensity(Dataset::Auto).value.get(), 129.0);
        assert_eq!(intensity(Dataset::Eit2019).value.get(), 127.006);
    }

    #[test]
    fn a_rounded_zero_is_no_figure() {
        for (country, year) in [("CF", 2018), ("BI", 2005)] {
            let intensity = of(country, Some(year), Dataset::Ember);
            assert!(intensity.value.get() > 0.0, "{country}");
            assert!(
                matches!(
                    intensity.provenance.fallbacks[..],
                    [Fallback::OtherYear { .. }]
                ),
                "{country}"
            );
        }
    }

    #[test]
    fn the_channel_islands_have_the_figure_of_france() {
        for island in ["JE", "GG"] {
            assert_eq!(g(island, 2025), g("FR", 2025), "{island}");
        }
    }

    #[test]
    fn every_zone_has_an_intensity_in_every_life_cycle_data_set_and_year() {
        let has_all = |dataset: &Dataset| dataset.emissions() == Emissions::LifeCycle;
        for zone in register::all().keys() {
            for dataset in Dataset::ALL.into_iter().filter(has_all) {
                for year in [None, Some(1990), Some(2019), Some(2024), Some(2030)] {
                    assert!(
                        for_zone(zone, year, dataset).is_ok(),
                        "{zone} {dataset} {year:?}"
                    );
                }
            }
        }
    }
}
