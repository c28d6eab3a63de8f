//! What the shipped tables say of one zone: a series of yearly figures.

use csv::StringRecord;

use super::{Basis, Dataset, Emissions, Fallback, Intensity, Provenance, Shares, Source};
use crate::grid::data;
use crate::grid::data::Table;
use crate::grid::zone::{Iso3, ZoneId};
use crate::model::{Doubt, DoubtKind, SubstitutionRule};
use crate::units::GramsPerKwh;

/// A figure of one year.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Figure {
    pub year: i32,
    pub value: GramsPerKwh,
    pub shares: Shares,
}

/// The figures of one zone in one table, oldest first; never empty.
#[derive(Debug, Clone)]
pub(super) struct Series {
    pub dataset: Dataset,
    figures: Vec<Figure>,
}

impl Series {
    fn new(dataset: Dataset, figures: Vec<Figure>) -> Option<Self> {
        (!figures.is_empty()).then_some(Self { dataset, figures })
    }

    /// The mean of several series of one table by weight, for the years that all of them have.
    pub(super) fn mean(parts: &[(Self, f64)]) -> Option<Self> {
        let (first, _) = parts.first()?;
        let total: f64 = parts.iter().map(|(_, weight)| weight).sum();
        let of_year = |year: i32| {
            let figures: Vec<(Figure, f64)> = parts
                .iter()
                .map(|(series, weight)| Some((series.of_year(year)?, weight / total)))
                .collect::<Option<_>>()?;
            let mean = |get: &dyn Fn(&Figure) -> Option<f64>| {
                let terms = figures.iter().map(|(figure, w)| Some(get(figure)? * w));
                terms.sum::<Option<f64>>()
            };
            Some(Figure {
                year,
                // The shares are known to a hundredth.
                value: GramsPerKwh::new(
                    (mean(&|figure| Some(figure.value.get()))? * 100.0).round() / 100.0,
                )
                .ok()?,
                shares: Shares {
                    renewable: mean(&|figure| figure.shares.renewable),
                    fossil: mean(&|figure| figure.shares.fossil),
                },
            })
        };
        let figures = first.figures.iter();
        Self::new(
            first.dataset,
            figures.filter_map(|figure| of_year(figure.year)).collect(),
        )
    }

    pub(super) fn of_year(&self, year: i32) -> Option<Figure> {
        self.figures
            .iter()
            .copied()
            .find(|figure| figure.year == year)
    }

    /// Why a figure of this zone of the yearly table may be wrong. Jumps are those of the newest year.
    pub(super) fn doubts(&self, zone: &ZoneId, figure: &Figure) -> Vec<Doubt> {
        if self.dataset != Dataset::ElectricityMaps {
            return Vec::new();
        }
        let mut doubts = data::flag::of(zone.as_str());
        doubts.retain(|doubt| doubt.kind != DoubtKind::Jump || figure.year == self.newest().year);
        doubts
    }

    pub(super) fn newest(&self) -> Figure {
        *self.figures.last().expect("a series is never empty")
    }

    pub(super) fn nearest(&self, year: i32) -> Figure {
        *self
            .figures
            .iter()
            .min_by_key(|figure| figure.year.abs_diff(year))
            .expect("a series is never empty")
    }
}

impl Figure {
    pub(super) fn intensity(self, dataset: Dataset) -> Intensity {
        let (name, table) = match dataset {
            Dataset::Eit2019 => (
                "experiment-impact-tracker 0.1.8, 2019 averages",
                &data::EIT_2019,
            ),
            Dataset::Ember => ("Ember, by Our World in Data", &data::EMBER),
            Dataset::Egrid => ("EPA eGRID2023, by state", &data::EGRID),
            Dataset::ElectricityMaps | Dataset::Auto => {
                ("Electricity Maps, yearly data", &data::ELECTRICITY_MAPS)
            }
        };
        Intensity {
            value: self.value,
            provenance: Provenance {
                source: Source {
                    name: name.into(),
                    licence: Some(table.provenance.licence.into()),
                },
                year: Some(self.year),
                basis: Some(basis(dataset)),
                fallbacks: Vec::new(),
                doubts: Vec::new(),
            },
            shares: self.shares,
        }
    }
}

