//! The words of `impact statement`, and where they go.

use std::fs;
use std::path::Path;

use crate::support::receipt::json;
use crate::support::{LegacyRun, Run, impact};
use predicates::prelude::*;
use serde_json::Value;

#[test]
fn estimated_energy_is_called_estimated() {
    let logs = tempfile::tempdir().unwrap();
    let method = serde_json::json!({ "method": "estimated", "model": "TDP x load" });
    Run {
        method,
        ..Run::default()
    }
    .write(&logs.path().join("run"));
    let text = said(logs.path(), &[]);
    assert!(
        text.contains("0 % was measured by sensors and 100 % was estimated (TDP x load)"),
        "{text}"
    );
}

#[test]
fn what_is_missing_is_told_also_where_no_energy_was_used() {
    let logs = tempfile::tempdir().unwrap();
    let mut run = Run::of_watts(0.0);
    let why = "the driver did not answer";
    run.info["sensors"] = serde_json::json!([
        { "component": "gpu:nvidia", "source": "NVML", "method": "absent", "why": why }
    ]);
    run.write(&logs.path().join("run"));
    let text = said(logs.path(), &[]);
    assert!(text.contains("no energy use at all"), "{text}");
    assert!(
        text.contains("the GPUs (the driver did not answer)"),
        "{text}"
    );
}

#[test]
fn a_country_is_a_code_or_a_name_and_a_wrong_one_gets_the_nearest() {
    let logs = tempfile::tempdir().unwrap();
    LegacyRun::default().write(&logs.path().join("run"));
    for country in ["DEU", "de", "Germany"] {
        let receipt = json(&[logs.path()], &[country]);
        assert_eq!(receipt["social_cost_usd"]["country"], "DEU");
    }
    impact()
        .arg("statement")
        .arg(logs.path())
        .arg("UAS")
        .assert()
        .code(1)
        .stderr(
            predicate::str::contains("USA (United States)").and(predicate::str::contains("try: ")),
        );
    impact()
        .arg("statement")
        .arg(logs.path())
        .arg("US-CA")
        .assert()
        .code(1)
        .stderr(predicate::str::contains("try: --zone US-CA"));
}

#[test]
fn a_negative_social_cost_is_explained() {
    let logs = tempfile::tempdir().unwrap();
    LegacyRun::default().write(&logs.path().join("run"));
    let text = said(logs.path(), &["CAN"]);
    assert!(
        text.contains("The cost is negative because temperatures in this country today lie below"),
        "{text}"
    );
}

