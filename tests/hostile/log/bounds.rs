//! Files that are no logs, or too large for one, are refused at once.

use std::fs;
use std::process::Command;
use std::time::Duration;

use predicates::prelude::*;

use crate::support::{LegacyRun, Run, impact};

#[test]
fn a_pipe_in_place_of_the_samples_is_refused_by_every_reader() {
    let logs = tempfile::tempdir().unwrap();
    let run = Run::default().write(&logs.path().join("run"));
    LegacyRun::default().write(&logs.path().join("good"));
    let data = run.join("impacttracker/data.json");
    fs::remove_file(&data).unwrap();
    assert!(
        Command::new("mkfifo")
            .arg(&data)
            .status()
            .unwrap()
            .success()
    );
    for command in ["statement", "report", "list", "backfill"] {
        impact()
            .arg(command)
            .arg(logs.path())
            .timeout(Duration::from_secs(10))
            .assert()
            .stderr(predicate::str::contains("not a regular file"));
    }
}

#[test]
fn an_info_file_of_more_than_four_megabytes_is_refused() {
    let logs = tempfile::tempdir().unwrap();
    let run = Run::default().write(&logs.path().join("run"));
    Run::default().write(&logs.path().join("good"));
    let name = "x".repeat(5 << 20);
    fs::write(
        run.join("impacttracker/info.json"),
        format!("{{\"schema\":2,\"name\":\"{name}\"}}"),
    )
    .unwrap();
    impact()
        .arg("statement")
        .arg(logs.path())
        .assert()
        .code(3)
        .stderr(predicate::str::contains("larger than an info file can be"));
}

#[test]
fn a_file_of_terabytes_of_nothing_is_refused_by_every_reader() {
    for (bytes, words) in [
        (1 << 41, "larger than 64 GB"),
        (1 << 35, "more than 64 MB of it are no lines of a log"),
    ] {
        let logs = tempfile::tempdir().unwrap();
        let run = Run::default().write(&logs.path().join("run"));
        Run::default()
            .with("id", "good")
            .write(&logs.path().join("good"));
        let data = fs::File::options()
            .append(true)
            .open(run.join("impacttracker/data.json"))
            .unwrap();
        data.set_len(bytes).unwrap();
        for command in ["statement", "report", "list", "backfill"] {
            impact()
                .arg(command)
                .arg(logs.path())
                .timeout(Duration::from_secs(30))
                .assert()
                .stderr(predicate::str::contains(words));
        }
    }
}