/// What the figures of a table count.
fn basis(dataset: Dataset) -> Basis {
    match dataset {
        Dataset::Auto | Dataset::ElectricityMaps => Basis::LIFE_CYCLE_CONSUMPTION,
        Dataset::Ember => Basis::LIFE_CYCLE_PRODUCTION,
        Dataset::Egrid => Basis::DIRECT_PRODUCTION,
        // Its averages are of several sources, which do not all say of which mix they are.
        Dataset::Eit2019 => Basis::Average {
            emissions: Emissions::LifeCycle,
            mix: None,
        },
    }
}

/// The Electricity Maps zone whose figures are used for an area.
pub(super) struct Substitute {
    pub zone: ZoneId,
    /// None if it is the area itself, under the same or another name.
    pub rule: Option<SubstitutionRule>,
}

impl Substitute {
    /// The fallback to report; none if the zone is the area itself.
    pub(super) fn fallback(self) -> Option<Fallback> {
        let zone = self.zone;
        self.rule.map(|rule| Fallback::Substitute { zone, rule })
    }
}

/// The rule of a crosswalk row; none for `same` and `renamed`.
fn rule(text: &str) -> Option<SubstitutionRule> {
    match text {
        "country" => Some(SubstitutionRule::Country),
        "largest balancing area" => Some(SubstitutionRule::LargestBalancingArea),
        "regional grid" => Some(SubstitutionRule::RegionalGrid),
        "supplied by" => Some(SubstitutionRule::SuppliedBy),
        _ => None,
    }
}

