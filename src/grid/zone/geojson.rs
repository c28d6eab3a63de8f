//! Maps as GeoJSON: the user's own read in, the shipped one written out.

use std::collections::BTreeMap;

use geo::{Coord, LineString, MultiPolygon, Polygon};
use geojson::{Feature, FeatureCollection, GeoJson, Geometry, GeometryValue, JsonObject, Position};

use super::map::{Map, MapArea};
use super::{AreaId, NotAZone, TooFine};

/// GeoJSON that is not a map of zones.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BadMap {
    /// The text is not GeoJSON.
    #[error("it is not GeoJSON")]
    Syntax(#[from] Box<geojson::Error>),
    /// The text is not a collection of features.
    #[error("it is not a FeatureCollection")]
    NotACollection,
    /// No feature is a polygon.
    #[error("none of its features is a polygon")]
    Empty,
    /// A feature has no zone name.
    #[error("feature {feature} has no zone name: expected a property `zone`, `zoneName` or `id`")]
    Nameless {
        /// The number of the feature, from 0.
        feature: usize,
    },
    /// A feature has an unusable zone name.
    #[error("feature {feature} has an unusable zone name")]
    Name {
        /// The number of the feature, from 0.
        feature: usize,
        /// What is wrong with the name.
        source: NotAZone,
    },
    /// A corner of a polygon is no place on Earth.
    #[error("feature {feature} has a corner that is not a longitude and a latitude in degrees")]
    Corner {
        /// The number of the feature, from 0.
        feature: usize,
    },
    /// The polygons are too detailed for the index.
    #[error(transparent)]
    TooFine(#[from] TooFine),
}

/// Reads a map of zones; features that are not polygons are passed over, those of one zone are merged.
pub fn read(text: &str) -> Result<Map, BadMap> {
    let parsed: GeoJson = text.parse().map_err(Box::new)?;
    let GeoJson::FeatureCollection(collection) = parsed else {
        return Err(BadMap::NotACollection);
    };
    let mut shapes: Vec<(AreaId, Vec<Polygon<f64>>)> = Vec::new();
    let mut places: BTreeMap<AreaId, usize> = BTreeMap::new();
    for (number, feature) in collection.features.into_iter().enumerate() {
        let Some(polygons) = feature
            .geometry
            .as_ref()
            .and_then(|geometry| polygons(&geometry.value))
        else {
            continue;
        };
        let polygons: Option<Vec<_>> = polygons.into_iter().map(polygon).collect();
        let polygons = polygons.ok_or(BadMap::Corner { feature: number })?;
        let name = name(&feature).ok_or(BadMap::Nameless { feature: number })?;
        let id: AreaId = name.parse().map_err(|source| BadMap::Name {
            feature: number,
            source,
        })?;
        let place = *places.entry(id).or_insert_with_key(|id| {
            shapes.push((id.clone(), Vec::new()));
            shapes.len() - 1
        });
        shapes[place].1.extend(polygons);
    }
    if shapes.is_empty() {
        return Err(BadMap::Empty);
    }
    let areas = shapes
        .into_iter()
        .map(|(id, parts)| MapArea::new(id, MultiPolygon::new(parts)));
    Ok(Map::new(areas.collect())?)
}

fn name(feature: &Feature) -> Option<String> {
    let stated = ["zone", "zoneName", "id"]
        .iter()
        .find_map(|key| feature.property(key).and_then(|value| value.as_str()));
    match (stated, &feature.id) {
        (Some(name), _) => Some(name.to_owned()),
        (None, Some(geojson::feature::Id::String(name))) => Some(name.clone()),
        _ => None,
    }
}

fn polygons(value: &GeometryValue) -> Option<Vec<&[Vec<Position>]>> {
    match value {
        GeometryValue::Polygon { coordinates } => Some(vec![coordinates.as_slice()]),
        GeometryValue::MultiPolygon { coordinates } => {
            Some(coordinates.iter().map(Vec::as_slice).collect())
        }
        _ => None,
    }
}

fn polygon(rings: &[Vec<Position>]) -> Option<Polygon<f64>> {
    let mut rings = rings
        .iter()
        .map(|ring| ring.iter().map(corner).collect::<Option<LineString<f64>>>());
    let outline = rings.next()??;
    Some(Polygon::new(outline, rings.collect::<Option<_>>()?))
}

fn corner(position: &Position) -> Option<Coord<f64>> {
    match *position.as_slice() {
        [x, y, ..] if x.abs() <= 180.0 && y.abs() <= 90.0 => Some(Coord { x, y }),
        _ => None,
    }
}

/// An area as a feature with these properties.
#[must_use]
pub fn feature(area: &MapArea, properties: JsonObject) -> Feature {
    Feature {
        geometry: Some(Geometry::new(GeometryValue::from(area.shape()))),
        properties: Some(properties),
        ..Feature::default()
    }
}

/// Features as one document.
#[must_use]
pub fn collection(features: Vec<Feature>) -> String {
    GeoJson::from(FeatureCollection {
        bbox: None,
        features,
        foreign_members: None,
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::grid::zone::Point;

    const TWO: &str = r#"{"type":"FeatureCollection","features":[
        {"type":"Feature","properties":{"zone":"BIG"},"geometry":{"type":"Polygon","coordinates":[[[0,0],[9,0],[9,9],[0,9],[0,0]]]}},
        {"type":"Feature","properties":{"zoneName":"SMALL"},"geometry":{"type":"Polygon","coordinates":[[[1,1],[2,1],[2,2],[1,2],[1,1]]]}},
        {"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":[1,1]}}]}"#;

    fn zone(map: &Map, lat: f64, lon: f64) -> Option<String> {
        map.locate(Point::new(lat, lon).unwrap())
            .ok()
            .map(|at| at.area.to_string())
    }

    #[test]
    fn the_smallest_polygon_wins() {
        let map = read(TWO).unwrap();
        assert_eq!(zone(&map, 1.5, 1.5).as_deref(), Some("SMALL"));
        assert_eq!(zone(&map, 5.0, 5.0).as_deref(), Some("BIG"));
        assert_eq!(zone(&map, 9.1, 5.0).as_deref(), Some("BIG"));
        assert_eq!(zone(&map, 20.0, 5.0), None);
    }

    #[test]
    fn what_is_written_reads_back() {
        let map = read(TWO).unwrap();
        let properties = |area: &MapArea| {
            let mut object = JsonObject::new();
            object.insert("zone".into(), area.id.to_string().into());
            object
        };
        let written = collection(
            map.areas()
                .iter()
                .map(|area| feature(area, properties(area)))
                .collect(),
        );
        assert_eq!(read(&written).unwrap().areas().len(), 2);
    }

    #[test]
    fn features_of_one_zone_are_one_area_where_the_first_of_them_stands() {
        let square = |zone: &str, west: u32| {
            format!(
                r#"{{"type":"Feature","properties":{{"zone":"{zone}"}},"geometry":{{"type":"Polygon","coordinates":[[[{west},0],[{west},1],[9,1],[{west},0]]]}}}}"#
            )
        };
        let features = [square("B1", 1), square("A1", 2), square("B1", 3)].join(",");
        let text = format!(r#"{{"type":"FeatureCollection","features":[{features}]}}"#);
        let map = read(&text).unwrap();
        let areas: Vec<_> = map
            .areas()
            .iter()
            .map(|area| (area.id.to_string(), area.shape().0.len()))
            .collect();
        assert_eq!(areas, [("B1".to_owned(), 2), ("A1".to_owned(), 1)]);
    }

    #[test]
    fn a_map_of_long_sides_or_many_worlds_is_too_fine() {
        let map = |polygons: &[String]| {
            let text = format!(
                r#"{{"type":"FeatureCollection","features":[{{"type":"Feature","properties":{{"zone":"A1"}},"geometry":{{"type":"MultiPolygon","coordinates":[{}]}}}}]}}"#,
                polygons.join(",")
            );
            read(&text).map(drop)
        };
        let zigzag = |sides: usize| {
            let corners: Vec<String> = (0..sides)
                .map(|n| format!("[{},{}]", n % 7, if n % 2 == 0 { -90 } else { 90 }))
                .collect();
            format!("[[{}]]", corners.join(","))
        };
        let world = "[[[-180,-90],[180,-90],[180,90],[-180,90],[-180,-90]]]".to_owned();
        assert!(map(&[zigzag(1000), world.clone()]).is_ok());
        assert!(matches!(map(&[zigzag(24_000)]), Err(BadMap::TooFine(_))));
        assert!(matches!(map(&vec![world; 260]), Err(BadMap::TooFine(_))));
    }

    #[test]
    fn a_broken_map_says_what_is_wrong_with_it() {
        let with =
            |feature: &str| format!(r#"{{"type":"FeatureCollection","features":[{feature}]}}"#);
        let square = |corner: &str| {
            format!(
                r#"{{"type":"Feature","properties":{{"zone":"A1"}},"geometry":{{"type":"Polygon","coordinates":[[{corner}]]}}}}"#
            )
        };
        for (text, expected) in [
            ("<html>".to_owned(), "it is not GeoJSON"),
            (with(""), "none of its features is a polygon"),
            (
                with(&square("[0,0],[1]")),
                "feature 0 has a corner that is not a longitude and a latitude in degrees",
            ),
            (
                with(&square("[0,0],[500,1]")),
                "feature 0 has a corner that is not a longitude and a latitude in degrees",
            ),
            (
                TWO.replace("BIG", "../x"),
                "feature 0 has an unusable zone name",
            ),
        ] {
            match read(&text) {
                Err(error) => assert!(error.to_string() == expected, "{text}: {error}"),
                Ok(_) => panic!("{text} was read"),
            }
        }
    }

    proptest! {
        #[test]
        fn no_file_is_too_strange(text in "\\PC{0,200}", at in 0..TWO.len(), swap in "[0-9\\[\\]{},:\"a-z-]{0,4}") {
            let _ = read(&text);
            let mut mutated = TWO.to_owned();
            mutated.replace_range(at..(at + 1).min(TWO.len()), &swap);
            if let Ok(map) = read(&mutated) {
                let _ = map.locate(Point::new(1.5, 1.5).unwrap());
                let _ = map.locate(Point::new(90.0, 180.0).unwrap());
            }
        }
    }
}
