use chrono::{DateTime, Datelike, DurationRound, TimeDelta, Utc};
use serde::{Serialize, Serializer};

use super::{Basis, Declined, Provenance};
use crate::grid::zone::ZoneId;
use crate::units::GramsPerKwh;

/// From one instant up to, but not including, another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    from: DateTime<Utc>,
    to: DateTime<Utc>,
}

/// Two instants that are not the bounds of a usable period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the period from {from} to {to} must run forwards, for at most {} days, between 1970 and 2200", Period::LONGEST.num_days())]
pub struct NotAPeriod {
    from: DateTime<Utc>,
    to: DateTime<Utc>,
}

impl Period {
    /// The longest period that can be asked for.
    pub const LONGEST: TimeDelta = TimeDelta::days(732);

    /// The period between two instants; an error if it is not one that providers answer for.
    pub fn new(from: DateTime<Utc>, to: DateTime<Utc>) -> Result<Self, NotAPeriod> {
        let years = 1970..2200;
        let can_be = years.contains(&from.year()) && years.contains(&to.year());
        if can_be && from < to && to.signed_duration_since(from) <= Self::LONGEST {
            Ok(Self { from, to })
        } else {
            Err(NotAPeriod { from, to })
        }
    }

    /// The time of this length that ends now.
    #[must_use]
    pub fn until(now: DateTime<Utc>, length: TimeDelta) -> Self {
        let length = length.clamp(TimeDelta::seconds(1), Self::LONGEST);
        Self {
            from: now.checked_sub_signed(length).unwrap_or(now),
            to: now,
        }
    }

    /// The first instant.
    #[must_use]
    pub fn from(&self) -> DateTime<Utc> {
        self.from
    }

    /// The first instant after the period.
    #[must_use]
    pub fn to(&self) -> DateTime<Utc> {
        self.to
    }

    /// The same period widened to whole hours, so that asking again a minute later asks the same.
    #[must_use]
    pub fn whole_hours(&self) -> Self {
        let hour = TimeDelta::hours(1);
        let floor = |at: DateTime<Utc>| at.duration_trunc(hour).unwrap_or(at);
        let to = floor(self.to);
        Self {
            from: floor(self.from),
            to: if to == self.to { to } else { to + hour },
        }
    }

    /// The period in pieces of at most this length, in order.
    pub fn pieces(&self, longest: TimeDelta) -> impl Iterator<Item = Self> {
        let end = self.to;
        let mut from = self.from;
        std::iter::from_fn(move || {
            let to = end.min(from.checked_add_signed(longest)?);
            let piece = Self { from, to };
            from = to;
            (piece.from < piece.to).then_some(piece)
        })
    }
}

/// The intensity from one instant until the next point or the end of the resolution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Point {
    /// The instant from which the value holds.
    pub at: DateTime<Utc>,
    /// The value.
    #[serde(rename = "carbon_intensity")]
    pub intensity: GramsPerKwh,
}

/// Intensities of one zone over time with their sources; in order, never empty.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// The zone the points are of.
    pub zone: ZoneId,
    /// Each source the points come from, oldest first.
    #[serde(rename = "source", serialize_with = "as_text")]
    pub sources: Vec<Provenance>,
    /// What the points count.
    #[serde(flatten)]
    pub basis: Basis,
    /// How long a value is valid, and how often there is a new one.
    #[serde(rename = "resolution_s", serialize_with = "seconds")]
    pub resolution: TimeDelta,
    points: Vec<Point>,
}

fn as_text<S: Serializer>(sources: &[Provenance], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&described(sources))
}

/// Sources of a series as one line: each with its year and its fallbacks.
pub(super) fn described(sources: &[Provenance]) -> String {
    let parts = sources.iter().flat_map(|source| {
        let name = match source.year {
            Some(year) => format!("{}, average of {year}", source.source.name),
            None => source.source.name.to_string(),
        };
        std::iter::once(name).chain(source.fallbacks.iter().map(ToString::to_string))
    });
    parts.collect::<Vec<_>>().join("; ")
}

fn seconds<S: Serializer>(time: &TimeDelta, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_i64(time.num_seconds())
}

impl Series {
    /// The points that are valid in the period, sorted, one for each instant.
    pub fn new(
        zone: &ZoneId,
        sources: impl IntoIterator<Item = Provenance>,
        basis: Basis,
        resolution: TimeDelta,
        period: &Period,
        mut points: Vec<Point>,
    ) -> Result<Self, Declined> {
        points.retain(|point| {
            point.at < period.to
                && point
                    .at
                    .checked_add_signed(resolution)
                    .is_some_and(|end| end > period.from)
        });
        points.sort_by_key(|point| point.at);
        points.dedup_by_key(|point| point.at);
        if points.is_empty() {
            return Err(Declined::NoValues);
        }
        let mut sources: Vec<Provenance> = sources.into_iter().collect();
        for source in &mut sources {
            source.basis.get_or_insert(basis);
        }
        sources.dedup();
        Ok(Self {
            zone: zone.clone(),
            sources,
            basis,
            resolution,
            points,
        })
    }

