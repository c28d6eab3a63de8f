//! `impact grid` and `impact backfill` as a user runs them.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;

use crate::support;
use predicates::str::contains;
use tempfile::TempDir;

use super::server::{Reply, Server, closed_port};
use super::service::Service;

/// `impact` with no settings but these, and a cache of its own.
fn impact(home: &Path, uk: &str) -> Command {
    let mut command = support::impact();
    command.env("XDG_CACHE_HOME", home).env("IMPACT_UK_URL", uk);
    command
}

fn uk() -> Server {
    Server::start(Service::named("uk").good)
}

const PERIOD: [&str; 4] = ["--from", "2026-03-01", "--to", "2026-03-01T01:00"];

#[test]
fn grid_prints_the_series_and_who_declined() {
    let (home, server) = (TempDir::new().unwrap(), uk());
    impact(home.path(), &server.url)
        .args(["grid", "GB"])
        .args(PERIOD)
        .assert()
        .success()
        .stdout(contains("GB  2026-03-01 00:00 to 2026-03-01 01:00 UTC"))
        .stdout(contains(
            "mean     145.0 g CO2eq/kWh (2 values, direct, consumption mix)",
        ))
        .stdout(contains("lowest   142.0 at 2026-03-01 00:00"))
        .stdout(contains("█"))
        .stdout(contains("source   UK Carbon Intensity API"))
        .stdout(contains(
            "declined electricitymaps: no token: set ELECTRICITYMAPS_TOKEN",
        ));
}

#[test]
fn grid_speaks_json_and_csv() {
    let (home, server) = (TempDir::new().unwrap(), uk());
    let json = impact(home.path(), &server.url)
        .args(["grid", "GB", "--format", "json"])
        .args(PERIOD)
        .output()
        .unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["schema"], "impact-grid/1");
    assert_eq!(json["provider"], "uk");
    assert_eq!(json["series"]["basis"], "direct");
    assert_eq!(json["series"]["resolution_s"], 1800);
    assert_eq!(json["series"]["points"][0]["at"], "2026-03-01T00:00:00Z");
    assert_eq!(json["series"]["points"][0]["carbon_intensity"], 142.0);
    assert_eq!(json["declined"][0]["provider"], "electricitymaps");
    impact(home.path(), &server.url)
        .args(["grid", "GB", "--format", "csv"])
        .args(PERIOD)
        .assert()
        .success()
        .stdout(contains(
            "GB,2026-03-01T00:00:00+00:00,142,\"direct, consumption mix\",UK Carbon Intensity API\n",
        ));
}

#[test]
fn grid_falls_back_to_the_table_and_says_so() {
    let home = TempDir::new().unwrap();
    impact(home.path(), &closed_port())
        .args(["grid", "GB"])
        .args(PERIOD)
        .assert()
        .success()
        .stdout(contains("average of 2025"))
        .stdout(contains("declined uk: it cannot be reached"));
}

#[test]
fn grid_asks_nobody_for_the_table() {
    let (home, server) = (TempDir::new().unwrap(), uk());
    impact(home.path(), &server.url)
        .args(["grid", "GB", "--provider", "table"])
        .assert()
        .success();
    assert!(server.seen().is_empty());
}

#[test]
fn grid_suggests_zones_for_one_that_is_in_no_table() {
    let home = TempDir::new().unwrap();
    impact(home.path(), &closed_port())
        .args(["grid", "Germny"])
        .assert()
        .code(1)
        .stderr("error: no zone is called GERMNY; the nearest is DE (Germany)\ntry: impact region --all\n");
}

