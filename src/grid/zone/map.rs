//! A whole map in memory, for many lookups, for drawing, and for maps of the user's own.

use std::sync::OnceLock;

use geo::{Area as _, MultiPolygon};

use super::cell_index::CellIndex;
use super::index_limit::{IndexLimit, TooFine};
use super::indexed_polygon::IndexedPolygon;
use super::locate::{Found, Located, Nowhere};
use super::{AreaId, Point, edges};
use crate::grid::data::shapes;

/// The areas of a map, with an index over them.
#[derive(Debug, Clone)]
pub struct Map {
    areas: Vec<MapArea>,
    parts: Vec<(usize, IndexedPolygon)>,
    cells: CellIndex,
}

/// An area with its polygons.
#[derive(Debug, Clone)]
pub struct MapArea {
    pub id: AreaId,
    pub shape: MultiPolygon<f64>,
    /// In square degrees; the smallest area that holds a point wins.
    size: f64,
}

impl MapArea {
    /// An area of the user's own map.
    #[must_use]
    pub fn new(id: AreaId, shape: MultiPolygon<f64>) -> Self {
        let size = shape.unsigned_area();
        Self { id, shape, size }
    }
}

impl Map {
    /// The map inside the binary.
    pub fn shipped() -> &'static Self {
        static MAP: OnceLock<Map> = OnceLock::new();
        MAP.get_or_init(|| {
            let areas = shapes::areas().into_iter().map(|area| MapArea {
                id: area
                    .name
                    .parse()
                    .expect("areas in the shipped map are well named"),
                shape: area.parts.iter().map(shapes::Part::polygon).collect(),
                size: f64::from(area.size),
            });
            Self::new(areas.collect()).expect("the shipped map is coarse")
        })
    }

    /// A map of these areas.
    pub fn new(areas: Vec<MapArea>) -> Result<Self, TooFine> {
        let mut limit = IndexLimit::new();
        let mut parts: Vec<(usize, IndexedPolygon)> = Vec::new();
        for (n, area) in areas.iter().enumerate() {
            for part in &area.shape {
                parts.extend(IndexedPolygon::new(part, &mut limit)?.map(|polygon| (n, polygon)));
            }
        }
        let cells = CellIndex::over(
            &parts.iter().map(|(_, polygon)| polygon),
            &mut IndexLimit::new(),
        )?;
        Ok(Self {
            areas,
            parts,
            cells,
        })
    }

    /// The areas in the order of the file they came from.
    #[must_use]
    pub fn areas(&self) -> &[MapArea] {
        &self.areas
    }

    /// As [`crate::grid::zone::locate()`], faster for many points.
    pub fn locate(&self, point: Point) -> Result<Located, Nowhere> {
        let (area, found) = self.find(point).ok_or(Nowhere(point))?;
        Ok(Located {
            area: self.areas[area].id.clone(),
            found,
        })
    }

    /// The place of the area in [`Map::areas`], without copying its name.
    #[must_use]
    pub fn find(&self, point: Point) -> Option<(usize, Found)> {
        let at = edges::coord(point);
        let parts = self
            .cells
            .parts_at(point)
            .iter()
            .map(|n| &self.parts[*n as usize]);
        let containing = parts
            .clone()
            .filter(|(_, part)| part.hold(at))
            .min_by(|(a, _), (b, _)| self.areas[*a].size.total_cmp(&self.areas[*b].size))
            .map(|(area, _)| (*area, Found::Inside));
        containing.or_else(|| {
            parts
                .filter_map(|(area, part)| Some((*area, part.near(at)?)))
                .min_by(|(_, a), (_, b)| a.total_cmp(b))
                .map(|(area, degrees)| (area, Found::Nearest { degrees }))
        })
    }

    /// The areas around a point with their distance in kilometres, nearest first.
    #[must_use]
    pub fn around(&self, point: Point) -> Vec<(&AreaId, f64)> {
        let inside = self.find(point).map(|(area, _)| area);
        let mut distances: Vec<(&AreaId, f64)> = self
            .areas
            .iter()
            .enumerate()
            .map(|(n, area)| {
                let corners = area.shape.iter().flat_map(|part| part.exterior().coords());
                let away = corners
                    .filter_map(|corner| Point::new(corner.y, corner.x).ok())
                    .map(|corner| point.distance_km(corner))
                    .fold(f64::INFINITY, f64::min);
                (&area.id, if Some(n) == inside { 0.0 } else { away })
            })
            .collect();
        distances.sort_by(|(_, a), (_, b)| a.total_cmp(b));
        distances
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::grid::zone::locate;

    proptest! {
        #[test]
        fn the_index_changes_no_answer(lat in -90.0..=90.0, lon in -180.0..=180.0) {
            let point = Point::new(lat, lon).unwrap();
            prop_assert_eq!(Map::shipped().locate(point), locate(point));
        }

        #[test]
        fn nor_near_coasts_and_borders(lat in 35.0..60.0, lon in -10.0..30.0) {
            let point = Point::new(lat, lon).unwrap();
            prop_assert_eq!(Map::shipped().locate(point), locate(point));
        }
    }

    #[test]
    fn france_has_its_neighbours_around_it() {
        let paris = Point::new(48.857, 2.352).unwrap();
        let around = Map::shipped().around(paris);
        assert_eq!((around[0].0.to_string().as_str(), around[0].1), ("FR", 0.0));
        assert!(
            around[1..6]
                .iter()
                .any(|(area, _)| area.to_string() == "BE")
        );
    }
}
