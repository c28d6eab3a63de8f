//! `impact track --live`: the grid's intensity with each sample, and the job none the slower for it.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use assert_cmd::assert::OutputAssertExt;
use assert_cmd::cargo::CommandCargoExt;
use predicates::str::contains;
use tempfile::TempDir;

use super::server::{Reply, Server};

/// Goes on until the log it is part of knows an intensity, or for ten seconds.
const JOB: &str = "i=0; until grep -q realtime_carbon_intensity \"$0\" || [ $i = 200 ]; do \
                   i=$((i+1)); sleep 0.05; done";

fn track(url: &str, folder: &TempDir, more: &[&str], job: &str) -> Command {
    let mut command = Command::cargo_bin("impact").unwrap();
    command
        .env_remove("IMPACT_ZONE")
        .env("XDG_CACHE_HOME", folder.path().join("cache"))
        .env("IMPACT_UK_URL", url)
        .args(["track", "--quiet", "--live", "--interval", "50ms", "--out"])
        .arg(folder.path().join("run"))
        .args(more)
        .args(["--", "sh", "-c", job])
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
    track(&server.url, &folder, &["--zone", "GB"], JOB)
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
    assert_eq!(info["realtime_source"], "UK Carbon Intensity API (direct)");
}

#[test]
fn a_grid_that_does_not_answer_is_replaced_by_the_table_and_that_is_said() {
    let server = Server::start(|_| Reply::Body(503, String::new()));
    let folder = TempDir::new().unwrap();
    track(&server.url, &folder, &["--zone", "GB"], JOB)
        .assert()
        .success();
    let info = fs::read_to_string(folder.path().join("run/impacttracker/info.json")).unwrap();
    assert!(info.contains("HTTP status 503"), "{info}");
}

/// A thread that asks the grid and does not hold signals back would die of this one, and we with it.
#[test]
fn a_signal_reaches_the_job_while_the_grid_is_asked() {
    let server = Server::start(|_| Reply::Silence);
    let folder = TempDir::new().unwrap();
    let job = "trap 'exit 42' TERM; i=0; while [ $i -lt 200 ]; do i=$((i+1)); sleep 0.05; done";
    let mut tracker = track(&server.url, &folder, &["--zone", "GB"], job)
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let data = folder.path().join("run/impacttracker/data.json");
    let has_begun = || fs::read_to_string(&data).is_ok_and(|lines| lines.lines().count() > 2);
    let began = Instant::now();
    while server.seen().is_empty() || !has_begun() {
        assert!(began.elapsed() < Duration::from_secs(10), "nobody asked");
        thread::sleep(Duration::from_millis(5));
    }
    let sent = Command::new("kill").arg(tracker.id().to_string()).status();
    assert!(sent.unwrap().success());
    assert_eq!(tracker.wait().unwrap().code(), Some(42));
}

#[test]
fn without_a_place_there_is_no_grid_to_ask() {
    let folder = TempDir::new().unwrap();
    track("http://127.0.0.1:9", &folder, &[], JOB)
        .env("IMPACT_SYSFS_ROOT", folder.path())
        .env("IMPACT_RUN_ROOT", folder.path())
        .assert()
        .code(125)
        .stderr(contains("--live needs to know where the run takes place"));
}