#[test]
fn grid_with_one_provider_fails_when_it_declines() {
    let home = TempDir::new().unwrap();
    impact(home.path(), &closed_port())
        .args(["grid", "GB", "--provider", "uk"])
        .assert()
        .code(1)
        .stderr(contains("no provider has the carbon intensity of GB"))
        .stderr(contains("uk: it cannot be reached"));
    impact(home.path(), &closed_port())
        .args(["grid", "GB-3"])
        .assert()
        .code(1)
        .stderr(contains(
            "try: impact grid GB, which the yearly table knows",
        ));
    impact(home.path(), &closed_port())
        .args(["estimate", "--memory", "64", "--hours", "1"])
        .args(["--zone", "GB", "--when"])
        .assert()
        .code(1)
        .stderr(contains("uk: it cannot be reached"))
        .stderr(contains("try: again when the service can be reached"));
    impact(home.path(), &closed_port())
        .args(["backfill", "nosuch"])
        .assert()
        .code(1)
        .stderr(contains("nosuch is not a directory"));
    impact(home.path(), &closed_port())
        .args(["grid", "GB", "--provider", "oracle"])
        .assert()
        .code(2)
        .stderr(contains("electricitymaps, uk, denmark"));
}

#[test]
fn region_asks_where_the_network_address_is_only_when_told_to() {
    let home = TempDir::new().unwrap();
    let server = Server::start(|_| {
        let body = r#"{"latitude":"37.4275","longitude":"-122.1697","city":"Stan\u001bford"}"#;
        Reply::Body(200, body.into())
    });
    let region = |url: &str| {
        let mut command = impact(home.path(), url);
        command
            .env("IMPACT_GEOLOCATION_URL", url)
            .args(["region", "--ip"]);
        command.assert()
    };
    let answer = region(&server.url).success().stdout(contains("US-CA"));
    let shown = String::from_utf8_lossy(&answer.get_output().stdout).into_owned();
    assert!(!shown.contains("Stan\u{1b}"), "{shown}");
    region(&closed_port())
        .code(1)
        .stderr(contains("it cannot be reached"))
        .stderr(contains("try: --address or --zone"));
}

const DATA: &str = concat!(
    "{\"schema\":1,\"timestamp\":1772323200.25,\"elapsed\":0.0, \"energy\":{} , \"new\":[1.0]}\n",
    "{\"schema\":1,\"timestamp\":1772325060.5,\"elapsed\":1.0,\"energy\":{},\"realtime_carbon_intensity\":99}\n",
    "{\"schema\":1,\"timestamp\":1772325070.5,\"elapsed\":2.0,\"energy\":{}}\n",
    "torn {"
);
const INFO: &str = "{\n  \"schema\": 1,\n  \"ended\": \"2026-03-01T00:31:20+00:00\",\n  \"region\": {\"zone\": \"GB\"},\n  \"kept\": [1, 2]\n}\n";

struct Run {
    root: TempDir,
    folder: PathBuf,
}

impl Run {
    fn new(info: &str) -> Self {
        let root = TempDir::new().unwrap();
        let folder = root.path().join("run-1/impacttracker");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("data.json"), DATA).unwrap();
        fs::write(folder.join("info.json"), info).unwrap();
        Self { root, folder }
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.folder.join(file)).unwrap()
    }

    fn backfill(&self, url: &str, more: &[&str]) -> assert_cmd::assert::Assert {
        let home = TempDir::new().unwrap();
        impact(home.path(), url)
            .arg("backfill")
            .arg(self.root.path())
            .args(more)
            .assert()
    }
}

const BY_UK: &str = ",\"realtime_source\":[{\"source\":\"UK Carbon Intensity API\",\"basis\":\"direct\",\"mix\":\"consumption\"}]";

fn filled() -> String {
    let filled = |grams: u32| format!(",\"realtime_carbon_intensity\":{grams}{BY_UK}}}");
    DATA.replace("[1.0]}", &format!("[1.0]{}", filled(142)))
        .replace(
            "2.0,\"energy\":{}}",
            &format!("2.0,\"energy\":{{}}{}", filled(148)),
        )
}

