//! The right log is counted, once, for the time no other log covers.

use std::fs;
use std::path::Path;

use predicates::prelude::*;
use serde_json::json;

use crate::support::receipt::json as receipt;
use crate::support::{LegacyRun, Machine, Run, impact};

fn joules(logs: &Path) -> f64 {
    let figures = receipt(&[logs], &["--pue", "1"]);
    figures["total_power"].as_f64().unwrap() * 3.6e6
}

fn is_near(found: f64, wanted: f64) {
    assert!((found - wanted).abs() < 1e-3, "{found} is not {wanted}");
}

fn hour(id: &str) -> Run {
    Run::of_watts(100.0)
        .with("id", id)
        .with("started", "2023-11-14T22:13:20+00:00")
}

fn keep_lines(run: &Path, lines: usize) {
    let data = run.join("impacttracker/data.json");
    let text = fs::read_to_string(&data).unwrap();
    let kept: Vec<&str> = text.lines().take(lines).collect();
    fs::write(&data, kept.join("\n") + "\n").unwrap();
}

#[test]
fn the_most_complete_copy_of_a_run_counts_whatever_its_path_is() {
    let logs = tempfile::tempdir().unwrap();
    let short = hour("x").write(&logs.path().join("a"));
    hour("x").write(&logs.path().join("b"));
    keep_lines(&short, 2);
    is_near(joules(logs.path()), 360_000.0);
    impact()
        .arg("statement")
        .arg(logs.path())
        .assert()
        .code(0)
        .stderr(predicate::str::contains(format!(
            "left out: {}: the same run as {}",
            short.display(),
            logs.path().join("b").display()
        )));
}

#[test]
fn a_run_inside_another_counts_for_the_time_after_the_outer_log_ends() {
    let logs = tempfile::tempdir().unwrap();
    let mut outer = hour("outer").between(1_699_999_999.0, 0.0);
    outer = outer.with("started", "2023-11-14T22:13:19+00:00");
    outer.seconds = 601.0;
    outer.step = 601.0;
    outer.write(&logs.path().join("outer"));
    hour("inner")
        .with("inside", "outer")
        .write(&logs.path().join("inner"));
    // 601 s of the outer run and 3000 s of the inner one.
    is_near(joules(logs.path()), 360_100.0);
    impact()
        .arg("report")
        .arg(logs.path())
        .assert()
        .success()
        .stdout(predicate::str::contains(
            "600.000 s of it are not counted here",
        ));
}

#[test]
fn a_run_two_levels_inside_another_is_a_part_of_it_when_the_log_between_is_missing() {
    let logs = tempfile::tempdir().unwrap();
    let mut outer = hour("a").between(1_699_999_999.0, 4000.0);
    outer = outer.with("started", "2023-11-14T22:13:19+00:00");
    outer = outer.with("ended", "2023-11-14T23:19:59+00:00");
    outer.write(&logs.path().join("a"));
    hour("c")
        .with("inside", "b")
        .with("outer_runs", json!(["a", "b"]))
        .write(&logs.path().join("c"));
    is_near(joules(logs.path()), 400_000.0);
}

#[test]
fn trackers_inside_trackers_record_all_of_the_outer_ones() {
    let machine = Machine::with_rapl();
    let logs = tempfile::tempdir().unwrap();
    let nested = |name: &str| {
        let out = logs.path().join(name);
        vec![
            crate::support::IMPACT.to_owned(),
            "track".to_owned(),
            "--out".to_owned(),
            out.display().to_string(),
            "--".to_owned(),
        ]
    };
    let mut words: Vec<String> = ["a", "b", "c"].into_iter().flat_map(nested).collect();
    words.push("true".to_owned());
    words.remove(0);
    assert!(machine.impact().args(&words).status().unwrap().success());
    let info = |name: &str| -> serde_json::Value {
        let file = logs.path().join(name).join("impacttracker/info.json");
        serde_json::from_slice(&fs::read(file).unwrap()).unwrap()
    };
    assert_eq!(
        info("c")["outer_runs"],
        json!([info("a")["id"], info("b")["id"]])
    );
    assert_eq!(info("a")["outer_runs"], json!(null));
}

