//! JSON of commands that are asked by scripts before and after a job.

use std::fs;

use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Machine, impact_in};

fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap_or_else(|error| {
        panic!("{error}: {}", String::from_utf8_lossy(bytes));
    })
}

#[test]
fn require_tells_each_requirement_with_what_was_found() {
    let machine = Machine::bare();
    fs::create_dir_all(machine.path("proc")).unwrap();
    fs::write(
        machine.path("proc/cpuinfo"),
        "model name\t: Abacus 9\ncpu cores\t: 4\nsiblings\t: 4\n\n",
    )
    .unwrap();
    let require = |options: &[&str]| {
        let mut command = machine.impact();
        command.env("IMPACT_PROCFS_ROOT", machine.path("proc"));
        command.args(["require", "--format", "json"]).args(options);
        command.output().unwrap()
    };
    let output = require(&["--cpu-brand", "Abacus*", "--gpu-name", "TITAN V"]);
    assert_eq!(output.status.code(), Some(5));
    let said = json(&output.stdout);
    assert_eq!(
        (&said["schema"], &said["met"]),
        (&"impact-require/1".into(), &false.into())
    );
    assert_eq!(said["requirements"][0]["what"], "GPU name");
    assert_eq!(said["requirements"][0]["found"], serde_json::json!([]));
    assert_eq!(
        said["requirements"][1]["found"],
        serde_json::json!(["Abacus 9"])
    );
    assert_eq!(said["requirements"][1]["met"], true);
    let output = require(&["--cpu-brand", "Abacus*"]);
    assert_eq!(
        (output.status.code(), &json(&output.stdout)["met"]),
        (Some(0), &true.into())
    );
}

#[test]
fn config_show_tells_every_key_and_no_secret() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join(".impact.toml"), "pue = 1.3\n").unwrap();
    let output = impact_in(folder.path())
        .env("ELECTRICITYMAPS_TOKEN", "very-secret")
        .args(["config", "show", "--format", "json"])
        .assert()
        .success()
        .stdout(contains("very-secret").not());
    let said = json(&output.get_output().stdout);
    assert_eq!(said["schema"], "impact-config/1");
    let settings = said["settings"].as_array().unwrap();
    let setting = |key: &str| {
        settings
            .iter()
            .find(|setting| setting["key"] == key)
            .unwrap()
    };
    assert_eq!(setting("pue")["value"], "1.3");
    assert!(
        setting("pue")["from"]
            .as_str()
            .unwrap()
            .ends_with(".impact.toml:1")
    );
    assert_eq!(setting("currency")["from"], "default");
    let secret = settings
        .iter()
        .find(|setting| setting["secret"] == true && setting["is_set"] == true);
    assert_eq!(secret.unwrap()["value"], Value::Null);
}

#[test]
fn the_summary_of_a_tracked_run_has_the_figures_that_a_report_has() {
    let machine = Machine::with_rapl();
    let counter = machine.counter("intel-rapl:0");
    let output = machine.track(
        &["-q", "--zone", "FR", "--summary", "closing.json"],
        &format!("echo 43000000 > {}; exit 3", counter.display()),
    );
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let said = json(&fs::read(machine.path("closing.json")).unwrap());
    assert_eq!(said["schema"], "impact-summary/1");
    assert_eq!(
        (&said["exit_code"], &said["signal"]),
        (&3.into(), &Value::Null)
    );
    let report = machine
        .impact()
        .args(["report", "log", "--format", "json"])
        .output()
        .unwrap();
    let report = json(&report.stdout);
    assert_eq!(said["figures"], report["runs"][0]["figures"]);
    assert!(
        said["figures"]["total_power"].as_f64().unwrap() > 0.0,
        "{said}"
    );
    assert_eq!(said["path"], "log");
}

#[test]
fn a_summary_replaces_nothing_and_fails_no_job() {
    let machine = Machine::with_rapl();
    fs::write(machine.path("mine.json"), "mine").unwrap();
    for (file, why) in [
        (
            "mine.json",
            "mine.json is already there, so the summary of this run will not be written",
        ),
        (
            "nowhere/closing.json",
            "nowhere/closing.json was not written: the folder does not exist",
        ),
    ] {
        let _ = fs::remove_dir_all(machine.path("log"));
        let output = machine.track(&["-q", "--summary", file], "exit 7");
        assert_eq!(output.status.code(), Some(7), "{file}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(why), "{said}");
        assert!(
            machine.path("log/impacttracker/data.json").exists(),
            "{file}"
        );
    }
    assert_eq!(fs::read(machine.path("mine.json")).unwrap(), b"mine");
    // A file that appears while the job runs is somebody's.
    let _ = fs::remove_dir_all(machine.path("log"));
    let output = machine.track(
        &["-q", "--summary", "late.json"],
        "echo theirs > late.json; kill -9 $$",
    );
    assert_eq!(output.status.code(), Some(137));
    assert_eq!(fs::read(machine.path("late.json")).unwrap(), b"theirs\n");
    let _ = fs::remove_dir_all(machine.path("log"));
    machine.track(
        &["-q", "--redact", "--summary", "killed.json"],
        "kill -9 $$",
    );
    let said = json(&fs::read(machine.path("killed.json")).unwrap());
    assert_eq!((&said["signal"], &said["path"]), (&9.into(), &Value::Null));
}