#[test]
fn backfill_writes_history_into_the_samples_and_keeps_every_other_byte() {
    let (run, server) = (Run::new(INFO), uk());
    run.backfill(&server.url, &[])
        .success()
        .stdout(contains("filled 2 samples"))
        .stdout(contains(
            "from UK Carbon Intensity API (direct, consumption mix)",
        ));
    assert_eq!(run.read("data.json"), filled());
    let info = run.read("info.json");
    assert!(info.starts_with(INFO.trim_end().trim_end_matches('}').trim_end()));
    assert!(info.contains("impact backfill: carbon intensity of 2 samples from UK Carbon"));
    run.backfill(&server.url, &[])
        .success()
        .stdout(contains("nothing to fill in"));
    assert_eq!(run.read("info.json"), info);
    assert_eq!(fs::read_dir(&run.folder).unwrap().count(), 2);
}

#[test]
fn a_dry_run_changes_nothing() {
    let (run, server) = (Run::new(INFO), uk());
    run.backfill(&server.url, &["--dry-run"])
        .success()
        .stdout(contains("would fill 2 samples"));
    assert_eq!(run.read("data.json"), DATA);
    assert_eq!(run.read("info.json"), INFO);
}

#[test]
fn recorded_intensities_are_replaced_only_by_force() {
    let (run, server) = (Run::new(INFO), uk());
    run.backfill(&server.url, &["--force"])
        .success()
        .stdout(contains("filled 3 samples"));
    assert_eq!(
        run.read("data.json"),
        filled().replace("intensity\":99", &format!("intensity\":148{BY_UK}"))
    );
}

#[test]
fn a_run_nobody_answers_for_is_left_out_unchanged() {
    for reply in [
        Reply::Body(429, String::new()),
        Reply::Body(200, "<html>".into()),
        Reply::Body(200, "{\"data\":[]}".into()),
    ] {
        let run = Run::new(INFO);
        let server = Server::start(move |_| reply.clone());
        run.backfill(&server.url, &[])
            .code(1)
            .stderr(contains("left out"))
            .stderr(contains("uk: it"));
        assert_eq!(run.read("data.json"), DATA);
        assert_eq!(run.read("info.json"), INFO);
    }
}

#[test]
fn a_run_that_does_not_say_where_it_ran_needs_a_zone() {
    let server = uk();
    let run = Run::new(&INFO.replace("region", "place"));
    run.backfill(&server.url, &[])
        .code(1)
        .stderr(contains("--zone"));
    run.backfill(&server.url, &["--zone", "GB"]).success();
    assert_eq!(run.read("data.json"), filled());
}

#[test]
fn a_run_that_is_still_going_on_is_left_alone() {
    let (run, server) = (Run::new(&INFO.replace("ended", "expected")), uk());
    run.backfill(&server.url, &[])
        .code(1)
        .stderr(contains("still being written"));
    assert_eq!(run.read("data.json"), DATA);
}

#[test]
fn a_killed_or_foreign_run_is_filled_once_it_rests() {
    let (run, server) = (Run::new(INFO), uk());
    fs::remove_file(run.folder.join("info.json")).unwrap();
    let data = fs::File::options()
        .append(true)
        .open(run.folder.join("data.json"))
        .unwrap();
    let an_hour_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    data.set_modified(an_hour_ago).unwrap();
    run.backfill(&server.url, &["--zone", "GB"]).success();
    assert_eq!(run.read("data.json"), filled());
    assert!(!run.folder.join("info.json").exists());
    assert!(run.read("impact_tracker_log.log").contains(
        "carbon intensity of 2 samples from UK Carbon Intensity API (direct, consumption mix)"
    ));
}

#[test]
fn times_that_cannot_be_are_refused_without_a_panic() {
    let (home, server) = (TempDir::new().unwrap(), uk());
    for to in ["+262142-12-31", "-262143-01-01", "0001-01-01"] {
        impact(home.path(), &server.url)
            .args(["grid", "GB", &format!("--to={to}")])
            .assert()
            .code(2)
            .stderr(contains("must run forwards"));
    }
    let run = Run::new(INFO);
    for timestamp in ["8210266876799.5", "-1e300", "1e15", "0"] {
        let data = DATA.replace("1772325070.5", timestamp);
        fs::write(run.folder.join("data.json"), &data).unwrap();
        run.backfill(&server.url, &[]).code(1);
        assert_eq!(run.read("data.json"), data);
    }
}
