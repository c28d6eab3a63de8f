//! `impact compare` from end to end.

use crate::support::{Run, impact_in};
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use tempfile::TempDir;

/// Five runs of about 100 W and five of about 110 W, an hour each.
fn two_groups() -> TempDir {
    let folder = TempDir::new().unwrap();
    for (index, watts) in [98.0, 99.0, 100.0, 101.0, 102.0].into_iter().enumerate() {
        let base = Run::of_watts(watts).tag("lr", "0.1");
        base.write(&folder.path().join(format!("a/{index}")));
        let other = Run::of_watts(watts * 1.1).tag("lr", "0.2");
        other.write(&folder.path().join(format!("b/{index}")));
    }
    folder
}

#[test]
fn means_and_their_difference_are_told_in_the_unit_of_the_figure() {
    let folder = two_groups();
    impact_in(folder.path())
        .args(["compare", "a", "b", "--metric", "energy", "--pue", "1"])
        .assert()
        .success()
        .stdout(contains("total_power (kWh, energy, PUE included)"))
        .stdout(contains("b against a: +0.01 kWh (+10 %)"))
        .stdout(contains("Mann-Whitney U"));
}

#[test]
fn runs_that_do_not_tell_a_figure_are_counted_as_people_count() {
    let folder = two_groups();
    let told = |words: &str| {
        impact_in(folder.path())
            .args(["compare", "a", "b", "--metric", "co2", "--pue", "1"])
            .assert()
            .stdout(contains(words));
    };
    let nowhere = Run::of_watts(100.0).without("region");
    nowhere.write(&folder.path().join("a/5"));
    told("; 1 run does not tell this figure");
    nowhere.write(&folder.path().join("b/5"));
    told("; 2 runs do not tell this figure");
}

#[test]
fn a_tag_splits_one_folder_into_groups() {
    let folder = two_groups();
    Run::of_watts(1.0).write(&folder.path().join("c/untagged"));
    let output = impact_in(folder.path())
        .args([
            "compare", ".", "--by", "lr", "--format", "json", "--pue", "1",
        ])
        .assert()
        .code(3)
        .stderr(contains("left out: 1 run without the tag lr"));
    let json: Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
    assert_eq!(json["groups"][1]["name"], "lr=0.2");
    let energy = &json["figures"]["total_power"];
    assert!((energy["groups"][0]["mean"].as_f64().unwrap() - 0.1).abs() < 1e-12);
    assert!(
        (energy["against_first"][0]["relative_difference"]
            .as_f64()
            .unwrap()
            - 0.1)
            .abs()
            < 1e-9
    );
    assert!(
        energy["against_first"][0]["tests"]["welch"]["p"]
            .as_f64()
            .unwrap()
            < 0.001
    );
    assert_eq!(json["same_surroundings"], true);
}

#[test]
fn a_glob_names_a_group() {
    let folder = two_groups();
    impact_in(folder.path())
        .args(["compare", "a/[0-2]", "b/*"])
        .assert()
        .success()
        .stdout(predicate::str::is_match(r"a/\[0-2\] +3 ").unwrap());
    impact_in(folder.path())
        .args(["compare", "a", "none-*"])
        .assert()
        .code(1)
        .stderr(contains("no directory matches none-*"));
}

#[test]
fn a_budget_is_a_gate_by_exit_code() {
    let folder = two_groups();
    let with = |args: &[&str]| {
        let mut command = impact_in(folder.path());
        command.args(["compare", "a", "b"]).args(args).assert()
    };
    with(&["--budget", "energy<=10%"]).code(0);
    with(&["--budget", "energy<=9%"]).code(1).stderr(contains(
        "failed: --budget 'energy<=9%': b: total_power is +10.00 %",
    ));
    with(&["--fail-if", "co2 > 1.2x"]).code(0);
    with(&["--fail-if", "co2 > 1.05x"]).code(1);
    with(&["--fail-if", "gpu > 1.05x"])
        .code(1)
        .stderr(contains("kw_hr_gpu is not known"));
    with(&["--budget", "enrgy<=9%"])
        .code(2)
        .stderr(contains("the nearest is energy"));
}

#[test]
fn other_hardware_drivers_and_packages_are_warned_of() {
    let folder = TempDir::new().unwrap();
    let base = Run::of_watts(100.0).gpu("A100", "GPU-1", "535.1", 10.0);
    base.write(&folder.path().join("a/0"));
    let other = Run::of_watts(100.0).gpu("TITAN V", "GPU-2", "550.2", 10.0);
    other.write(&folder.path().join("b/0"));
    impact_in(folder.path())
        .args(["compare", "a", "b"])
        .assert()
        .success()
        .stdout(contains("warning: GPUs differs: 1 x A100 / 1 x TITAN V"))
        .stdout(contains("warning: GPU driver differs: 535.1 / 550.2"))
        .stdout(contains("too few runs"));
}

#[test]
fn every_format_is_written_by_the_ending_of_its_file() {
    let folder = two_groups();
    for (file, start) in [
        ("c.md", "## Comparison"),
        ("c.json", "{"),
        ("c.csv", "figure,unit,group,against,runs"),
        ("c.svg", "<svg "),
        ("c.html", "<!doctype html>"),
        ("c.txt", "total_power"),
    ] {
        let mut command = impact_in(folder.path());
        command
            .args(["compare", "a", "b", "--output", file])
            .assert()
            .success();
        let text = std::fs::read_to_string(folder.path().join(file)).unwrap();
        assert!(text.starts_with(start), "{file}: {text}");
    }
    impact_in(folder.path())
        .args(["compare", "a", "b", "--output", "c.svg"])
        .assert()
        .code(1)
        .stderr(contains("c.svg is already there"));
}

#[test]
fn the_same_seed_writes_the_same_bytes() {
    let folder = two_groups();
    let bytes = |seed: &str| {
        let mut command = impact_in(folder.path());
        let output = command.args(["compare", "a", "b", "--format", "json", "--seed", seed]);
        output.output().unwrap().stdout
    };
    assert_eq!(bytes("7"), bytes("7"));
    assert_ne!(bytes("7"), bytes("8"));
}
