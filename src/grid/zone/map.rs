//! A map of areas: which area a point lies in.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use geo::{Area as _, MultiPolygon};

use super::cell_index::CellIndex;
use super::index_limit::{IndexLimit, TooFine};
use super::indexed_polygon::IndexedPolygon;
use super::located::{Found, Located, NEAR, NoZoneNear};
use super::{AreaId, Iso3, Point, Zone, edges, register};
use crate::grid::data::shapes;
use crate::grid::data::shapes::Bounds;

/// To build the index of the embedded map takes as long as some hundred searches without it. To place one point takes
/// up to four.
const SEARCHES_WITHOUT_INDEX: usize = 16;

/// The areas of a map, with an index over them.
///
/// The polygons of the embedded map are unpacked when a point comes near them.
#[derive(Debug)]
pub struct Map {
    areas: Vec<MapArea>,
    parts: Vec<Part>,
    cells: OnceLock<CellIndex>,
    searches: AtomicUsize,
}

/// An area with its polygons.
#[derive(Debug)]
pub struct MapArea {
    /// The name of the area.
    pub id: AreaId,
    /// In square degrees; of several areas that contain a point, the smallest is taken.
    size: f64,
    packed: Vec<shapes::Part>,
    shape: OnceLock<MultiPolygon<f64>>,
}

/// One polygon of an area.
#[derive(Debug)]
struct Part {
    /// The place of its area in the map.
    area: usize,
    /// Its place in the area.
    number: usize,
    bounds: Bounds,
    indexed: OnceLock<IndexedPolygon>,
}

impl MapArea {
    /// An area of a map of the user's own.
    #[must_use]
    pub fn new(id: AreaId, shape: MultiPolygon<f64>) -> Self {
        Self {
            id,
            size: shape.unsigned_area(),
            packed: Vec::new(),
            shape: OnceLock::from(shape),
        }
    }

    /// An area of the embedded map.
    fn embedded(area: shapes::Area) -> Self {
        let id: AreaId = area
            .name
            .parse()
            .expect("areas in the embedded map are well named");
        Self {
            id,
            size: f64::from(area.size),
            packed: area.parts,
            shape: OnceLock::new(),
        }
    }

    /// The zone of the area; none if only a map of the user's own has it.
    #[must_use]
    pub fn zone(&self) -> Option<&'static Zone> {
        register::find_known(&self.id.zone)
    }

    /// The polygons of the area.
    pub fn shape(&self) -> &MultiPolygon<f64> {
        self.shape
            .get_or_init(|| self.packed.iter().map(shapes::Part::polygon).collect())
    }

    fn lies_in(&self, country: Iso3, state: Option<&str>) -> bool {
        let is_there = self
            .zone()
            .is_some_and(|zone| zone.country == Some(country));
        let is_state = |state: &str| self.id.state.as_deref().is_none_or(|own| own == state);
        is_there && state.is_none_or(is_state)
    }

    /// Whether only points inside its polygons are counted to it. The gazetteer has the north of Cyprus in Cyprus,
    /// so a city beside the line belongs to the rest.
    fn is_exact(&self) -> bool {
        self.id.zone.as_str() == "XX"
    }
}