#[test]
fn a_part_that_grew_after_it_was_merged_counts_for_the_time_it_grew() {
    let all = tempfile::tempdir().unwrap();
    let (logs, merged) = (all.path().join("logs"), all.path().join("merged"));
    let part = logs.join("part");
    hour("part").write(&part);
    keep_lines(&part, 4);
    // The other run ends later, so that the merged log is as long as the part will be.
    let other = hour("other")
        .on("node-2", "boot-2")
        .between(1_700_000_000.0, 7200.0);
    other.write(&logs.join("other"));
    impact()
        .arg("merge")
        .arg(&logs)
        .arg("--output")
        .arg(&merged)
        .assert()
        .success();
    hour("part").write(&part);
    is_near(joules(all.path()), 360_000.0 + 720_000.0);
}

#[test]
fn copies_of_a_foreign_log_count_once_and_are_named() {
    let logs = tempfile::tempdir().unwrap();
    let first = LegacyRun::default().write(&logs.path().join("a"));
    let copy = LegacyRun::default().write(&logs.path().join("b"));
    let mut other = LegacyRun::default();
    other.rows[0].1 += 0.5;
    other.write(&logs.path().join("c"));
    assert_eq!(receipt(&[logs.path()], &[])["runs"], 2);
    impact()
        .arg("statement")
        .arg(logs.path())
        .assert()
        .code(0)
        .stderr(predicate::str::contains(format!(
            "left out: {}: the same run as {}",
            copy.display(),
            first.display()
        )));
}

#[test]
fn two_runs_that_followed_one_process_count_it_once() {
    let logs = tempfile::tempdir().unwrap();
    let followed = json!({ "pid": 7, "started_ticks": 1234 });
    hour("x")
        .with("followed", followed.clone())
        .write(&logs.path().join("a"));
    let mut later = hour("y")
        .with("followed", followed)
        .with("started", "2023-11-14T22:23:20+00:00");
    later.start += 600.0;
    later.write(&logs.path().join("b"));
    // 3600 s of the first and the 600 s after it.
    is_near(joules(logs.path()), 420_000.0);
}

#[test]
fn short_runs_of_one_process_after_each_other_count_both() {
    let logs = tempfile::tempdir().unwrap();
    let followed = json!({ "pid": 7, "started_ticks": 1234 });
    hour("x")
        .with("followed", followed.clone())
        .with("ended", "2023-11-14T23:13:20+00:00")
        .write(&logs.path().join("a"));
    // A tenth of a second after the end of the first.
    let mut next = hour("y")
        .between(1_700_003_600.1, 0.5)
        .with("followed", followed)
        .with("started", "2023-11-14T23:13:20.1+00:00")
        .with("ended", "2023-11-14T23:13:20.6+00:00");
    next.step = 0.5;
    next.write(&logs.path().join("b"));
    is_near(joules(logs.path()), 360_000.0 + 50.0);
}

#[test]
fn containers_of_one_machine_are_merged_as_one_node() {
    let all = tempfile::tempdir().unwrap();
    let (logs, merged) = (all.path().join("logs"), all.path().join("merged"));
    for name in ["container-a", "container-b"] {
        let mut run = hour(name).on(name, "boot-1");
        run.watts = [("package-0".to_owned(), (100.0, 60.0))].into();
        run.write(&logs.join(name));
    }
    impact()
        .arg("merge")
        .arg(&logs)
        .arg("--output")
        .arg(&merged)
        .assert()
        .success()
        .stdout(predicate::str::contains("2 runs on 1 node"));
    is_near(joules(&merged), 360_000.0);
}
