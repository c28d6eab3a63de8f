//! `impact track --live`: the grid's intensity with each sample, and the job none the slower for it.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use assert_cmd::assert::OutputAssertExt;
use predicates::str::contains;
use tempfile::TempDir;

use crate::support::{IMPACT, Machine, program};

use super::server::{Reply, Server};

/// Goes on until the log it is part of knows an intensity, or for ten seconds.
const JOB: &str = "i=0; until grep -q realtime_carbon_intensity \"$0\" || [ $i = 200 ]; do \
                   i=$((i+1)); sleep 0.05; done";

fn track(url: &str, folder: &TempDir, more: &[&str], job: &str) -> Command {
    let mut command = program(IMPACT);
    command
        .env("XDG_CACHE_HOME", folder.path().join("cache"))
        .env("IMPACT_UK_URL", url)
        .args(["track", "--quiet", "--live", "--interval", "50ms", "--out"])
        .arg(folder.path().join("run"))
        .args(more)
        .args(["--", "sh", "-c", job])
        .arg(folder.path().join("run/impacttracker/data.json"));
    command
}

/// `impact track --live` in Great Britain, on a machine with meters of its own.
fn track_on(machine: &Machine, url: &str) -> Command {
    let mut command = machine.impact();
    command
        .env("XDG_CACHE_HOME", machine.path("cache"))
        .env("IMPACT_UK_URL", url)
        .args([
            "track",
            "--live",
            "--interval",
            "50ms",
            "--zone",
            "GB",
            "--out",
            "log",
        ]);
    command
}

/// The service's answer for this very time.
fn current_intensity(grams: u32) -> Reply {
    let now = chrono::Utc::now().format("%Y-%m-%dT%H:%MZ");
    Reply::Body(
        200,
        format!(
            "{{\"data\":[{{\"from\":\"{now}\",\"to\":\"{now}\",\"intensity\":{{\"forecast\":{grams},\"actual\":{grams}}}}}]}}"
        ),
    )
}

#[test]
fn each_sample_carries_what_the_grid_says() {
    let server = Server::start(|_| current_intensity(77));
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
    let source = r#""realtime_source":[{"source":"UK Carbon Intensity API","basis":"direct","mix":"consumption"}]"#;
    assert!(data.contains(source), "{data}");
    let info: serde_json::Value =
        serde_json::from_slice(&fs::read(log.join("info.json")).unwrap()).unwrap();
    assert_eq!(
        info["realtime_source"],
        serde_json::json!([{"source": "UK Carbon Intensity API", "basis": "direct", "mix": "consumption"}])
    );
}

/// The average of the zone is more than twice what this grid says, so that the two cannot be mixed up.
#[test]
fn the_closing_table_gives_the_same_grams_as_the_report_and_the_statement() {
    let server = Server::start(|_| current_intensity(77));
    let machine = Machine::with_rapl();
    let counter = machine.counter("intel-rapl:0");
    let work = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
    let job = format!("{JOB}; {work}; echo 61000000 > {}", counter.display());
    let output = track_on(&machine, &server.url)
        .args(["--", "sh", "-c", &job, "log/impacttracker/data.json"])
        .output()
        .unwrap();
    let table = String::from_utf8_lossy(&output.stderr).into_owned();
    let figures = |command: &[&str]| -> serde_json::Value {
        let output = machine.impact().args(command).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let report = figures(&["report", "log", "--format", "json"]);
    let kg = report["total"]["estimated_carbon_impact_kg"]
        .as_f64()
        .unwrap();
    assert!(kg > 1e-8, "the job moved the counter: {report}");
    let shown = table
        .split_once("CO2eq: ")
        .and_then(|(_, rest)| rest.split_once(" in GB at 77 g/kWh"));
    let (shown, _) = shown.unwrap_or_else(|| panic!("{table}"));
    let (digits, unit) = shown.split_once(' ').unwrap();
    let per_kg = match unit {
        "µg" => 1e9,
        "mg" => 1e6,
        "g" => 1e3,
        other => panic!("{other}"),
    };
    let shown = digits.parse::<f64>().unwrap() / per_kg;
    assert!((shown / kg - 1.0).abs() < 5e-4, "{kg} kg: {table}");
    let statement = figures(&["statement", "log", "--format", "json"]);
    assert_eq!(
        statement["estimated_carbon_impact_kg"],
        report["total"]["estimated_carbon_impact_kg"]
    );
}

#[test]
fn a_grid_that_does_not_answer_is_replaced_by_the_table_and_that_is_said() {
    let server = Server::start(|_| Reply::Body(503, String::new()));
    let folder = TempDir::new().unwrap();
    let job = "i=0; until grep -q 503 \"${0%data.json}impact_tracker_log.log\" || [ $i = 200 ]; do \
               i=$((i+1)); sleep 0.05; done; sleep 0.1";
    track(&server.url, &folder, &["--zone", "GB"], job)
        .assert()
        .success();
    let info = fs::read_to_string(folder.path().join("run/impacttracker/info.json")).unwrap();
    assert!(info.contains("HTTP status 503"), "{info}");
    // The table's average is in the description of the region, and no sample has it as if it was of this hour.
    assert!(info.contains("\"carbon_intensity\""), "{info}");
    assert!(!info.contains("realtime_source"), "{info}");
    let data = fs::read_to_string(folder.path().join("run/impacttracker/data.json")).unwrap();
    assert!(!data.contains("realtime_carbon_intensity"), "{data}");
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
