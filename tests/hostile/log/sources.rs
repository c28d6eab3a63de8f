//! No carbon intensity is said to be of a source that it is not of.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use predicates::prelude::*;
use serde_json::json;

use crate::live::server::Server;
use crate::live::service::Service;
use crate::support::receipt::json as receipt;
use crate::support::{LegacyRun, Run, impact};

/// 2026-03-01 00:00 UTC, of which the UK service's stored answer tells.
const START: f64 = 1_772_323_200.0;

/// Two seconds of 100 W in Great Britain; `intensity` is written into every sample.
fn run_with(folder: &Path, intensity: Option<f64>, source: serde_json::Value) -> PathBuf {
    let mut run = Run::of_watts(100.0)
        .in_zone("GB")
        .with("started", "2026-03-01T00:00:00+00:00")
        .with("ended", "2026-03-01T00:00:02+00:00")
        .between(START, 2.0);
    run.step = 1.0;
    if !source.is_null() {
        run = run.with("realtime_source", source);
    }
    let run = run.write(folder);
    let data = run.join("impacttracker/data.json");
    if let Some(grams) = intensity {
        let text = fs::read_to_string(&data).unwrap();
        let field = format!(",\"realtime_carbon_intensity\":{grams}}}\n");
        fs::write(&data, text.replace("}\n", &field)).unwrap();
    }
    run
}

fn backfill(logs: &Path) -> assert_cmd::assert::Assert {
    let server = Server::start(Service::named("uk").good);
    let cache = tempfile::tempdir().unwrap();
    impact()
        .env("XDG_CACHE_HOME", cache.path())
        .env("IMPACT_UK_URL", &server.url)
        .args(["backfill", "--zone", "GB"])
        .arg(logs)
        .assert()
}

fn sources(logs: &Path) -> String {
    receipt(&[logs], &[])["sources"].to_string()
}

#[test]
fn an_average_that_was_written_as_if_it_was_of_the_hour_is_replaced_by_backfill() {
    let logs = tempfile::tempdir().unwrap();
    let average = json!([{ "source": "a table", "year": 2024, "basis": "life_cycle" }]);
    let run = run_with(&logs.path().join("run"), Some(250.0), average);
    backfill(logs.path())
        .success()
        .stdout(predicate::str::contains("filled 3 samples"));
    let data = fs::read_to_string(run.join("impacttracker/data.json")).unwrap();
    assert!(
        !data.contains(":250.0") && !data.contains(":250}"),
        "{data}"
    );
    let sources = sources(logs.path());
    assert!(sources.contains("UK Carbon Intensity API"), "{sources}");
    assert!(!sources.contains("a table"), "{sources}");
}

#[test]
fn backfill_does_not_claim_its_source_for_values_that_were_there() {
    let logs = tempfile::tempdir().unwrap();
    let run = run_with(&logs.path().join("run"), Some(99.0), json!(null));
    let data = run.join("impacttracker/data.json");
    let text = fs::read_to_string(&data).unwrap();
    fs::write(&data, text.replacen(":99}", ":null}", 1)).unwrap();
    backfill(logs.path())
        .success()
        .stdout(predicate::str::contains("filled 1 sample "));
    let sources = sources(logs.path());
    assert!(sources.contains("UK Carbon Intensity API"), "{sources}");
    assert!(sources.contains("the log does not name"), "{sources}");
}

#[test]
fn a_backfill_that_is_killed_before_its_note_leaves_every_value_with_its_source() {
    let logs = tempfile::tempdir().unwrap();
    let run = run_with(&logs.path().join("run"), None, json!(null));
    let info = run.join("impacttracker/info.json");
    let before = fs::read(&info).unwrap();
    backfill(logs.path()).success();
    // The samples were replaced, and then the process was killed.
    fs::write(&info, before).unwrap();
    let sources = sources(logs.path());
    assert!(sources.contains("UK Carbon Intensity API"), "{sources}");
}

#[test]
fn a_filled_foreign_log_names_the_source_of_its_intensities() {
    let logs = tempfile::tempdir().unwrap();
    let run = LegacyRun::default().write(&logs.path().join("run"));
    let data = run.join("impacttracker/data.json");
    let text = fs::read_to_string(&data).unwrap();
    let mut text = text.replace("200.0", "\"n/a\"");
    for second in [10, 20, 30] {
        text = text.replace(
            &format!("\"timestamp\":{}", 1_572_548_400 + second),
            &format!("\"timestamp\":{}", START as u64 + second),
        );
    }
    fs::write(&data, text).unwrap();
    // A log without an end is filled once nobody writes to it.
    let an_hour_ago = SystemTime::now() - Duration::from_secs(3600);
    let file = fs::File::options().append(true).open(&data).unwrap();
    file.set_modified(an_hour_ago).unwrap();
    backfill(logs.path()).success();
    let sources = sources(logs.path());
    assert!(sources.contains("UK Carbon Intensity API"), "{sources}");
}
