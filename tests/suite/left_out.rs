//! What `impact statement` leaves out, and how it says so.

use std::fs;

use crate::support::receipt::json;
use crate::support::{LegacyRun, Run, impact};
use predicates::prelude::*;

#[test]
fn broken_runs_are_named_counted_and_told_by_the_exit_code() {
    let logs = tempfile::tempdir().unwrap();
    LegacyRun::default().write(&logs.path().join("good"));
    let empty = logs.path().join("empty/impacttracker");
    fs::create_dir_all(&empty).unwrap();
    fs::write(empty.join("data.json"), "").unwrap();
    let newer = Run::default().write(&logs.path().join("newer"));
    let data = newer.join("impacttracker/data.json");
    let text = fs::read_to_string(&data)
        .unwrap()
        .replace("\"schema\":1", "\"schema\":99");
    fs::write(&data, text).unwrap();
    fs::create_dir_all(logs.path().join("hollow/impacttracker")).unwrap();
    impact()
        .arg("statement")
        .arg(logs.path())
        .arg("USA")
        .assert()
        .code(3)
        .stdout(predicate::str::contains("3 of 4 runs could not be read"))
        .stderr(
            predicate::str::contains("empty: ")
                .and(predicate::str::contains("holds no sample"))
                .and(predicate::str::contains("schema 99"))
                .and(predicate::str::contains("hollow")),
        );
    impact()
        .arg("statement")
        .arg(logs.path())
        .args(["USA", "--strict"])
        .assert()
        .code(1)
        .stderr(predicate::str::contains("error: 3 logs were left out"));
    impact()
        .arg("statement")
        .arg(logs.path().join("empty"))
        .arg("USA")
        .assert()
        .code(1)
        .stderr(predicate::str::contains("error: no usable run"));
}

#[test]
fn a_hostile_pickle_only_costs_its_own_run() {
    let logs = tempfile::tempdir().unwrap();
    LegacyRun::default().write(&logs.path().join("good"));
    let bad = LegacyRun::default().write(&logs.path().join("bad"));
    fs::write(
        bad.join("impacttracker/info.pkl"),
        b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x0f",
    )
    .unwrap();
    impact()
        .arg("statement")
        .arg(logs.path())
        .arg("USA")
        .assert()
        .code(3)
        .stderr(predicate::str::contains(
            "info.pkl is not a pickle we can read",
        ));
}

#[test]
fn the_same_run_under_two_roots_counts_once() {
    let logs = tempfile::tempdir().unwrap();
    let run = LegacyRun::default().write(&logs.path().join("run"));
    let receipt = json(&[logs.path(), &run, &run.join("impacttracker")], &["USA"]);
    assert_eq!(receipt["runs"], 1);
}

#[test]
fn a_copy_of_a_run_is_left_out_and_named() {
    let logs = tempfile::tempdir().unwrap();
    let [run, copy] = ["a", "b"].map(|name| Run::default().write(&logs.path().join(name)));
    // Logs of the other tracker have no id, so two runs differ only by what they recorded.
    for (name, watts) in [("c", 0.0), ("d", 1.0)] {
        let mut run = LegacyRun::default();
        run.rows[0].1 += watts;
        run.write(&logs.path().join(name));
    }
    fs::copy(
        run.join("impacttracker/info.json"),
        copy.join("impacttracker/info.json"),
    )
    .unwrap();
    for threads in ["1", "4"] {
        impact()
            .env("RAYON_NUM_THREADS", threads)
            .arg("statement")
            .arg(logs.path())
            .arg("--strict")
            .assert()
            .success()
            .stdout(
                predicate::str::contains("We tracked 3 runs")
                    .and(predicate::str::contains("could not be read").not()),
            )
            .stderr(format!(
                "left out: {}: the same run as {}\n",
                copy.display(),
                run.display()
            ));
    }
}
