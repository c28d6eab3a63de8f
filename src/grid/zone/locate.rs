//! From a point to the area it lies in, opening no more polygons than needed.

use std::sync::OnceLock;

use super::edges::Edge;
use super::{AreaId, Iso3, Point, edges, register};
use crate::grid::data::shapes;
use crate::grid::data::shapes::Area;

/// How far beside a zone, in degrees, a point may lie and still be taken to be in it: coasts and rivers are drawn roughly.
pub const NEAR: f64 = 0.25;

/// An area, and how it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Located {
    pub area: AreaId,
    pub found: Found,
}

/// What links a point to an area.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Found {
    /// The point lies in the area's polygon.
    Inside,
    /// The point lies in no polygon; this one is the nearest, so many degrees away.
    Nearest { degrees: f64 },
    /// The map puts the point across a border; this is the nearest zone of its own country, so many degrees away.
    Border { degrees: f64 },
    /// The place's country has no polygon there; the area is the whole country.
    Country,
}

/// A point far from any zone.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("there is no electricity zone within {NEAR} degrees of {0}")]
pub struct Nowhere(pub Point);

/// The smallest area that contains the point, else the nearest within [`NEAR`].
pub fn locate(point: Point) -> Result<Located, Nowhere> {
    among(point, &shipped().iter()).ok_or(Nowhere(point))
}

/// As [`locate`], for a place whose country is known: borders are drawn roughly, so a zone of that country wins.
pub fn locate_in(point: Point, country: Iso3) -> Result<Located, Nowhere> {
    let anywhere = locate(point);
    if anywhere.as_ref().is_ok_and(|at| lies_in(&at.area, country)) {
        return anywhere;
    }
    let at_home = shipped()
        .iter()
        .filter(|area| area.name.parse().is_ok_and(|id| lies_in(&id, country)));
    among(point, &at_home)
        .map(|at_home| match (&anywhere, at_home.found) {
            (Ok(abroad), Found::Nearest { degrees }) if abroad.found == Found::Inside => Located {
                found: Found::Border { degrees },
                ..at_home
            },
            _ => at_home,
        })
        .or_else(|| {
            register::of_country(country).map(|zone| Located {
                area: AreaId::from(zone.id.clone()),
                found: Found::Country,
            })
        })
        .ok_or(Nowhere(point))
}

fn lies_in(area: &AreaId, country: Iso3) -> bool {
    register::find(&area.zone).is_ok_and(|zone| zone.country == Some(country))
}

fn shipped() -> &'static [Area] {
    static AREAS: OnceLock<Vec<Area>> = OnceLock::new();
    AREAS.get_or_init(shapes::areas)
}

fn among<'a>(point: Point, areas: &(impl Iterator<Item = &'a Area> + Clone)) -> Option<Located> {
    let at = edges::coord(point);
    let parts = |margin| {
        areas.clone().flat_map(move |area| {
            area.parts
                .iter()
                .filter(move |part| part.bounds.holds(at.x, at.y, margin))
                .map(move |part| (area, part))
        })
    };
    let containing = parts(0.0)
        .filter(|(_, part)| edges::hold(Edge::of(&part.polygon()), at))
        .min_by(|(a, _), (b, _)| a.size.total_cmp(&b.size))
        .map(|(area, _)| (area, Found::Inside));
    let nearest = || {
        parts(NEAR)
            .map(|(area, part)| (area, edges::distance(Edge::of(&part.polygon()), at)))
            .filter(|(_, degrees)| *degrees <= NEAR)
            .min_by(|(_, a), (_, b)| a.total_cmp(b))
            .map(|(area, degrees)| (area, Found::Nearest { degrees }))
    };
    containing.or_else(nearest).map(|(area, found)| Located {
        area: area
            .name
            .parse()
            .expect("areas in the shipped map are well named"),
        found,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(lat: f64, lon: f64) -> Point {
        Point::new(lat, lon).unwrap()
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
    fn the_ocean_has_no_zone() {
        assert_eq!(locate(at(0.0, -30.0)), Err(Nowhere(at(0.0, -30.0))));
    }

    #[test]
    fn a_city_on_the_wrong_side_of_a_rough_border_keeps_its_country() {
        let aachen = at(50.776, 6.084);
        assert_eq!(locate(aachen).unwrap().area.zone.as_str(), "BE");
        let found = locate_in(aachen, "DEU".parse().unwrap()).unwrap();
        assert_eq!(found.area.zone.as_str(), "DE");
        let jerusalem = locate_in(at(31.769, 35.216), "ISR".parse().unwrap()).unwrap();
        assert!(matches!(jerusalem.found, Found::Border { .. }));
        let pristina = locate_in(at(42.673, 21.167), Iso3::from_iso2("XK").unwrap()).unwrap();
        assert_eq!(
            (pristina.area.zone.as_str(), pristina.found),
            ("XK", Found::Country)
        );
    }
}
