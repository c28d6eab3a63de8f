use chrono::{DateTime, Datelike, NaiveDate, NaiveTime, TimeDelta, Utc};

use super::{
    Basis, Dataset, Declined, IntensityProvider, Period, Point, Provenance, Series, for_zone,
};
use crate::grid::zone::ZoneId;

/// The yearly averages of the embedded tables, as a provider that needs no network.
#[derive(Debug, Clone, Copy)]
pub struct YearlyProvider;

const YEAR: TimeDelta = TimeDelta::days(366);

impl IntensityProvider for YearlyProvider {
    fn name(&self) -> &'static str {
        "table"
    }

    fn basis(&self) -> Basis {
        Basis::LIFE_CYCLE_CONSUMPTION
    }

    fn intensity(&self, zone: &ZoneId, period: &Period) -> Result<Series, Declined> {
        let mut points = Vec::new();
        let mut sources: Vec<Provenance> = Vec::new();
        let mut basis = self.basis();
        for year in period.from().year()..=period.to().year() {
            let figure = for_zone(zone, Some(year), Dataset::Auto)
                .map_err(|_| Declined::NotServed(zone.clone()))?;
            let Some(at) = new_year(year) else { continue };
            // A point never lies before the period.
            points.push(Point {
                at: at.max(period.from()),
                intensity: figure.value,
            });
            basis = figure.provenance.basis.unwrap_or(basis);
            sources.push(figure.provenance);
        }
        Series::new(zone, sources, basis, YEAR, period, points)
    }
}

fn new_year(year: i32) -> Option<DateTime<Utc>> {
    Some(
        NaiveDate::from_ymd_opt(year, 1, 1)?
            .and_time(NaiveTime::MIN)
            .and_utc(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_year_of_the_period_has_its_own_average() {
        let period = Period::new(
            "2023-12-31T23:00:00Z".parse().unwrap(),
            "2024-01-01T01:00:00Z".parse().unwrap(),
        )
        .unwrap();
        let series = YearlyProvider
            .intensity(&"FR".parse().unwrap(), &period)
            .unwrap();
        let years: Vec<i32> = series
            .points()
            .iter()
            .map(|point| point.at.year())
            .collect();
        assert_eq!(years, [2023, 2024]);
        assert!(series.source().contains("average of 2023"));
        assert!(series.at(period.from()).is_some());
    }

    #[test]
    fn no_point_lies_before_the_period_asked_for() {
        let from = "2026-11-01T00:00:00Z".parse().unwrap();
        let period = Period::new(from, from + TimeDelta::days(7)).unwrap();
        let series = YearlyProvider
            .intensity(&"US-CA".parse().unwrap(), &period)
            .unwrap();
        let times: Vec<_> = series.points().iter().map(|point| point.at).collect();
        assert_eq!(times, [from]);
    }

    #[test]
    fn a_zone_that_is_on_no_map_is_not_served() {
        let nowhere: ZoneId = "QQ-9".parse().unwrap();
        let now = "2026-01-01T00:00:00Z".parse().unwrap();
        assert_eq!(
            YearlyProvider.latest(&nowhere, now),
            Err(Declined::NotServed(nowhere))
        );
    }
}
