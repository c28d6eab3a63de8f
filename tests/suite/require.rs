//! `impact require`, and the same options of `impact track`, on a machine made of files.

use std::fs;

use crate::support::impact;
use predicates::prelude::*;
use predicates::str::contains;
use tempfile::TempDir;

/// A machine with one processor and no board.
fn machine() -> TempDir {
    let folder = TempDir::new().unwrap();
    let kernel = folder.path().join("proc/sys/kernel");
    fs::create_dir_all(&kernel).unwrap();
    fs::create_dir_all(folder.path().join("sys")).unwrap();
    fs::write(kernel.join("osrelease"), "6.8.0-45-generic\n").unwrap();
    let cpu = "processor\t: 0\nmodel name\t: Intel(R) Xeon(R) CPU E5-2630 v4 @ 2.20GHz\nsiblings\t: 20\ncpu cores\t: 10\n\n";
    fs::write(folder.path().join("proc/cpuinfo"), cpu).unwrap();
    folder
}

fn require(args: &[&str]) -> assert_cmd::assert::Assert {
    let machine = machine();
    impact()
        .env("IMPACT_SYSFS_ROOT", machine.path().join("sys"))
        .env("IMPACT_PROCFS_ROOT", machine.path().join("proc"))
        .env("IMPACT_NVML_LIB", machine.path().join("no-such-library"))
        .args(args)
        .assert()
}

#[test]
fn what_is_as_asked_ends_with_nought() {
    require(&[
        "require",
        "--cpu-brand",
        "~Xeon.*2630",
        "--kernel",
        ">=6.5",
        "--gpu-count",
        "0",
    ])
    .code(0)
    .stdout(contains("Intel(R) Xeon(R) CPU E5-2630 v4"));
}

#[test]
fn what_is_not_as_asked_ends_with_five_and_a_table() {
    require(&["require", "--cpu-brand", "AMD*", "--gpu-name", "TITAN V"])
        .code(5)
        .stdout(predicate::str::is_match(r"no +CPU brand +AMD\* +Intel").unwrap())
        .stdout(predicate::str::is_match(r"no +GPU name +TITAN V +none").unwrap());
}

#[test]
fn nothing_asked_and_nonsense_asked_are_errors_of_usage() {
    require(&["require"])
        .code(2)
        .stderr(contains("no requirement is given"));
    require(&["require", "--driver", "~("])
        .code(2)
        .stderr(contains("not a regular expression"));
}

#[test]
fn tracking_does_not_start_on_another_machine() {
    let out = TempDir::new().unwrap();
    let witness = out.path().join("started");
    let witness = witness.to_str().unwrap();
    let log = out.path().join("log");
    let log = log.to_str().unwrap();
    require(&[
        "track",
        "--out",
        log,
        "--require-cpu-brand",
        "AMD*",
        "--",
        "touch",
        witness,
    ])
    .code(125)
    .stderr(contains("this machine does not meet the requirements"));
    assert!(!fs::exists(witness).unwrap());
}

#[test]
fn json_has_what_was_expected_and_what_was_found() {
    let assert = require(&[
        "require",
        "--format",
        "json",
        "--cores",
        ">=4",
        "--gpu-count",
        "1",
    ]);
    let output = assert.code(5).get_output().stdout.clone();
    let answer: serde_json::Value = serde_json::from_slice(&output).unwrap();
    assert_eq!(answer["met"], false);
    let lines = answer["requirements"].as_array().unwrap();
    let line = |what: &str| lines.iter().find(|line| line["what"] == what).unwrap();
    assert_eq!(line("CPU cores")["expected"], ">=4");
    assert_eq!(line("CPU cores")["found"], serde_json::json!(["10"]));
    assert_eq!(line("CPU cores")["met"], true);
    assert_eq!(line("GPU count")["found"], serde_json::json!(["0"]));
    assert_eq!(line("GPU count")["met"], false);
}