/// The row of the crosswalk for an area; for a zone of several states, the row of most of them.
pub(super) fn substitute(zone: &ZoneId, state: Option<&str>) -> Option<Substitute> {
    let exact = state.map_or_else(|| zone.to_string(), |state| format!("{zone}:{state}"));
    let states = format!("{zone}:");
    let rows: Vec<(&str, &'static str)> = data::CROSSWALK
        .text()
        .lines()
        .filter_map(|line| {
            let mut fields = line.split(',');
            let (name, zone, why) = (fields.next()?, fields.next()?, fields.next()?);
            let fits = name == exact || (state.is_none() && name.starts_with(&states));
            (fits && !zone.is_empty()).then_some((zone, why))
        })
        .collect();
    let votes = |zone: &str| rows.iter().filter(|(other, _)| *other == zone).count();
    let most = rows.iter().map(|(zone, _)| votes(zone)).max()?;
    let (zone, why) = rows.iter().find(|(zone, _)| votes(zone) == most)?;
    Some(Substitute {
        zone: zone.parse().ok()?,
        rule: rule(why),
    })
}

/// Electricity Maps' figures for one of its own zones.
pub(super) fn electricity_maps(zone: &ZoneId) -> Option<Series> {
    const YEARS: usize = 5;
    const FIRST: i32 = 2021;
    let row = row(&data::ELECTRICITY_MAPS, zone.as_str())?;
    let number = |column: usize| row.get(column)?.parse::<f64>().ok();
    let figures = (0..YEARS).filter_map(|n| {
        Some(Figure {
            year: FIRST + n as i32,
            value: GramsPerKwh::new(number(2 + n)?).ok()?,
            shares: Shares {
                renewable: number(2 + YEARS + n).map(|percent| percent / 100.0),
                fossil: number(2 + 2 * YEARS + n).map(|carbon_free| (100.0 - carbon_free) / 100.0),
            },
        })
    });
    Series::new(Dataset::ElectricityMaps, figures.collect())
}

/// The mean of the balancing areas that serve an American state, and the fallback to report.
pub(super) fn state_mix(zone: &ZoneId, state: Option<&str>) -> Option<(Series, Fallback)> {
    let area = state.map_or_else(|| zone.to_string(), |state| format!("{zone}:{state}"));
    let parts = data::state_mix::of(&area);
    let zones: Vec<(ZoneId, f64)> = parts
        .iter()
        .map(|part| Some((part.zone.parse().ok()?, part.share)))
        .collect::<Option<_>>()?;
    let series: Vec<(Series, f64)> = zones
        .iter()
        .map(|(zone, share)| Some((electricity_maps(zone)?, *share)))
        .collect::<Option<_>>()?;
    let fallback = Fallback::Mix {
        parts: zones
            .into_iter()
            .map(|(zone, share)| (zone, (share * 100.0).round() as u8))
            .collect(),
    };
    Some((Series::mean(&series)?, fallback))
}

/// The average experiment-impact-tracker ships for a zone; 2019 where its source names no year.
pub(super) fn eit_2019(zone: &ZoneId) -> Option<Series> {
    let row = row(&data::EIT_2019, zone.as_str())?;
    let number = |column: usize| row.get(column)?.parse::<f64>().ok();
    let figure = Figure {
        year: row.get(4)?.parse().unwrap_or(2019),
        value: GramsPerKwh::new(number(1)?).ok()?,
        shares: Shares {
            renewable: number(2),
            fossil: number(3),
        },
    };
    Series::new(Dataset::Eit2019, vec![figure])
}

/// eGRID's figure for an American state or for all of them.
pub(super) fn egrid(zone: &str) -> Option<Series> {
    let row = row(&data::EGRID, zone)?;
    let figure = Figure {
        year: row.get(2)?.parse().ok()?,
        value: row.get(1)?.parse().ok()?,
        shares: Shares::default(),
    };
    Series::new(Dataset::Egrid, vec![figure])
}

/// Ember's figures for a country.
pub(super) fn ember(country: Iso3) -> Option<Series> {
    ember_row(country.as_str())
}

/// Ember's figures for the world.
pub(super) fn world() -> Series {
    ember_row("WLD").expect("the embedded table has the world")
}

fn ember_row(code: &str) -> Option<Series> {
    const FIRST: i32 = 2000;
    let row = row(&data::EMBER, code)?;
    let figures = row.iter().skip(1).zip(FIRST..).filter_map(|(text, year)| {
        Some(Figure {
            year,
            value: text.parse().ok()?,
            shares: Shares::default(),
        })
    });
    Series::new(Dataset::Ember, figures.collect())
}

/// The row of a table whose first field is `key`. The tables are small and asked once or twice, so they are scanned.
fn row(table: &'static Table, key: &str) -> Option<StringRecord> {
    let line = table.text().lines().skip(1).find(|line| {
        line.strip_prefix(key)
            .is_some_and(|rest| rest.starts_with(','))
    })?;
    csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(line.as_bytes())
        .into_records()
        .next()?
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::zone::AreaId;

    fn zone(name: &str) -> ZoneId {
        name.parse().unwrap()
    }

    #[test]
    fn the_first_and_last_years_are_where_the_header_says() {
        let header = data::ELECTRICITY_MAPS.text().lines().next().unwrap();
        assert!(
            header.starts_with("zone,name,g_per_kwh_2021,")
                && header.ends_with("carbon_free_pct_2025")
        );
        let header = data::EMBER.text().lines().next().unwrap();
        assert!(header.starts_with("iso3,2000,") && header.ends_with(",2025"));
    }

    #[test]
    fn california_gets_cleaner() {
        let series = electricity_maps(&zone("US-CAL-CISO")).unwrap();
        assert_eq!(series.of_year(2021).unwrap().value.get(), 278.0);
        assert_eq!(series.newest().value.get(), 208.0);
        assert_eq!(series.nearest(1990).year, 2021);
    }

    #[test]
    fn a_zone_of_several_states_takes_what_most_of_them_take() {
        let of = |area: &str| {
            let area: AreaId = area.parse().unwrap();
            let other = substitute(&area.zone, area.state.as_deref()).unwrap();
            other.zone.to_string()
        };
        assert_eq!(of("US-PJM"), "US-MIDA-PJM");
        assert_eq!(of("US-PJM:KY"), "US-MIDW-LGEE");
        assert_eq!(of("US-MISO:IL"), "US-MIDA-PJM");
        assert_eq!(of("FR"), "FR");
    }

    #[test]
    fn every_crosswalk_row_leads_to_a_figure() {
        for line in data::CROSSWALK.text().lines().skip(1) {
            let area: AreaId = line.split(',').next().unwrap().parse().unwrap();
            if let Some(other) = substitute(&area.zone, area.state.as_deref()) {
                assert!(electricity_maps(&other.zone).is_some(), "{line}");
                let is_itself = line.contains(",same") || line.contains(",renamed");
                assert_eq!(other.rule.is_none(), is_itself, "{line}");
            }
        }
    }
}
