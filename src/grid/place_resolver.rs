//! From a place to its zone and carbon intensity.

use std::path::{Path, PathBuf};

use super::intensity::user_table::{BadTable, UserTable};
use super::intensity::{
    Dataset, Emissions, Fallback, Intensity, NoFigure, OtherEmissions, for_area_in,
};
#[cfg(feature = "live")]
use super::intensity::{
    Declined,
    live::{ServiceClient, geolocate},
};
use super::resolved_place::{How, ResolvedPlace};
use super::user_file::{UnreadableFile, read_text};
use super::zone::cloud::{CloudRegion, NoSuchRegion};
use super::zone::detect::{Evidence, Roots, detect};
use super::zone::geojson::BadMap;
use super::zone::place::{NoSuchPlace, Place, Wider};
use super::zone::register::{self, NoSuchZone};
use super::zone::time_zone::TimeZone;
use super::zone::{
    AreaId, Found, Iso3, Located, Map, NoZoneNear, NotOnEarth, Point, Zone, ZoneId, cloud, geojson,
    place,
};

/// A place as users name it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum PlaceQuery {
    /// A zone of the map, or an American state such as `US-VA`.
    Zone(ZoneId),
    /// A whole country.
    Country(Iso3),
    /// A city, as one writes it.
    Address(String),
    /// A point on the map.
    Point(Point),
    /// `provider:region`, such as `aws:us-east-1`.
    Cloud(String),
    /// The cloud region that this machine's own files name, else the country of its clock; no network is used.
    ThisMachine(Roots),
}

/// Resolves places to zones and their carbon intensity, by the embedded tables or by the user's own.
#[derive(Debug, Default)]
pub struct PlaceResolver {
    own_map: Option<Map>,
    own_table: UserTable,
    year: Option<i32>,
    dataset: Dataset,
    emissions: Option<Emissions>,
}

