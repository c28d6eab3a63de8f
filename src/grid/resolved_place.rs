use super::intensity::Intensity;
use super::zone::cloud::CloudRegion;
use super::zone::detect::Evidence;
use super::zone::place::Place;
use super::zone::time_zone::TimeZone;
use super::zone::{AreaId, Found, Iso3, Point, Zone};
use crate::model::PlaceSource;
use crate::model::info::Region;

/// A place with its zone and carbon intensity.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ResolvedPlace {
    /// The zone, or the part of it in a state.
    pub area: AreaId,
    /// The zone of the area; none if only a map or table of the user's own has it.
    pub zone: Option<&'static Zone>,
    /// Where the place is; none for a zone or country as a whole.
    pub point: Option<Point>,
    /// How the area was found.
    pub how: How,
    /// The carbon intensity with its provenance.
    pub intensity: Intensity,
}

/// How an area was found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum How {
    /// By its own name.
    Zone,
    /// As a whole country.
    Country(Iso3),
    /// By a point.
    Point(Found),
    /// By an address.
    Address {
        /// The cities the address may mean. The first was taken; there is at least one.
        candidates: Vec<Place>,
        /// What links the city to the area.
        found: Found,
    },
    /// By a point near a border, on the side of the nearest city.
    NearCity {
        /// The city.
        city: Place,
        /// How far it is, in kilometres.
        km: f64,
    },
    /// By the name of a state or province.
    State {
        /// The state.
        name: &'static str,
        /// Its largest city, whose zone is taken.
        largest: Place,
    },
    /// By a cloud region.
    Cloud {
        /// The region.
        region: &'static CloudRegion,
        /// What names the region on this machine; none if the user did.
        evidence: Option<Evidence>,
        /// What links the region to the area on the user's own map; none by the embedded table.
        found: Option<Found>,
    },
    /// As the whole country of the time zone of this machine's clock.
    TimeZone(TimeZone),
    /// By this machine's network address.
    NetworkAddress {
        /// The place, as the geolocation service calls it.
        name: String,
        /// What links the place to the area.
        found: Found,
    },
    /// In the list of all areas.
    Listed,
    /// In the list of zones by intensity.
    Ranked,
    /// By its distance from a place.
    Distance {
        /// The distance in kilometres.
        km: f64,
        /// The place.
        from: Point,
    },
}

impl ResolvedPlace {
    /// The carbon intensity as a number.
    #[must_use]
    pub fn grams_per_kwh(&self) -> f64 {
        self.intensity.value.get()
    }

    /// The cloud region, if the place is one.
    #[must_use]
    pub fn cloud(&self) -> Option<&'static CloudRegion> {
        match self.how {
            How::Cloud { region, .. } => Some(region),
            _ => None,
        }
    }

    /// The place as a log describes it; `named` says who named it if the machine itself did not.
    #[must_use]
    pub fn region(&self, named: PlaceSource) -> Region {
        let region = Region {
            state: self.area.state.clone(),
            name: self.zone.map(|zone| zone.name.clone()),
            lat: self.point.map(Point::lat),
            lon: self.point.map(Point::lon),
            how: Some(self.how.in_log()),
            placed_by: Some(self.how.source().unwrap_or(named)),
            ..Region::of(self.area.zone.clone())
        };
        region.with_average(&self.intensity)
    }
}

impl How {
    /// What on the machine says where it is; none if somebody named the place.
    fn source(&self) -> Option<PlaceSource> {
        match self {
            Self::Cloud {
                evidence: Some(evidence),
                ..
            } => Some(PlaceSource::CloudMetadata {
                evidence: evidence.to_string(),
            }),
            Self::TimeZone(clock) => Some(PlaceSource::TimeZone {
                time_zone: clock.name.clone(),
            }),
            _ => None,
        }
    }

    /// The sentence of `region.how` in a log.
    fn in_log(&self) -> String {
        match self {
            Self::Zone => "the zone was given".to_owned(),
            Self::Country(country) => {
                format!(
                    "the average of {}, which was given",
                    country.in_a_sentence()
                )
            }
            Self::Point(_) | Self::NearCity { .. } => "the point was given".to_owned(),
            Self::State { name, largest } => {
                format!("the state {name} was given, zone of {largest}")
            }
            Self::Address { candidates, .. } => match candidates.len() - 1 {
                0 => format!("the address is in {}", candidates[0]),
                others => format!(
                    "the address is in {}, the likeliest; impact region --address shows {others} more",
                    candidates[0]
                ),
            },
            Self::Cloud {
                region, evidence, ..
            } => {
                let named = evidence.as_ref().map_or("given", |_| "this machine");
                format!("{named}: cloud region {}:{}", region.provider, region.code)
            }
            Self::TimeZone(clock) => format!(
                "the time zone of the clock is {}, so the average of {} is assumed",
                clock.name,
                clock.country.in_a_sentence()
            ),
            Self::NetworkAddress { name, .. } => format!("the network address is in {name}"),
            Self::Listed | Self::Ranked | Self::Distance { .. } => {
                "chosen from a list of zones".to_owned()
            }
        }
    }
}