impl Map {
    /// The map inside the binary.
    pub fn embedded() -> &'static Self {
        static MAP: OnceLock<Map> = OnceLock::new();
        MAP.get_or_init(Self::open_embedded)
    }

    fn open_embedded() -> Self {
        let areas: Vec<MapArea> = shapes::areas().into_iter().map(MapArea::embedded).collect();
        let parts = areas.iter().enumerate().flat_map(|(n, area)| {
            let bounds = area.packed.iter().map(|part| part.bounds).enumerate();
            bounds.map(move |(number, bounds)| Part {
                area: n,
                number,
                bounds,
                indexed: OnceLock::new(),
            })
        });
        let parts = parts.collect();
        Self {
            areas,
            parts,
            cells: OnceLock::new(),
            searches: AtomicUsize::new(0),
        }
    }

    /// A map of these areas.
    pub fn new(areas: Vec<MapArea>) -> Result<Self, TooFine> {
        let mut limit = IndexLimit::new();
        let mut parts = Vec::new();
        for (n, area) in areas.iter().enumerate() {
            for (number, polygon) in area.shape().iter().enumerate() {
                parts.extend(
                    IndexedPolygon::new(polygon, &mut limit)?.map(|indexed| Part {
                        area: n,
                        number,
                        bounds: indexed.bounds,
                        indexed: OnceLock::from(indexed),
                    }),
                );
            }
        }
        let cells = cells_of(&parts)?;
        Ok(Self {
            areas,
            parts,
            cells: OnceLock::from(cells),
            searches: AtomicUsize::new(0),
        })
    }

    /// The areas in the order of the file they came from.
    #[must_use]
    pub fn areas(&self) -> &[MapArea] {
        &self.areas
    }

    /// The smallest area that contains the point, else the nearest within [`NEAR`].
    pub fn locate(&self, point: Point) -> Result<Located, NoZoneNear> {
        self.find(point)
            .map(|found| self.located(found))
            .ok_or(NoZoneNear(point))
    }

    /// As [`Map::locate`], for a place whose country is known, and its state in the United States: borders are
    /// drawn roughly, so an area of that country and state is preferred.
    pub fn locate_in(
        &self,
        point: Point,
        country: Iso3,
        state: Option<&str>,
    ) -> Result<Located, NoZoneNear> {
        let state = state.filter(|_| country.as_str() == "USA");
        let anywhere = self.find(point);
        let is_right = |(area, found): &(usize, Found)| {
            let area = &self.areas[*area];
            area.lies_in(country, state) && (*found == Found::Inside || !area.is_exact())
        };
        if let Some(found) = anywhere.filter(is_right) {
            return Ok(self.located(found));
        }
        let near = |state: Option<&str>| {
            self.find_among(point, |area| {
                area.lies_in(country, state) && !area.is_exact()
            })
        };
        if let Some((area, found)) = near(state).or_else(|| near(None)) {
            let found = match (anywhere, found) {
                (Some((_, Found::Inside)), Found::Nearest { degrees }) => Found::Border { degrees },
                _ => found,
            };
            return Ok(self.located((area, found)));
        }
        let zone = register::of_country(country).ok_or(NoZoneNear(point))?;
        Ok(Located {
            area: AreaId::from(zone.id.clone()),
            zone: Some(zone),
            found: Found::Country,
        })
    }

    fn located(&self, (area, found): (usize, Found)) -> Located {
        let area = &self.areas[area];
        Located {
            area: area.id.clone(),
            zone: area.zone(),
            found,
        }
    }

    /// The place of the area in [`Map::areas`], without copying its name.
    #[must_use]
    pub fn find(&self, point: Point) -> Option<(usize, Found)> {
        self.find_among(point, |_| true)
    }

    /// Whether an area of another country or state lies within `margin` degrees of a point in this one.
    pub(in crate::grid) fn is_near_border(
        &self,
        point: Point,
        inside: &AreaId,
        margin: f64,
    ) -> bool {
        let at = edges::coord(point);
        let side = |area: &AreaId| (area.zone.country_prefix().to_owned(), area.state.clone());
        let own = side(inside);
        self.parts_around(point).any(|part| {
            part.bounds.contain(at.x, at.y, margin)
                && side(&self.areas[part.area].id) != own
                && self
                    .polygon(part)
                    .distance(at)
                    .is_some_and(|degrees| degrees <= margin)
        })
    }

    fn find_among(
        &self,
        point: Point,
        allowed: impl Fn(&MapArea) -> bool,
    ) -> Option<(usize, Found)> {
        let at = edges::coord(point);
        let parts = self.parts_around(point).filter(|part| {
            part.bounds.contain(at.x, at.y, NEAR) && allowed(&self.areas[part.area])
        });
        let containing = parts
            .clone()
            .filter(|part| part.bounds.contain(at.x, at.y, 0.0) && self.polygon(part).contains(at))
            .map(|part| part.area)
            .min_by(|a, b| self.areas[*a].size.total_cmp(&self.areas[*b].size));
        let nearest = || {
            parts
                .filter_map(|part| Some((part.area, self.polygon(part).distance(at)?)))
                .min_by(|(_, a), (_, b)| a.total_cmp(b))
                .map(|(area, degrees)| (area, Found::Nearest { degrees }))
        };
        containing
            .map(|area| (area, Found::Inside))
            .or_else(nearest)
    }

    /// The parts that may lie near a point, and others.
    fn parts_around(&self, point: Point) -> impl Iterator<Item = &Part> + Clone {
        let is_early = || self.searches.fetch_add(1, Ordering::Relaxed) < SEARCHES_WITHOUT_INDEX;
        let (listed, all) = if self.cells.get().is_none() && is_early() {
            (&[][..], self.parts.as_slice())
        } else {
            let build = || cells_of(&self.parts).expect("the embedded map is coarse");
            (self.cells.get_or_init(build).parts_at(point), &[][..])
        };
        listed.iter().map(|n| &self.parts[*n as usize]).chain(all)
    }

    fn polygon<'a>(&'a self, part: &'a Part) -> &'a IndexedPolygon {
        part.indexed.get_or_init(|| {
            let polygon = self.areas[part.area].packed[part.number].polygon();
            IndexedPolygon::new(&polygon, &mut IndexLimit::new())
                .ok()
                .flatten()
                .expect("the embedded polygons are coarse and not empty")
        })
    }

    /// The areas around a point with their distance in kilometres, nearest first.
    #[must_use]
    pub fn around(&self, point: Point) -> Vec<(&MapArea, f64)> {
        let inside = self.find(point).map(|(area, _)| area);
        let mut distances: Vec<(&MapArea, f64)> = self
            .areas
            .iter()
            .enumerate()
            .map(|(n, area)| {
                let corners = area
                    .shape()
                    .iter()
                    .flat_map(|part| part.exterior().coords());
                let away = corners
                    .filter_map(|corner| Point::new(corner.y, corner.x).ok())
                    .map(|corner| point.distance_km(corner))
                    .fold(f64::INFINITY, f64::min);
                (area, if Some(n) == inside { 0.0 } else { away })
            })
            .collect();
        distances.sort_by(|(_, a), (_, b)| a.total_cmp(b));
        distances
    }
}

