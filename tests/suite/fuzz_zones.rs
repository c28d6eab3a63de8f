//! Addresses, maps and tables of intensities, arbitrary and damaged: an answer or an error, never a panic.
//!
//! `IMPACT_FUZZ_CASES=100000 cargo test --release --test fuzz_zones` runs the long ones.

use std::io::Write as _;

use impact::grid::intensity::user_table::UserTable;
use impact::grid::zone::geojson::BadMap;
use impact::grid::zone::{Point, cloud, geojson, place};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

const MAP: &str = r#"{"type":"FeatureCollection","features":[
{"type":"Feature","id":"B2","properties":{"zone":"A1"},"geometry":{"type":"Polygon","coordinates":[[[0,0],[9,0],[9,9],[0,9],[0,0]],[[1,1],[2,1],[2,2],[1,1]]]}},
{"type":"Feature","id":"B2","properties":null,"geometry":{"type":"MultiPolygon","coordinates":[[[[-180,-90],[180,-90],[180,90],[-180,90],[-180,-90]]],[[]]]}}]}"#;
const TABLE: &str =
    "zone,g_per_kwh,year,source\nA1,12.5,2024,roof\nB2,0,,\nUS-CA,3000,2019,\"a, b\"\n";

fn run<S: Strategy>(fewer: u32, strategy: S, check: impl Fn(S::Value)) {
    let cases = std::env::var("IMPACT_FUZZ_CASES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(fewer);
    let mut runner = TestRunner::new(Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    });
    runner
        .run(&strategy, |value| {
            check(value);
            Ok::<(), TestCaseError>(())
        })
        .unwrap();
}

/// The text with a few of its characters replaced, left out or doubled.
fn damaged(text: &'static str) -> impl Strategy<Value = String> {
    let swap = prop_oneof![
        Just(String::new()),
        "[\\[\\]{},:\"\\-0-9eE.a-zA-Z\n]{1,3}",
        Just("[".repeat(400)),
        Just("1e308".to_owned()),
        Just("-0".to_owned()),
        "\\PC"
    ];
    prop::collection::vec((any::<prop::sample::Index>(), swap), 1..6).prop_map(move |edits| {
        let mut letters: Vec<String> = text.chars().map(String::from).collect();
        for (at, swap) in edits {
            let at = at.index(letters.len());
            letters[at] = swap;
        }
        letters.concat()
    })
}

#[test]
fn no_address_is_too_strange() {
    let words = "[A-Za-zéßØłñ'’.-]{1,12}";
    let address = prop_oneof![
        ".{0,300}",
        prop::collection::vec(words, 1..40).prop_map(|words| words.join(" ")),
        prop::collection::vec(words, 1..40).prop_map(|words| words.join(",")),
        "(Paris|Cambridge|Stanford|Genève)[ ,]{0,3}(TX|UK|CA|QC|USA|FR|\\PC{0,5})[ ,0-9]{0,9}",
    ];
    run(32, address, |address| {
        if let Ok(places) = place::find(&address) {
            assert!(!places.is_empty());
        }
        let _ = cloud::find(&address);
        let _ = address.parse::<Point>();
    });
}

#[test]
fn no_map_is_too_strange() {
    run(2_000, prop_oneof![damaged(MAP), "\\PC{0,200}"], |text| {
        if let Ok(map) = geojson::read(&text) {
            for (lat, lon) in [(1.5, 1.5), (90.0, 180.0), (-90.0, -180.0), (0.0, 0.0)] {
                let point = Point::new(lat, lon).unwrap();
                let _ = map.locate(point);
                assert!(map.around(point).len() <= 2);
            }
        }
    });
}

/// Polygons that cover this share of the world each, with sides from pole to pole.
fn zigzags(polygons: usize, sides: usize, east: f64) -> String {
    let corners: Vec<String> = (0..sides)
        .map(|n| {
            let lat = if n % 2 == 0 { -90 } else { 90 };
            format!("[{},{lat}]", if n % 3 == 0 { -180.0 } else { east })
        })
        .collect();
    let polygon = format!("[[{}]]", corners.join(","));
    format!(
        r#"{{"type":"FeatureCollection","features":[{{"type":"Feature","properties":{{"zone":"A1"}},"geometry":{{"type":"MultiPolygon","coordinates":[{}]}}}}]}}"#,
        vec![polygon; polygons].join(",")
    )
}

#[test]
fn no_map_is_too_fine() {
    let many = (1..400_usize, 1..40_usize);
    let long = (1..3_usize, 1..40_000_usize);
    let east = -180.0..=180.0;
    let maps = (prop_oneof![many, long], east)
        .prop_map(|((polygons, sides), east)| zigzags(polygons, sides, east));
    run(8, maps, |text| {
        if let Ok(map) = geojson::read(&text) {
            let _ = map.locate(Point::new(1.5, 1.5).unwrap());
        }
    });
    for (polygons, sides) in [(400, 4), (1, 40_000)] {
        let text = zigzags(polygons, sides, 180.0);
        assert!(matches!(geojson::read(&text), Err(BadMap::TooFine(_))));
    }
}

#[test]
fn no_table_is_too_strange() {
    run(300, prop_oneof![damaged(TABLE), "\\PC{0,200}"], |text| {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        if let Ok(given) = UserTable::read(file.path()) {
            let known = given.of(&"A1".parse().unwrap(), Some(2024));
            assert!(known.is_none_or(|known| known.value.get() <= 3000.0));
        }
    });
}
