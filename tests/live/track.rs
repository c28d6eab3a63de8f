//! `impact track --live`: the grid's intensity with each sample, and the job none the slower for it.

use std::fs;

use assert_cmd::Command;
use predicates::str::contains;
use tempfile::TempDir;

use crate::server::{Reply, Server};

/// Goes on until the log it is part of knows an intensity, or for ten seconds.
const JOB: &str = "i=0; until grep -q realtime_carbon_intensity \"$0\" || [ $i = 200 ]; do \
                   i=$((i+1)); sleep 0.05; done";

fn track(url: &str, folder: &TempDir, more: &[&str]) -> Command {
    let mut command = Command::cargo_bin("impact").unwrap();
    command
        .env_remove("IMPACT_ZONE")
        .env("XDG_CACHE_HOME", folder.path().join("cache"))
        .env("IMPACT_UK_URL", url)
        .args(["track", "--quiet", "--live", "--interval", "50ms", "--out"])
        .arg(folder.path().join("run"))
        .args(more)
        .args(["--", "sh", "-c", JOB])
        .arg(folder.path().join("run/impacttracker/data.json"));
    command
}

#[test]
fn each_sample_carries_what_the_grid_says() {
    let server = Server::start(|_| {
        let now = chrono::Utc::now().format("%Y-%m-%dT%H:%MZ");
        Reply::Body(
            200,
            format!(
                "{{\"data\":[{{\"from\":\"{now}\",\"to\":\"{now}\",\"intensity\":{{\"forecast\":77,\"actual\":77}}}}]}}"
            ),
        )
    });
    let folder = TempDir::new().unwrap();
    track(&server.url, &folder, &["--zone", "GB"])
        .assert()
        .success();
    let log = folder.path().join("run/impacttracker");
    let data = fs::read_to_string(log.join("data.json")).unwrap();
    assert!(
        data.contains("\"realtime_carbon_intensity\":77.0"),
        "{data}"
    );
    let info: serde_json::Value =
        serde_json::from_slice(&fs::read(log.join("info.json")).unwrap()).unwrap();
    assert_eq!(info["realtime_source"], "UK Carbon Intensity API");
}

#[test]
fn a_grid_that_does_not_answer_is_replaced_by_the_table_and_that_is_said() {
    let server = Server::start(|_| Reply::Body(503, String::new()));
    let folder = TempDir::new().unwrap();
    track(&server.url, &folder, &["--zone", "GB"])
        .assert()
        .success();
    let info = fs::read_to_string(folder.path().join("run/impacttracker/info.json")).unwrap();
    assert!(info.contains("HTTP status 503"), "{info}");
}

#[test]
fn without_a_place_there_is_no_grid_to_ask() {
    let folder = TempDir::new().unwrap();
    track("http://127.0.0.1:9", &folder, &[])
        .env("IMPACT_SYSFS_ROOT", folder.path())
        .env("IMPACT_RUN_ROOT", folder.path())
        .assert()
        .code(125)
        .stderr(contains("--live needs to know where the run takes place"));
}
