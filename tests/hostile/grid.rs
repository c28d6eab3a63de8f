//! Attacks by places, tables and services.

mod basis;
mod devices;
mod places;
mod pue;
mod social_cost;

use crate::support;
use serde_json::Value;

fn region(args: &[&str]) -> Value {
    let nowhere = tempfile::tempdir().unwrap();
    let output = support::impact()
        .arg("region")
        .args(args)
        .args(["--format", "json"])
        .env("IMPACT_SYSFS_ROOT", nowhere.path())
        .env("IMPACT_RUN_ROOT", nowhere.path())
        .assert()
        .success();
    serde_json::from_slice(&output.get_output().stdout).unwrap()
}

fn area(answer: &Value) -> String {
    match answer["state"].as_str() {
        Some(state) => format!("{}:{state}", answer["zone"].as_str().unwrap()),
        None => answer["zone"].as_str().unwrap().to_owned(),
    }
}

#[test]
fn places_are_found_as_people_write_them() {
    for (address, zone) in [
        ("Buenos Aires", "AR"),
        ("Washington D.C.", "US-DC:DC"),
        ("Washington, D.C.", "US-DC:DC"),
        ("Nicosia", "CY"),
        ("NYC", "US-NY:NY"),
        ("L.A.", "US-CA:CA"),
        ("Zuerich", "CH"),
        ("Germany", "DE"),
        ("Burma", "MM"),
        ("England", "GB"),
        ("Texas", "US-TX:TX"),
    ] {
        assert_eq!(area(&region(&["--address", address])), zone, "{address}");
    }
}

#[test]
fn a_city_lies_in_its_own_state_where_the_map_draws_the_border_roughly() {
    for address in ["St. Louis MO", "Saint Louis, Missouri"] {
        assert_eq!(region(&["--address", address])["state"], "MO", "{address}");
    }
}

#[test]
fn coordinates_at_a_border_are_on_the_side_of_the_nearest_city() {
    for (lat, lon, zone, state) in [
        ("50.776", "6.084", "DE", None),
        ("31.759", "-106.485", "US-SW-EPE", Some("TX")),
        ("50.848", "5.689", "NL", None),
    ] {
        let answer = region(&["--lat", lat, "--lon", lon]);
        assert_eq!(answer["zone"], zone, "{lat} {lon}");
        assert_eq!(answer["state"].as_str(), state, "{lat} {lon}");
    }
    let st_louis = region(&["--lat", "38.627", "--lon", "-90.198"]);
    assert_eq!(st_louis["state"], "MO");
    assert!(st_louis["how"].as_str().unwrap().contains("St. Louis"));
}

#[test]
fn the_answer_names_the_zones_whose_figure_it_is() {
    let zones = |zone: &str| region(&["--zone", zone])["figure_of"].to_string();
    assert_eq!(zones("US-PJM"), "[\"US-MIDA-PJM\"]");
    assert_eq!(zones("FR"), "[\"FR\"]");
    assert!(zones("US-KY").contains("US-MIDW-LGEE"));
}

#[test]
fn a_figure_that_another_source_contradicts_says_so() {
    for (zone, words) in [
        (
            "CY",
            "differs from Ember by more than 30 %: 838 g/kWh in 2025, 489 by Ember",
        ),
        ("KE", "95 g/kWh in 2024, 206 in 2025"),
        ("DZ", "an estimate, not data"),
        ("XX", "489 by Ember"),
    ] {
        let doubts = region(&["--zone", zone])["doubts"].to_string();
        assert!(doubts.contains(words), "{zone}: {doubts}");
    }
    assert_eq!(region(&["--zone", "DE"])["doubts"], serde_json::json!([]));
    // The jump is one of the newest year.
    let earlier = region(&["--zone", "RE", "--year", "2023"]);
    assert_eq!(earlier["doubts"], serde_json::json!([]));
}

/// The rows of the audit of the tables, in g/kWh of 2025.
#[test]
fn corrections_of_the_audit_hold() {
    for (option, place, grams) in [
        ("--cloud", "gcp:us-west1", 129.0),
        ("--cloud", "aws:us-west-2", 129.0),
        ("--cloud", "gcp:us-east1", 654.0),
        ("--zone", "US-SC", 457.54),
        ("--address", "São Luís, Maranhão", 154.0),
        ("--zone", "ES-CE", 649.0),
        ("--zone", "ES-ML", 617.0),
        ("--zone", "JE", 31.0),
        ("--zone", "GG", 31.0),
        ("--address", "El Paso, Texas", 524.0),
        ("--address", "Manila", 632.0),
        ("--address", "Cebu City", 591.0),
        ("--address", "Davao", 545.0),
        ("--zone", "US-TX", 363.0),
        ("--zone", "US-CA", 208.0),
    ] {
        let answer = region(&[option, place, "--year", "2025"]);
        assert_eq!(answer["carbon_intensity"], grams, "{place}");
    }
    for (country, year) in [("CF", "2018"), ("BI", "2005")] {
        let answer = region(&["--country", country, "--year", year]);
        assert!(answer["carbon_intensity"].as_f64().unwrap() > 0.0);
        assert!(answer["fallbacks"].to_string().contains("no figure"));
    }
    let nevada = region(&["--zone", "US-NV", "--dataset", "eit-2019"]);
    assert_eq!(nevada["carbon_intensity"], 177.431_365);
    for cloud in [
        "aws:sa-west-1",
        "aws:me-west-1",
        "aws:eusc-de-east-1",
        "gcp:asia-southeast3",
        "gcp:us-central2",
        "gcp:us-east2",
        "oci:us-saltlake-2",
        "oci:ap-delhi-1",
        "oci:ap-kulai-2",
        "oci:af-casablanca-1",
        "alibaba:cn-zhangjiakou",
        "alibaba:cn-huhehaote",
        "alibaba:cn-heyuan",
        "alibaba:cn-wuhan",
        "ovh:EU-WEST-PAR",
        "ovh:CA-EAST-TOR",
        "ovh:AP-SOUTH-MUM",
        "ovh:EU-WEST-LZ-DLN",
        "ovh:US-EAST-VA",
        "ovh:US-WEST-OR",
    ] {
        assert!(region(&["--cloud", cloud])["carbon_intensity"].is_number());
    }
}
