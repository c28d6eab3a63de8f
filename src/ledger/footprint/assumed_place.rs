use std::fmt;

use serde::Serialize;

use super::{Assumptions, RunSummary};
use crate::grid::zone::{Iso3, ZoneId, register};
use crate::model::info::Region;

/// Where a run is accounted to have taken place although its log does not say where it did.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "by", rename_all = "snake_case")]
#[non_exhaustive]
pub enum AssumedPlace {
    /// In the zone that the user states for such runs.
    Given {
        /// The zone.
        zone: ZoneId,
    },
    /// In the country of the time zone of the machine's clock, as the log says.
    TimeZone {
        /// The zone of the country.
        zone: ZoneId,
        /// Such as Europe/Berlin.
        time_zone: String,
    },
    /// In the country that the statement is made for.
    Country {
        /// The zone of the country.
        zone: ZoneId,
        /// The country.
        country: Iso3,
    },
}

impl AssumedPlace {
    /// The zone.
    #[must_use]
    pub fn zone(&self) -> &ZoneId {
        match self {
            Self::Given { zone } | Self::TimeZone { zone, .. } | Self::Country { zone, .. } => zone,
        }
    }
}

/// What was used and why, to follow `zone not recorded; `.
impl fmt::Display for AssumedPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given { zone } => {
                write!(f, "the average of {}, as given, was used", name_of(zone))
            }
            Self::TimeZone { zone, time_zone } => write!(
                f,
                "the time zone of the machine's clock was {time_zone}, so the average of {} was used",
                name_of(zone)
            ),
            Self::Country { country, .. } => {
                write!(f, "the average of {} was used", country.in_a_sentence())
            }
        }
    }
}

/// The name of a whole country, or the code of a zone.
fn name_of(zone: &ZoneId) -> String {
    let known = register::find(zone).ok();
    let country = known
        .filter(|zone| zone.parent.is_none())
        .and_then(|zone| zone.country);
    country.map_or_else(|| zone.to_string(), |of| of.in_a_sentence())
}

/// The place that a run is accounted with.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Placement<'a> {
    /// The log says where it took place.
    Recorded(&'a Region),
    /// The log names the country of the machine's clock, and nothing better is known.
    Clock(&'a Region, AssumedPlace),
    /// The log does not say, or only by the clock; the user does.
    Stated(AssumedPlace),
    /// Nothing is known.
    Unknown,
}

impl<'a> Placement<'a> {
    /// The first of these that is known: the recorded place, the zone that the user states, the country of the clock,
    /// the country of the statement. Logs of experiment-impact-tracker keep the rules of that tool, which has no such
    /// country.
    pub(super) fn of(run: &'a RunSummary, assumptions: &Assumptions) -> Self {
        let given = assumptions.default_zone.clone();
        let given = given.map(|zone| Self::Stated(AssumedPlace::Given { zone }));
        match (&run.region, given) {
            (Some(region), given) => match (region.time_zone(), given) {
                (None, _) => Self::Recorded(region),
                (Some(_), Some(given)) => given,
                (Some(time_zone), None) => Self::Clock(
                    region,
                    AssumedPlace::TimeZone {
                        zone: region.zone.clone(),
                        time_zone: time_zone.to_owned(),
                    },
                ),
            },
            (None, Some(given)) => given,
            (None, None) => {
                let country = assumptions.default_country.filter(|_| !run.is_legacy);
                let zone = |country| Some((country, register::of_country(country)?.id.clone()));
                country
                    .and_then(zone)
                    .map_or(Self::Unknown, |(country, zone)| {
                        Self::Stated(AssumedPlace::Country { zone, country })
                    })
            }
        }
    }

    /// What the log records of the place, unless the user states another.
    pub(super) fn region(&self) -> Option<&'a Region> {
        match self {
            Self::Recorded(region) | Self::Clock(region, _) => Some(region),
            Self::Stated(_) | Self::Unknown => None,
        }
    }

    pub(super) fn zone(&self) -> Option<&ZoneId> {
        match self {
            Self::Recorded(region) | Self::Clock(region, _) => Some(&region.zone),
            Self::Stated(place) => Some(place.zone()),
            Self::Unknown => None,
        }
    }

    pub(super) fn assumed(self) -> Option<AssumedPlace> {
        match self {
            Self::Clock(_, place) | Self::Stated(place) => Some(place),
            Self::Recorded(_) | Self::Unknown => None,
        }
    }
}