    /// The sources of the points, as one line.
    #[must_use]
    pub fn source(&self) -> String {
        described(&self.sources)
    }

    /// The points, in order.
    #[must_use]
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The newest point.
    #[must_use]
    pub fn last(&self) -> Point {
        *self.points.last().expect("a series is never empty")
    }

    /// The intensity at an instant, or none in a gap.
    #[must_use]
    pub fn at(&self, instant: DateTime<Utc>) -> Option<GramsPerKwh> {
        let after = self.points.partition_point(|point| point.at <= instant);
        let point = self.points[..after].last()?;
        (instant.signed_duration_since(point.at) < self.resolution).then_some(point.intensity)
    }

    /// The plain average of the points.
    pub fn mean(&self) -> GramsPerKwh {
        let sum: f64 = self.points.iter().map(|point| point.intensity.get()).sum();
        GramsPerKwh::new(sum / self.points.len() as f64)
            .expect("an average lies between the values it is made of")
    }

    /// The cleanest and the dirtiest point, the earlier of equals.
    #[must_use]
    pub fn extremes(&self) -> (Point, Point) {
        let first = self.points[0];
        self.points
            .iter()
            .fold((first, first), |(low, high), point| {
                (
                    if point.intensity < low.intensity {
                        *point
                    } else {
                        low
                    },
                    if point.intensity > high.intensity {
                        *point
                    } else {
                        high
                    },
                )
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Source;

    fn instant(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    fn hourly(values: &[(&str, f64)]) -> Series {
        let points = values
            .iter()
            .map(|(at, value)| Point {
                at: instant(at),
                intensity: GramsPerKwh::new(*value).unwrap(),
            })
            .collect();
        let period = Period::new(
            instant("2026-01-01T00:00:00Z"),
            instant("2026-01-02T00:00:00Z"),
        )
        .unwrap();
        Series::new(
            &"GB".parse().unwrap(),
            [Provenance::of(Source::named("a test"))],
            Basis::DIRECT_CONSUMPTION,
            TimeDelta::hours(1),
            &period,
            points,
        )
        .unwrap()
    }

    #[test]
    fn an_instant_takes_the_point_it_falls_in_and_a_gap_takes_none() {
        let series = hourly(&[
            ("2026-01-01T03:00:00Z", 30.0),
            ("2026-01-01T01:00:00Z", 10.0),
        ]);
        let at = |text| series.at(instant(text)).map(GramsPerKwh::get);
        assert_eq!(at("2026-01-01T00:59:59Z"), None);
        assert_eq!(at("2026-01-01T01:00:00Z"), Some(10.0));
        assert_eq!(at("2026-01-01T01:59:59Z"), Some(10.0));
        assert_eq!(at("2026-01-01T02:00:00Z"), None);
        assert_eq!(at("2026-01-01T03:30:00Z"), Some(30.0));
    }

    #[test]
    fn points_outside_the_period_are_left_out_and_mean_and_extremes_are_of_the_rest() {
        let series = hourly(&[
            ("2025-12-31T23:00:00Z", 900.0),
            ("2026-01-01T00:00:00Z", 10.0),
            ("2026-01-01T01:00:00Z", 20.0),
            ("2026-01-02T00:00:00Z", 900.0),
        ]);
        assert_eq!(series.points().len(), 2);
        assert_eq!(series.mean().get(), 15.0);
        assert_eq!(series.extremes().1.intensity.get(), 20.0);
    }

    #[test]
    fn a_period_is_cut_into_pieces_without_gaps() {
        let period = Period::new(
            instant("2026-01-01T00:00:00Z"),
            instant("2026-01-26T12:00:00Z"),
        )
        .unwrap();
        let pieces: Vec<Period> = period.pieces(TimeDelta::days(10)).collect();
        assert_eq!(pieces.len(), 3);
        assert_eq!(pieces[0].to(), pieces[1].from());
        assert_eq!(pieces[2].to(), period.to());
    }

    #[test]
    fn a_period_that_runs_backwards_or_for_years_is_refused() {
        let (early, late) = (
            instant("2020-01-01T00:00:00Z"),
            instant("2026-01-01T00:00:00Z"),
        );
        assert!(Period::new(late, early).is_err());
        assert!(Period::new(early, early).is_err());
        assert!(Period::new(early, late).is_err());
        let last = DateTime::<Utc>::MAX_UTC;
        assert!(Period::new(last - TimeDelta::days(1), last).is_err());
    }
}
