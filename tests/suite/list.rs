//! `impact list` and `impact export` from end to end.

use crate::support::{Run, impact_in};
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use tempfile::TempDir;

/// Three runs of 100, 300 and 200 W, an hour each.
fn logs() -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, watts, lr) in [
        ("a", 100.0, "0.1"),
        ("b", 300.0, "0.2"),
        ("c", 200.0, "0.1"),
    ] {
        let run = Run::of_watts(watts).tag("lr", lr);
        run.write(&folder.path().join("logs").join(name));
    }
    folder
}

fn column(csv: &[u8], index: usize) -> Vec<String> {
    let mut reader = csv::Reader::from_reader(csv);
    reader
        .records()
        .map(|row| row.unwrap()[index].to_owned())
        .collect()
}

#[test]
fn runs_are_listed_largest_first_with_a_total() {
    let folder = logs();
    let output = impact_in(folder.path())
        .args(["list", "logs", "--sort", "energy", "--pue", "1"])
        .assert()
        .success();
    let text = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    let places: Vec<usize> = ["logs/b", "logs/c", "logs/a", "total of 3 runs"]
        .iter()
        .map(|name| text.find(name).unwrap())
        .collect();
    assert!(places.is_sorted(), "{text}");
    assert!(
        text.lines()
            .find(|line| line.starts_with("total"))
            .unwrap()
            .contains("600 Wh"),
        "{text}"
    );
}

#[test]
fn a_filter_keeps_the_runs_for_which_it_holds() {
    let folder = logs();
    let listed = |filter: &str| {
        let mut command = impact_in(folder.path());
        command.args([
            "list", "logs", "--format", "csv", "--pue", "1", "--filter", filter,
        ]);
        column(&command.output().unwrap().stdout, 0)
    };
    assert_eq!(listed("tag.lr=0.1"), ["logs/a", "logs/c"]);
    assert_eq!(listed("tag.lr!=0.1"), ["logs/b"]);
    assert_eq!(listed("energy>=0.2"), ["logs/b", "logs/c"]);
    assert_eq!(listed("tag.lr<0.15"), ["logs/a", "logs/c"]);
    assert_eq!(listed("host=node-*").len(), 3);
    assert_eq!(listed("gpu>0").len(), 0);
    impact_in(folder.path())
        .args(["list", "logs", "--filter", "colour=red"])
        .assert()
        .code(2)
        .stderr(contains("`colour` is not a field"))
        .stderr(contains("the nearest").not());
    impact_in(folder.path())
        .args(["list", "logs", "--filter", "hots=node-1"])
        .assert()
        .code(2)
        .stderr(contains("the nearest is host"));
}

#[test]
fn exported_runs_have_exact_figures_tags_and_a_table_of_units() {
    let folder = logs();
    let export = |args: &[&str]| {
        let mut command = impact_in(folder.path());
        command
            .args(["export", "logs", "--pue", "1", "--output", "runs.csv"])
            .args(args)
            .assert()
    };
    export(&[]).success();
    let csv = std::fs::read(folder.path().join("runs.csv")).unwrap();
    let head = String::from_utf8_lossy(&csv)
        .lines()
        .next()
        .unwrap()
        .to_owned();
    let index = |name: &str| head.split(',').position(|column| column == name).unwrap();
    assert_eq!(column(&csv, index("total_power")), ["0.1", "0.3", "0.2"]);
    assert_eq!(column(&csv, index("tag.lr")), ["0.1", "0.2", "0.1"]);
    assert_eq!(column(&csv, index("kw_hr_gpu")), ["", "", ""]);
    let units = std::fs::read_to_string(folder.path().join("runs.columns.csv")).unwrap();
    assert!(
        units.contains("total_power,kWh,\"energy, PUE included\""),
        "{units}"
    );
    export(&[])
        .code(1)
        .stderr(contains("runs.csv is already there"));
    export(&["--force"]).success();
}

#[test]
fn exported_samples_are_one_row_each_with_null_for_what_is_not_known() {
    let folder = logs();
    let output = impact_in(folder.path())
        .args(["export", "logs", "--what", "samples", "--format", "jsonl"])
        .assert()
        .success();
    let text = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    assert_eq!(text.lines().count(), 21);
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(last["path"], "logs/c");
    assert_eq!(last["elapsed"], 3600);
    assert_eq!(last["attributed.package-0"], 720_000);
    assert_eq!(last["carbon_intensity"], Value::Null);
}

#[test]
fn the_ending_of_an_exported_file_tells_its_format() {
    let folder = logs();
    let export = |file: &str| {
        let mut command = impact_in(folder.path());
        command.args(["export", "logs", "--output", file]).assert()
    };
    export("runs.jsonl").success();
    let text = std::fs::read_to_string(folder.path().join("runs.jsonl")).unwrap();
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(first["path"], "logs/a");
    export("runs.parquet")
        .code(1)
        .stderr(contains("try: one of .csv, .jsonl, or --format"));
    assert!(!folder.path().join("runs.parquet").exists());
}

#[test]
fn a_folder_without_runs_is_an_error_with_advice() {
    let folder = TempDir::new().unwrap();
    impact_in(folder.path())
        .args(["list", "."])
        .assert()
        .code(1)
        .stderr(contains("no usable run").and(contains("try: ")));
}
