//! From a place to its zone and carbon intensity.

use std::path::{Path, PathBuf};

use super::intensity::user_table::{BadTable, UserTable};
use super::intensity::{Dataset, Fallback, Intensity, for_area_in};
#[cfg(feature = "live")]
use super::intensity::{
    Declined,
    live::{ServiceClient, geolocate},
};
use super::resolved_place::{How, ResolvedPlace};
use super::user_file::{UnreadableFile, read_text};
use super::zone::cloud::{CloudRegion, NoSuchRegion};
use super::zone::detect::{Roots, detect};
use super::zone::geojson::BadMap;
use super::zone::place::NoSuchPlace;
use super::zone::register::{self, NoSuchZone};
use super::zone::{
    AreaId, Iso3, Located, Map, NotOnEarth, Nowhere, Point, Zone, ZoneId, cloud, geojson, place,
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
    /// The cloud region that this machine's own files name; no network is used.
    ThisMachine(Roots),
}

/// Resolves places to zones and their carbon intensity, by the embedded tables or by the user's own.
#[derive(Debug, Default)]
pub struct PlaceResolver {
    own_map: Option<Map>,
    own_table: UserTable,
    year: Option<i32>,
    dataset: Dataset,
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
    /// The country is no zone of the map.
    #[error("{0} is no zone of the map")]
    Country(Iso3),
    /// No city fits the address.
    #[error(transparent)]
    Address(NoSuchPlace),
    /// The point is far from any zone.
    #[error(transparent)]
    Nowhere(Nowhere),
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
        /// The file that names the provider.
        evidence: PathBuf,
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
            PlaceQuery::Zone(id) => self.resolved(self.area_named(id)?, None, How::Zone),
            PlaceQuery::Country(country) => {
                let zone = register::of_country(*country);
                let zone = zone.ok_or(ResolveError::Country(*country))?;
                let area = AreaId::from(zone.id.clone());
                self.resolved((area, Some(zone)), None, How::Country(*country))
            }
            PlaceQuery::Address(address) => {
                let candidates = place::find(address).map_err(ResolveError::Address)?;
                let (point, country) = (candidates[0].point, candidates[0].country);
                self.at(point, Some(country), |found| How::Address {
                    candidates,
                    found,
                })
            }
            PlaceQuery::Point(point) => self.at(*point, None, How::Point),
            PlaceQuery::Cloud(text) => {
                self.cloud(cloud::find(text).map_err(ResolveError::Cloud)?, None)
            }
            PlaceQuery::ThisMachine(roots) => {
                let machine = detect(roots).ok_or(ResolveError::NoCloud)?;
                match machine.region {
                    Some(region) => self.cloud(region, Some(machine.evidence)),
                    None => Err(ResolveError::NoCloudRegion {
                        provider: machine.provider,
                        evidence: machine.evidence,
                    }),
                }
            }
        }
    }

    /// Where a geolocation service says this machine's network address is.
    #[cfg(feature = "live")]
    pub fn network_address(&self, client: &ServiceClient) -> Result<ResolvedPlace, ResolveError> {
        let failed = ResolveError::Geolocation;
        let place = geolocate(client).map_err(|why| failed(GeolocationError::Declined(why)))?;
        let point = Point::new(place.lat, place.lon).map_err(|why| failed(why.into()))?;
        self.at(point, None, |found| How::NetworkAddress {
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
            return Ok(own);
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
        ))
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

    fn at(
        &self,
        point: Point,
        country: Option<Iso3>,
        how: impl FnOnce(super::zone::Found) -> How,
    ) -> Result<ResolvedPlace, ResolveError> {
        let located = match (&self.own_map, country) {
            (Some(map), _) => map.locate(point),
            (None, Some(country)) => Map::embedded().locate_in(point, country),
            (None, None) => Map::embedded().locate(point),
        };
        let Located { area, zone, found } = located.map_err(ResolveError::Nowhere)?;
        self.resolved((area, zone), Some(point), how(found))
    }

    fn cloud(
        &self,
        region: &'static CloudRegion,
        evidence: Option<PathBuf>,
    ) -> Result<ResolvedPlace, ResolveError> {
        if self.own_map.is_some() {
            return self.at(region.point, None, |found| How::Cloud {
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

    /// The area that a name means: every name is allowed that the user's own map or table may have.
    pub fn area_called(&self, id: &ZoneId) -> Result<AreaId, ResolveError> {
        Ok(self.area_named(id)?.0)
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

    /// Every area of the map.
    pub fn all(&self) -> Result<Vec<ResolvedPlace>, ResolveError> {
        let areas = self.map().areas().iter();
        areas
            .map(|area| self.resolved((area.id.clone(), area.zone()), None, How::Listed))
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
            let place = self.resolved((AreaId::from(id), zone), None, How::Ranked)?;
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
            .take(count.saturating_add(1))
            .map(|(area, km)| {
                self.resolved(
                    (area.id.clone(), area.zone()),
                    None,
                    How::Distance { km, from },
                )
            })
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