/// Why a place has no zone or no carbon intensity.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// No zone has this name.
    #[error(transparent)]
    Zone(NoSuchZone),
    /// The zone is on the user's own map, and no table has a figure for it.
    #[error(transparent)]
    Intensity(NoSuchZone),
    /// The data set has no figure for the zone, and no other counts the same emissions.
    #[error(transparent)]
    Figure(#[from] NoFigure),
    /// The figure of the user's own table does not say what it counts.
    #[error("your own figure for {0} does not say what it counts, so it cannot be chosen by basis")]
    OwnBasis(ZoneId),
    /// The country is no zone of the map.
    #[error("{0} is no zone of the map")]
    Country(Iso3),
    /// No city fits the address.
    #[error(transparent)]
    Address(NoSuchPlace),
    /// The point is far from any zone.
    #[error(transparent)]
    NoZoneNear(NoZoneNear),
    /// No cloud region has this name.
    #[error(transparent)]
    Cloud(NoSuchRegion),
    /// No file of this machine names a cloud.
    #[error("this machine's own files do not say where it is")]
    NoCloud,
    /// A file of this machine names a cloud, but none names the region.
    #[error("this machine's own files do not say where it is")]
    NoCloudRegion {
        /// The provider.
        provider: &'static str,
        /// What names the provider.
        evidence: Evidence,
    },
    /// The zone has no polygon, so it has no neighbours.
    #[error("the zone {0} has no place on the map")]
    NotOnMap(AreaId),
    /// The geolocation service did not answer.
    #[cfg(feature = "live")]
    #[error("the geolocation service gave no answer")]
    Geolocation(#[source] GeolocationError),
}

/// Why the geolocation service has no place for this machine.
#[cfg(feature = "live")]
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GeolocationError {
    /// The service declined.
    #[error("{}", .0.reason())]
    Declined(Declined),
    /// The coordinates are no place on Earth.
    #[error(transparent)]
    Point(#[from] NotOnEarth),
}

/// Why a map or table of the user's own cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UserDataError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] UnreadableFile),
    /// The file is not a map of zones.
    #[error("{} is not a map of zones", .path.display())]
    Map {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: BadMap,
    },
    /// The file is not a table of intensities.
    #[error(transparent)]
    Table(#[from] BadTable),
}

impl PlaceResolver {
    /// Answers with figures of this year, or of the newest year there is.
    #[must_use]
    pub fn new(year: Option<i32>, dataset: Dataset) -> Self {
        Self {
            year,
            dataset,
            ..Self::default()
        }
    }

    /// Answers only with figures that count these emissions.
    pub fn counting(mut self, emissions: Option<Emissions>) -> Result<Self, OtherEmissions> {
        self.dataset = self.dataset.counting(emissions)?;
        self.emissions = emissions;
        Ok(self)
    }

    /// Uses a GeoJSON map of the user's own instead of the embedded one.
    pub fn with_map(mut self, path: &Path) -> Result<Self, UserDataError> {
        const LARGEST_MAP: u64 = 256 << 20;
        let text = read_text(path, LARGEST_MAP)?;
        let map = geojson::read(&text).map_err(|source| UserDataError::Map {
            path: path.to_owned(),
            source,
        })?;
        self.own_map = Some(map);
        Ok(self)
    }

    /// Prefers intensities of the user's own table, `zone,g_per_kwh[,year][,source]`, to the embedded ones.
    pub fn with_table(mut self, path: &Path) -> Result<Self, UserDataError> {
        self.own_table = UserTable::read(path)?;
        Ok(self)
    }

    /// The map in use.
    #[must_use]
    pub fn map(&self) -> &Map {
        self.own_map.as_ref().unwrap_or_else(|| Map::embedded())
    }

    /// The zone of a place and its carbon intensity.
    pub fn resolve(&self, query: &PlaceQuery) -> Result<ResolvedPlace, ResolveError> {
        match query {
            PlaceQuery::Zone(id) => match self.area_named(id) {
                Err(unknown) => match Iso3::meant_by(id.as_str()) {
                    Some(country) => self.country(country, How::Country(country)),
                    None => Err(unknown),
                },
                area => self.resolved(area?, None, How::Zone),
            },
            PlaceQuery::Country(country) => self.country(*country, How::Country(*country)),
            PlaceQuery::Address(address) => {
                let candidates = match place::find(address) {
                    Ok(candidates) => candidates,
                    Err(none) => return self.wider(address, none),
                };
                self.in_city(&candidates[0].clone(), |found| How::Address {
                    candidates,
                    found,
                })
            }
            PlaceQuery::Point(point) => self.near_border(*point),
            PlaceQuery::Cloud(text) => {
                self.cloud(cloud::find(text).map_err(ResolveError::Cloud)?, None)
            }
            PlaceQuery::ThisMachine(roots) => {
                let machine = detect(roots);
                if let Some(found) = &machine
                    && let Some(region) = found.region
                {
                    return self.cloud(region, Some(found.evidence.clone()));
                }
                if let Some(clock) = TimeZone::of_machine(roots) {
                    return self.country(clock.country, How::TimeZone(clock));
                }
                Err(
                    machine.map_or(ResolveError::NoCloud, |found| ResolveError::NoCloudRegion {
                        provider: found.provider,
                        evidence: found.evidence,
                    }),
                )
            }
        }
    }

    /// The average of a country as a whole.
    fn country(&self, country: Iso3, how: How) -> Result<ResolvedPlace, ResolveError> {
        let zone = register::of_country(country).ok_or(ResolveError::Country(country))?;
        let area = AreaId::from(zone.id.clone());
        self.resolved((area, Some(zone)), None, how)
    }

    /// Where a geolocation service says this machine's network address is.
    #[cfg(feature = "live")]
    pub fn network_address(&self, client: &ServiceClient) -> Result<ResolvedPlace, ResolveError> {
        let failed = ResolveError::Geolocation;
        let place = geolocate(client).map_err(|why| failed(GeolocationError::Declined(why)))?;
        let point = Point::new(place.lat, place.lon).map_err(|why| failed(why.into()))?;
        self.at(point, |found| How::NetworkAddress {
            name: place.name,
            found,
        })
    }

    /// The carbon intensity of an area.
    pub fn intensity(&self, area: &AreaId) -> Result<Intensity, ResolveError> {
        self.intensity_in(area, None)
    }

    fn intensity_in(
        &self,
        area: &AreaId,
        zone: Option<&'static Zone>,
    ) -> Result<Intensity, ResolveError> {
        if let Some(own) = self.own_table.of(&area.zone, self.year) {
            return match self.emissions {
                Some(_) => Err(ResolveError::OwnBasis(area.zone.clone())),
                None => Ok(own),
            };
        }
        let zone = match zone {
            Some(zone) => zone,
            None => register::find(&area.zone).map_err(ResolveError::Intensity)?,
        };
        Ok(for_area_in(
            zone,
            area.state.as_deref(),
            self.year,
            self.dataset,
        )?)
    }

    fn resolved(
        &self,
        (area, zone): (AreaId, Option<&'static Zone>),
        point: Option<Point>,
        how: How,
    ) -> Result<ResolvedPlace, ResolveError> {
        Ok(ResolvedPlace {
            intensity: self.intensity_in(&area, zone)?,
            area,
            zone,
            point,
            how,
        })
    }

    /// A state or country, where an address names no city.
    fn wider(&self, address: &str, none: NoSuchPlace) -> Result<ResolvedPlace, ResolveError> {
        match place::wider(address) {
            Some(Wider::Country(country)) => self.resolve(&PlaceQuery::Country(country)),
            Some(Wider::State { name, largest }) => {
                self.in_city(&largest.clone(), |_| How::State { name, largest })
            }
            None => Err(ResolveError::Address(none)),
        }
    }

    fn in_city(
        &self,
        city: &Place,
        how: impl FnOnce(Found) -> How,
    ) -> Result<ResolvedPlace, ResolveError> {
        if self.own_map.is_some() {
            return self.at(city.point, how);
        }
        let located = Map::embedded().locate_in(city.point, city.country, Some(city.state));
        self.located(located.map_err(ResolveError::NoZoneNear)?, city.point, how)
    }

    /// The area of a point. Near a border, which the map draws roughly, the nearest city decides on which side it is.
    fn near_border(&self, point: Point) -> Result<ResolvedPlace, ResolveError> {
        const BORDER: f64 = 0.1;
        const KM: f64 = 10.0;
        let located = self.map().locate(point).map_err(ResolveError::NoZoneNear)?;
        if self.own_map.is_none()
            && Map::embedded().is_near_border(point, &located.area, BORDER)
            && let Some((city, km)) = place::nearest_to(point)
            && km <= KM
        {
            let sided = Map::embedded().locate_in(point, city.country, Some(city.state));
            if let Ok(sided) = sided
                && sided.area != located.area
            {
                return self.located(sided, point, |_| How::NearCity { city, km });
            }
        }
        self.located(located, point, How::Point)
    }

    fn at(
        &self,
        point: Point,
        how: impl FnOnce(Found) -> How,
    ) -> Result<ResolvedPlace, ResolveError> {
        let located = self.map().locate(point).map_err(ResolveError::NoZoneNear)?;
        self.located(located, point, how)
    }

    fn located(
        &self,
        Located { area, zone, found }: Located,
        point: Point,
        how: impl FnOnce(Found) -> How,
    ) -> Result<ResolvedPlace, ResolveError> {
        self.resolved((area, zone), Some(point), how(found))
    }

    fn cloud(
        &self,
        region: &'static CloudRegion,
        evidence: Option<Evidence>,
    ) -> Result<ResolvedPlace, ResolveError> {
        if self.own_map.is_some() {
            return self.at(region.point, |found| How::Cloud {
                region,
                evidence,
                found: Some(found),
            });
        }
        let zone = register::find(&region.area.zone).ok();
        let how = How::Cloud {
            region,
            evidence,
            found: None,
        };
        self.resolved((region.area.clone(), zone), Some(region.point), how)
    }

    /// The area that a name means: every name is allowed that the user's own map or table may have, and that of a country.
    pub fn area_called(&self, id: &ZoneId) -> Result<AreaId, ResolveError> {
        match self.area_named(id) {
            Ok((area, _)) => Ok(area),
            Err(unknown) => {
                let zone = register::zone_or_country(id).map_err(|_| unknown)?;
                Ok(AreaId::from(zone))
            }
        }
    }

    fn area_named(&self, id: &ZoneId) -> Result<(AreaId, Option<&'static Zone>), ResolveError> {
        let zone = register::find(id).ok();
        let is_own = self.own_map.is_some() || self.own_table.of(id, self.year).is_some();
        if is_own || zone.is_some() {
            return Ok((AreaId::from(id.clone()), zone));
        }
        let area = register::find_area(id).map_err(ResolveError::Zone)?;
        let zone = register::find(&area.zone).ok();
        Ok((area, zone))
    }

    /// Every area of the map that the data set has a figure for.
    pub fn all(&self) -> Result<Vec<ResolvedPlace>, ResolveError> {
        let areas = self.map().areas().iter();
        areas
            .map(|area| self.resolved((area.id.clone(), area.zone()), None, How::Listed))
            .filter(has_figure)
            .collect()
    }

    /// The zones with a figure of their own, cleanest first.
    pub fn ranked(&self) -> Result<Vec<ResolvedPlace>, ResolveError> {
        // Also zones without an area of their own on the embedded map.
        let mut zones: Vec<(ZoneId, Option<&'static Zone>)> = if let Some(map) = &self.own_map {
            let areas = map.areas().iter();
            areas
                .map(|area| (area.id.zone.clone(), area.zone()))
                .collect()
        } else {
            let zones = register::all().iter();
            zones.map(|(id, zone)| (id.clone(), Some(zone))).collect()
        };
        zones.sort_by(|(a, _), (b, _)| a.cmp(b));
        zones.dedup_by(|(a, _), (b, _)| a == b);
        let mut places = Vec::new();
        for (id, zone) in zones {
            let place = self.resolved((AreaId::from(id), zone), None, How::Ranked);
            if !has_figure(&place) {
                continue;
            }
            let place = place?;
            let of_another =
                |fallback: &Fallback| matches!(fallback, Fallback::Wider { .. } | Fallback::World);
            if !place.intensity.provenance.fallbacks.iter().any(of_another) {
                places.push(place);
            }
        }
        places.sort_by(|a, b| a.grams_per_kwh().total_cmp(&b.grams_per_kwh()));
        Ok(places)
    }

    /// The area of a place and this many others, nearest first.
    pub fn around(
        &self,
        place: &ResolvedPlace,
        count: usize,
    ) -> Result<Vec<ResolvedPlace>, ResolveError> {
        let from = place
            .point
            .or_else(|| self.middle_of(&place.area))
            .ok_or_else(|| ResolveError::NotOnMap(place.area.clone()))?;
        let around = self.map().around(from).into_iter();
        around
            .map(|(area, km)| {
                self.resolved(
                    (area.id.clone(), area.zone()),
                    None,
                    How::Distance { km, from },
                )
            })
            .filter(has_figure)
            .take(count.saturating_add(1))
            .collect()
    }

    fn middle_of(&self, area: &AreaId) -> Option<Point> {
        use geo::Centroid as _;
        let mut areas = self.map().areas().iter();
        let known = areas.find(|known| known.id.zone == area.zone)?;
        let middle = known.shape().centroid()?;
        Point::new(middle.y(), middle.x()).ok()
    }
}

/// Whether a place can be listed: a data set of direct figures has none for most.
fn has_figure(place: &Result<ResolvedPlace, ResolveError>) -> bool {
    !matches!(place, Err(ResolveError::Figure(_)))
}