fn cells_of(parts: &[Part]) -> Result<CellIndex, TooFine> {
    let boxes = parts.iter().map(|part| part.bounds);
    CellIndex::over(&boxes, &mut IndexLimit::new())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::edges::Edge;
    use super::*;

    fn at(lat: f64, lon: f64) -> Point {
        Point::new(lat, lon).unwrap()
    }

    fn locate(point: Point) -> Result<Located, NoZoneNear> {
        Map::embedded().locate(point)
    }

    /// What [`Map::find`] answers, by comparing the point with every edge of every area.
    fn without_index(point: Point) -> Option<(usize, Found)> {
        let at = edges::coord(point);
        let areas = Map::embedded().areas().iter().enumerate();
        let parts = areas.flat_map(|(n, area)| area.shape().0.iter().map(move |part| (n, part)));
        let size = |area: &usize| Map::embedded().areas()[*area].size;
        let containing = parts
            .clone()
            .filter(|(_, part)| edges::contain(Edge::of(part), at))
            .min_by(|(a, _), (b, _)| size(a).total_cmp(&size(b)))
            .map(|(area, _)| (area, Found::Inside));
        containing.or_else(|| {
            parts
                .map(|(area, part)| (area, edges::distance(Edge::of(part), at)))
                .filter(|(_, degrees)| *degrees <= NEAR)
                .min_by(|(_, a), (_, b)| a.total_cmp(b))
                .map(|(area, degrees)| (area, Found::Nearest { degrees }))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_index_changes_no_answer(lat in -90.0..=90.0, lon in -180.0..=180.0) {
            let point = at(lat, lon);
            prop_assert_eq!(Map::embedded().find(point), without_index(point));
        }

        #[test]
        fn nor_near_coasts_and_borders(lat in 35.0..60.0, lon in -10.0..30.0) {
            let point = at(lat, lon);
            prop_assert_eq!(Map::embedded().find(point), without_index(point));
        }
    }

    #[test]
    fn france_has_its_neighbours_around_it() {
        let around = Map::embedded().around(at(48.857, 2.352));
        assert_eq!(
            (around[0].0.id.to_string().as_str(), around[0].1),
            ("FR", 0.0)
        );
        assert!(
            around[1..6]
                .iter()
                .any(|(area, _)| area.id.to_string() == "BE")
        );
    }

    #[test]
    fn stanford_lies_in_california() {
        let found = locate(at(37.4275, -122.1697)).unwrap();
        assert_eq!(
            (found.area.zone.as_str(), found.found),
            ("US-CA", Found::Inside)
        );
    }

    #[test]
    fn a_point_off_the_coast_takes_the_zone_beside_it() {
        for (lat, lon, zone) in [
            (25.774, -80.1, "US-FL"),
            (42.331, -83.046, "US-MISO"),
            (6.43, 3.40, "NG"),
        ] {
            let found = locate(at(lat, lon)).unwrap();
            assert_eq!(found.area.zone.as_str(), zone);
            assert!(matches!(found.found, Found::Nearest { .. }), "{zone}");
        }
    }

    #[test]
    fn the_map_is_as_fine_as_the_yearly_table() {
        for (lat, lon, area) in [
            (31.759, -106.485, "US-SW-EPE:TX"),
            (30.267, -97.743, "US-TX:TX"),
            (55.705, 13.191, "SE-SE4"),
            (59.329, 18.069, "SE-SE3"),
            (63.826, 20.263, "SE-SE2"),
            (14.600, 120.984, "PH-LU"),
            (10.317, 123.891, "PH-VI"),
            (7.073, 125.613, "PH-MI"),
            (35.889, -5.321, "ES-CE"),
            (35.292, -2.938, "ES-ML"),
            (-2.530, -44.303, "BR-N"),
        ] {
            assert_eq!(locate(at(lat, lon)).unwrap().area.to_string(), area);
        }
    }

    #[test]
    fn the_first_look_ups_build_no_index_and_give_the_same_answers() {
        let new = Map::open_embedded();
        let points = [
            (52.52, 13.4),
            (37.4, -122.1),
            (50.77, 6.08),
            (25.76, -80.19),
            (0.0, -30.0),
        ];
        let find_all = || points.map(|(lat, lon)| new.find(at(lat, lon)));
        let first = find_all();
        assert!(new.cells.get().is_none());
        for _ in 0..SEARCHES_WITHOUT_INDEX {
            assert_eq!(first, find_all());
        }
        assert!(new.cells.get().is_some());
    }

    #[test]
    fn the_ocean_has_no_zone() {
        assert_eq!(locate(at(0.0, -30.0)), Err(NoZoneNear(at(0.0, -30.0))));
    }

    #[test]
    fn a_city_on_the_wrong_side_of_a_rough_border_keeps_its_country() {
        let locate_in =
            |point, country: Iso3| Map::embedded().locate_in(point, country, None).unwrap();
        let aachen = at(50.776, 6.084);
        assert_eq!(locate(aachen).unwrap().area.zone.as_str(), "BE");
        let found = locate_in(aachen, "DEU".parse().unwrap());
        assert_eq!(found.area.zone.as_str(), "DE");
        let jerusalem = locate_in(at(31.769, 35.216), "ISR".parse().unwrap());
        assert!(matches!(jerusalem.found, Found::Border { .. }));
        let pristina = locate_in(at(42.673, 21.167), Iso3::from_iso2("XK").unwrap());
        assert_eq!(
            (pristina.area.zone.as_str(), pristina.found),
            ("XK", Found::Country)
        );
    }
}
