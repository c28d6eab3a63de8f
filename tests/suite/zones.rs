//! The shipped map and tables against reference answers.

use std::collections::{BTreeSet, HashMap};

use rayon::prelude::*;

use impact::grid::intensity::{Dataset, Fallback, Intensity, for_area};
use impact::grid::zone::map::Map;
use impact::grid::zone::place::Place;
use impact::grid::zone::{AreaId, Found, Located, Point, cloud, place};

const EIT: &str = include_str!("../fixtures/eit_2019_regions.tsv");
const CITIES: &str = include_str!("../fixtures/city_areas.txt");

/// The areas of the unsimplified map the cities over 15,000 people lie in, in the order of the gazetteer.
fn reference() -> Vec<&'static str> {
    CITIES
        .lines()
        .flat_map(|line| {
            let (count, area) = line.split_once(' ').unwrap();
            std::iter::repeat_n(area, count.parse().unwrap())
        })
        .collect()
}

fn cities() -> Vec<(Place, &'static str)> {
    let reference = reference();
    assert_eq!(reference.len(), 34_006);
    place::all().zip(reference).collect()
}

#[test]
fn sixty_seven_cloud_regions_and_stanford_get_the_original_zone_or_a_finer_one_and_the_figure() {
    let mut checked = 0;
    let mut finer = BTreeSet::new();
    for line in EIT.lines().filter(|line| !line.starts_with('#')) {
        let [name, lat, lon, zone, grams]: [&str; 5] =
            line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let point = Point::new(lat.parse().unwrap(), lon.parse().unwrap()).unwrap();
        let mut areas = vec![Map::embedded().locate(point).unwrap().area];
        if name.contains(':') {
            areas.push(cloud::find(name).unwrap().area.clone());
        }
        for area in areas {
            let intensity = for_area(&area, None, Dataset::Eit2019).unwrap();
            assert_eq!(
                intensity.value.get(),
                grams.parse::<f64>().unwrap(),
                "{name}"
            );
            if area.zone.as_str() == zone {
                assert!(intensity.provenance.fallbacks.is_empty(), "{name}");
            } else {
                let wider = Fallback::Wider {
                    missing: area.zone.clone(),
                    used: zone.parse().unwrap(),
                };
                assert_eq!(intensity.provenance.fallbacks, [wider], "{name}");
                finer.insert(format!("{name} {area}"));
            }
        }
        checked += 1;
    }
    assert_eq!(checked, 68);
    assert_eq!(
        finer.iter().map(String::as_str).collect::<Vec<_>>(),
        [
            "aws:us-west-2 US-NW-BPAT:OR",
            "azure:northcentralus US-MIDA-PJM:IL",
            "gcp:us-east1 US-CAR-SC:SC",
            "gcp:us-west1 US-NW-BPAT:OR",
        ]
    );
}

#[test]
fn every_cloud_region_has_an_intensity_and_lies_where_the_map_says() {
    let mut moved = Vec::new();
    for region in cloud::all() {
        let intensity = for_area(&region.area, None, Dataset::Auto).unwrap();
        assert_eq!(
            intensity.provenance.year,
            Some(2025),
            "{}:{}",
            region.provider,
            region.code
        );
        let found = Map::embedded()
            .locate_in(region.point, region.country, None)
            .unwrap();
        if found.area != region.area {
            // The balancing area of the buildings is known: another than the map's, in the same state.
            assert_eq!(found.area.state, region.area.state, "{}", region.code);
            assert!(region.area.state.is_some(), "{}", region.code);
            moved.push(format!("{}:{}", region.provider, region.code));
        }
    }
    assert_eq!(cloud::all().len(), 321);
    assert_eq!(moved.len(), 10, "{moved:?}");
}

#[test]
fn every_city_over_15_000_people_gets_a_zone_and_an_intensity() {
    let (mut country, mut wider, mut world, mut other_table) = (0, 0, 0, 0);
    let located: Vec<Located> = cities()
        .par_iter()
        .map(|(city, _)| {
            Map::embedded()
                .locate_in(city.point, city.country, None)
                .unwrap()
        })
        .collect();
    let mut known: HashMap<AreaId, Intensity> = HashMap::new();
    for located in located {
        country += usize::from(located.found == Found::Country);
        let intensity = known
            .entry(located.area)
            .or_insert_with_key(|area| for_area(area, None, Dataset::Auto).unwrap());
        let has = |wanted: fn(&Fallback) -> bool| {
            usize::from(intensity.provenance.fallbacks.iter().any(wanted))
        };
        wider += has(|fallback| matches!(fallback, Fallback::Wider { .. }));
        world += has(|fallback| matches!(fallback, Fallback::World));
        other_table += usize::from(intensity.provenance.source.name.starts_with("Ember"));
    }
    println!(
        "whole country {country}, wider zone {wider}, world {world}, Ember {other_table} of 34006"
    );
    assert!(
        country <= 80,
        "{country} cities have no zone of their country near them"
    );
    assert!(
        wider <= 60,
        "{wider} cities take the figure of a larger zone"
    );
    assert!(world <= 20, "{world} cities take the figure of the world");
    assert!(
        other_table <= 500,
        "{other_table} cities take a national figure"
    );
}

#[test]
fn at_most_60_cities_differ_from_the_unsimplified_map() {
    let map = Map::embedded();
    let (mut differ, mut near, mut nowhere) = (Vec::new(), 0, 0);
    for (city, expected) in cities() {
        let found = map.locate(city.point).ok();
        near += usize::from(found.as_ref().is_some_and(|at| at.found != Found::Inside));
        nowhere += usize::from(found.is_none());
        let area = found.map_or_else(|| "-".to_owned(), |at| at.area.to_string());
        if area != expected {
            differ.push(format!("{city}: {expected} -> {area}"));
        }
    }
    println!(
        "{} differ, {near} by the nearest zone, {nowhere} in none",
        differ.len()
    );
    assert!(differ.len() <= 60, "{differ:#?}");
    assert!(
        (400..=700).contains(&near),
        "{near} cities by the nearest zone"
    );
    assert!(nowhere <= 6, "{nowhere} cities in no zone");
}