#[test]
fn a_file_is_never_overwritten_silently_and_its_ending_tells_the_format() {
    let logs = tempfile::tempdir().unwrap();
    LegacyRun::default().write(&logs.path().join("run"));
    let out = tempfile::tempdir().unwrap();
    let file = out.path().join("statement.md");
    let write = |more: &[&str]| {
        let mut command = impact();
        command
            .arg("statement")
            .arg(logs.path())
            .arg("USA")
            .arg("--output")
            .arg(&file)
            .args(more);
        command.assert()
    };
    write(&[]).success();
    assert!(
        fs::read_to_string(&file)
            .unwrap()
            .starts_with("## Carbon impact statement")
    );
    fs::write(&file, "mine").unwrap();
    write(&[])
        .code(1)
        .stderr(predicate::str::contains("already there"));
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    write(&["--force"]).success();
    assert_ne!(fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn names_cannot_steer_a_terminal_or_a_page() {
    let logs = tempfile::tempdir().unwrap();
    let name = "a\u{1b}[2J\u{9b}2J\u{7f}\u{202e}<script>alert(1)</script>\\input{x}";
    LegacyRun::default().write(&logs.path().join(name.replace('/', "")));
    let broken = logs.path().join("broken\u{1b}]0;x\u{7}/impacttracker");
    fs::create_dir_all(broken).unwrap();
    for format in [
        "text",
        "markdown",
        "html",
        "latex",
        "json",
        "checklist",
        "model-card",
    ] {
        let mut command = impact();
        command
            .arg("statement")
            .arg(logs.path())
            .args(["USA", "--per-run", "--format", format]);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(3));
        let [text, told] =
            [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        for said in [&text, &told] {
            let steers = ['\u{1b}', '\u{9b}', '\u{7f}', '\u{202e}'];
            assert!(!said.contains(steers), "{format}: {said:?}");
        }
        if format != "json" && format != "text" {
            assert!(!text.contains("<script>"), "{format}");
        }
        if format == "latex" {
            assert!(!text.contains("\\input{"), "{text}");
        }
    }
}

fn said(logs: &Path, more: &[&str]) -> String {
    let output = impact()
        .args(["statement", "--detail"])
        .arg(logs)
        .args(more)
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_country_is_where_the_runs_took_place_only_as_far_as_that_is_known() {
    let logs = tempfile::tempdir().unwrap();
    let write = |name: &str, run: Run| run.write(&logs.path().join(name));
    write("known", Run::default());
    let text = said(logs.path(), &[]);
    assert!(
        text.contains("FRA (France), where the run took place,"),
        "{text}"
    );
    write("another", Run::default());
    let text = said(logs.path(), &[]);
    assert!(
        text.contains("FRA (France), where the runs took place,"),
        "{text}"
    );
    fs::remove_dir_all(logs.path().join("another")).unwrap();
    write("unknown", Run::default().without("region"));
    let text = said(logs.path(), &[]);
    assert!(
        text.contains("FRA (France), where 1 of 2 runs is known to have taken place,"),
        "{text}"
    );
    assert!(!said(logs.path(), &["FRA"]).contains("taken place"));
}

#[test]
fn a_pue_that_nobody_gave_is_called_assumed_and_only_the_energy_before_it_measured() {
    let logs = tempfile::tempdir().unwrap();
    Run::default().write(&logs.path().join("a"));
    let text = said(logs.path(), &[]);
    assert!(
        text.contains("included: PUE 1.54, a global average assumed here: Uptime Institute, Global Data Center Survey, 2025)"),
        "{text}"
    );
    assert!(
        text.contains(
            "Before the data-centre overhead the energy was 30.56 mWh, all of which was measured"
        ),
        "{text}"
    );
    Run::default()
        .with("pue", 1.1)
        .write(&logs.path().join("b"));
    let text = said(logs.path(), &[]);
    assert!(
        text.contains("PUE 1.1, as recorded; PUE 1.54, a global average assumed here: Uptime Institute, Global Data Center Survey, 2025)"),
        "{text}"
    );
    let receipt = json(&[logs.path()], &[]);
    assert_eq!(receipt["pue"], Value::Null);
    assert_eq!(receipt["pue_origins"][0]["origin"], "recorded");
    assert_eq!(receipt["pue_origins"][1]["origin"], "assumed");
}

#[test]
fn a_pue_of_a_cloud_provider_is_stated_as_its_figure_with_its_source() {
    let logs = tempfile::tempdir().unwrap();
    let region = serde_json::json!({
        "zone": "FR",
        "carbon_intensity": 50.0,
        "source": "a table",
        "how": "the cloud region; PUE by provider average in data/x.csv, 2022",
    });
    Run::default()
        .with("pue", 1.135)
        .with("region", region)
        .write(&logs.path().join("a"));
    let words = "the figure of the cloud provider and not of the building: \
                 provider average in data/x.csv, 2022)";
    let text = said(logs.path(), &[]);
    assert!(text.contains(&format!("PUE 1.135, {words}")), "{text}");
    let receipt = json(&[logs.path()], &[]);
    let origin = &receipt["pue_origins"][0];
    assert_eq!(origin["origin"], "provider");
    assert_eq!(origin["source"], "provider average in data/x.csv, 2022");
    impact()
        .arg("report")
        .arg(logs.path())
        .assert()
        .success()
        .stdout(predicates::str::contains(format!("PUE: 1.135 ({words}")));
}

#[test]
fn without_overhead_all_of_the_energy_is_the_measured_one() {
    let logs = tempfile::tempdir().unwrap();
    Run::default().write(&logs.path().join("a"));
    let text = said(logs.path(), &["--pue", "1"]);
    assert!(
        text.contains("(no data-centre overhead: PUE 1, as given)"),
        "{text}"
    );
    assert!(text.contains("All of this energy was measured"), "{text}");
}

#[test]
fn a_run_without_a_recorded_end_is_called_a_lower_bound() {
    let logs = tempfile::tempdir().unwrap();
    Run::default().write(&logs.path().join("whole"));
    let text = said(logs.path(), &[]);
    assert!(!text.contains("lower bound"), "{text}");
    let cut = Run::default().without("ended");
    let cut = cut.write(&logs.path().join("cut"));
    LegacyRun::default().write(&logs.path().join("legacy"));
    let data = logs.path().join("legacy/impacttracker/data.json");
    let samples = fs::read_to_string(&data).unwrap();
    fs::write(&data, format!("nonsense\n{samples}")).unwrap();
    let text = said(logs.path(), &[]);
    assert!(
        text.contains(
            "1 of 3 runs has no recorded end and counts up to its last sample, so that its energy \
             is a lower bound. 1 of 3 runs has lines in the log that could not be read."
        ),
        "{text}"
    );
    let receipt = json(&[logs.path()], &[]);
    assert_eq!(receipt["runs_without_end"], 1);
    impact()
        .arg("report")
        .arg(cut)
        .assert()
        .success()
        .stdout(predicate::str::contains(
            "note: no end was recorded; counted up to the last sample",
        ));
}

#[test]
fn a_zone_without_energy_has_no_intensity_to_speak_of() {
    let logs = tempfile::tempdir().unwrap();
    Run {
        watts: [("package-0".to_owned(), (0.0, 0.0))].into(),
        ..Run::default().in_zone("US-CA")
    }
    .write(&logs.path().join("idle"));
    Run::default().write(&logs.path().join("busy"));
    let text = said(logs.path(), &[]);
    assert!(
        !text.contains("US-CA") && text.contains("in zone FR"),
        "{text}"
    );
}

#[test]
fn a_zone_that_does_not_apply_to_all_runs_is_said_to() {
    let logs = tempfile::tempdir().unwrap();
    Run::default().write(&logs.path().join("a"));
    let with = |zone: &[&str]| {
        let mut command = impact();
        command
            .args(["statement", "--detail"])
            .arg(logs.path())
            .args(zone);
        command.assert().success()
    };
    for zone in ["DE", "Germany"] {
        with(&["--zone", zone])
            .stderr("--zone DE applies to no run; every one recorded its own place\n");
    }
    with(&[]).stderr("");
    Run::default()
        .without("region")
        .write(&logs.path().join("a"));
    with(&["--zone", "DE"]).stderr("");
    with(&["--zone", "US-VA"]).stdout(predicate::str::contains("in zone US-VA"));
}

#[test]
fn a_recorded_zone_that_nobody_knows_is_named_as_the_reason() {
    let logs = tempfile::tempdir().unwrap();
    Run::default().write(&logs.path().join("a"));
    Run::default()
        .in_unknown_zone()
        .write(&logs.path().join("b"));
    let text = said(logs.path(), &[]);
    assert!(
        text.contains("because no carbon intensity is known for zone XX-ZZ."),
        "{text}"
    );
}

#[test]
fn small_things_are_said_as_people_say_them() {
    let logs = tempfile::tempdir().unwrap();
    Run::default().write(&logs.path().join("a"));
    let text = said(logs.path(), &["USA", "--price", "0.3", "--currency", "EUR"]);
    assert!(
        text.contains("1 tracked run with 2 s of wall-clock"),
        "{text}"
    );
    assert!(
        text.contains("this amounts to less than 0.01 USD ("),
        "{text}"
    );
    assert!(
        text.contains("the electricity cost less than 0.01 EUR."),
        "{text}"
    );
    let receipt = json(&[logs.path()], &["USA"]);
    assert!(receipt["social_cost_usd"]["median"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_data_set_says_which_runs_keep_what_they_recorded() {
    let logs = tempfile::tempdir().unwrap();
    LegacyRun::default().write(&logs.path().join("recorded"));
    Run::default().write(&logs.path().join("average"));
    let told = |arguments: &[&str]| {
        let output = impact()
            .arg("list")
            .arg(logs.path())
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let words = "--dataset ember does not apply to 1 of 2 runs; \
                 intensities recorded while a run went on are kept\n";
    assert_eq!(told(&["--dataset", "ember"]), words);
    impact()
        .arg("appendix")
        .arg(logs.path())
        .args(["--dataset", "ember", "-o"])
        .arg(tempfile::tempdir().unwrap().path().join("site"))
        .assert()
        .success()
        .stderr(format!("note: {words}"));
    assert_eq!(told(&[]), "");
    let factor = ["--dataset", "ember", "--emissions-factor", "100"];
    assert_eq!(told(&factor), "");
}
