//! Where a run takes place that nobody has placed: what is known is used in order, and the assumption is named.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::receipt::{close, json as receipt};
use crate::support::{LegacyRun, Machine, Run};

/// A machine in eu-north-1 by its cloud-init, whose clock is set to the time of Berlin.
fn in_a_cloud_with_a_clock() -> Machine {
    let machine = Machine::with_rapl();
    fs::create_dir_all(machine.path("run/cloud-init")).unwrap();
    let data = r#"{"v1":{"cloud_name":"aws","region":"eu-north-1"}}"#;
    fs::write(machine.path("run/cloud-init/instance-data.json"), data).unwrap();
    set_clock(&machine, "Europe/Berlin");
    machine
}

fn set_clock(machine: &Machine, zone: &str) {
    fs::create_dir_all(machine.path("etc")).unwrap();
    let _ = fs::remove_file(machine.path("etc/localtime"));
    let target = format!("/usr/share/zoneinfo/{zone}");
    symlink(target, machine.path("etc/localtime")).unwrap();
}

fn on(machine: &Machine) -> Command {
    let mut command = machine.impact();
    command
        .env("IMPACT_RUN_ROOT", machine.path("run"))
        .env("IMPACT_ETC_ROOT", machine.path("etc"));
    command
}

/// Zone and basis of a new log.
fn placed(machine: &Machine, options: &[&str], zone: Option<&str>) -> (Value, Value) {
    let _ = fs::remove_dir_all(machine.path("log"));
    let mut command = on(machine);
    command.args(["track", "-q", "-o", "log"]).args(options);
    if let Some(zone) = zone {
        command.env("IMPACT_ZONE", zone);
    }
    assert!(command.args(["--", "true"]).status().unwrap().success());
    let region = machine.log().info["region"].clone();
    (region["zone"].clone(), region["placed_by"].clone())
}

#[test]
fn a_run_is_placed_by_the_first_that_is_known_and_the_log_says_by_which() {
    let machine = in_a_cloud_with_a_clock();
    let by = |by: &str| json!({ "by": by });
    for place in [
        ["--zone", "FR"],
        ["--country", "France"],
        ["--address", "Paris"],
        ["--region", "aws:eu-west-3"],
    ] {
        let found = placed(&machine, &place, Some("GB"));
        assert_eq!(found, (json!("FR"), by("command_line")), "{place:?}");
    }
    let configured = placed(&machine, &[], Some("GB"));
    assert_eq!(configured, (json!("GB"), by("configuration")));
    let file = machine.path("run/cloud-init/instance-data.json");
    let by_cloud = json!({ "by": "cloud_metadata", "evidence": file });
    assert_eq!(placed(&machine, &[], None), (json!("SE-SE3"), by_cloud));
    fs::remove_file(file).unwrap();
    let by_clock = json!({ "by": "time_zone", "time_zone": "Europe/Berlin" });
    assert_eq!(placed(&machine, &[], None), (json!("DE"), by_clock));
    set_clock(&machine, "Etc/UTC");
    assert_eq!(placed(&machine, &[], None), (Value::Null, Value::Null));
}

#[test]
fn a_clock_that_names_a_country_without_a_figure_stops_no_job() {
    let machine = Machine::with_rapl();
    set_clock(&machine, "Europe/Berlin");
    let output = on(&machine)
        .args(["track", "-o", "log", "--config", "dataset=egrid"])
        .args(["--", "sh", "-c", "exit 7"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(7), "{output:?}");
}

fn unplaced() -> Run {
    Run::default().without("region")
}

fn by_clock() -> Run {
    let placed_by = json!({ "by": "time_zone", "time_zone": "Europe/Berlin" });
    Run::default().with("region", json!({ "zone": "DE", "placed_by": placed_by }))
}

#[test]
fn a_run_without_a_place_takes_the_average_of_the_country_of_the_statement_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let log = unplaced().write(&folder.path().join("a"));
    let unknown = receipt(&[&log], &[]);
    assert_eq!(unknown["estimated_carbon_impact_kg"], Value::Null);
    let known = receipt(&[&log], &["USA"]);
    // 110 J with the average of 2019 or, where there is none, of the nearest year.
    let of_us = receipt(&[&log], &["--zone", "US"]);
    let mass = &known["estimated_carbon_impact_kg"];
    assert!(mass.as_f64().unwrap() > 0.0);
    close(mass, of_us["estimated_carbon_impact_kg"].as_f64().unwrap());
    let assumed = json!([{ "by": "country", "zone": "US", "country": "USA", "runs": 1 }]);
    assert_eq!(known["assumed_places"], assumed);
    let text = known["statement"].as_str().unwrap();
    let words = "zone was not recorded; the average of the United States was used";
    assert!(text.contains(words), "{text}");
}

#[test]
fn what_is_stated_is_stronger_than_a_clock_and_a_clock_than_the_country_of_the_statement() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path();
    Run::default().write(&logs.join("recorded"));
    unplaced().write(&logs.join("unplaced"));
    by_clock().write(&logs.join("clock"));
    let zones = |options: &[&str]| -> Vec<String> {
        let receipt = receipt(&[logs], options);
        let zones = receipt["zones"].as_array().unwrap();
        let name =
            |zone: &Value| format!("{}:{}", zone["zone"].as_str().unwrap_or("?"), zone["runs"]);
        zones.iter().map(name).collect()
    };
    assert_eq!(zones(&[]), ["?:1", "DE:1", "FR:1"]);
    assert_eq!(zones(&["GBR"]), ["DE:1", "FR:1", "GB:1"]);
    for place in [
        ["--zone", "SE"],
        ["--zone", "Sweden"],
        ["--country", "SWE"],
        ["--config", "zone=SE"],
        ["--config", "country=Sweden"],
    ] {
        assert_eq!(zones(&[&place[..], &["GBR"]].concat()), ["FR:1", "SE:2"]);
    }
    let text = receipt(&[logs], &["GBR"])["statement"].to_string();
    for words in [
        "The zone of 1 of 3 runs was not recorded; the time zone of the machine's clock was \
         Europe/Berlin, so the average of Germany was used.",
        "The zone of 1 of 3 runs was not recorded; the average of the United Kingdom was used.",
    ] {
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn logs_of_experiment_impact_tracker_take_no_country_from_the_statement() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("old");
    let log = LegacyRun {
        zone: "",
        rows: vec![
            (10.0, 10.0, 100.0, "\"n/a\""),
            (20.0, 10.0, 100.0, "\"n/a\""),
        ],
        ..LegacyRun::default()
    };
    log.write(&run);
    let receipt = receipt(&[&run], &["USA"]);
    assert_eq!(receipt["runs"], 1);
    assert_eq!(receipt["estimated_carbon_impact_kg"], Value::Null);
}
