//! What a paper needs: the short statement, checklists, model cards, and totals that leave nothing out unsaid.

use std::path::Path;

use crate::support::site::{appendix_of, pages};
use crate::support::{LegacyRun, Run, impact};
use predicates::prelude::*;

fn said(logs: &Path, arguments: &[&str]) -> String {
    let output = impact()
        .arg(arguments[0])
        .arg(logs)
        .args(&arguments[1..])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn ended(exit_code: i32, watts: f64) -> Run {
    Run::of_watts(watts).with("exit_code", exit_code)
}

#[test]
fn a_statement_says_in_one_paragraph_what_was_used_emitted_and_measured() {
    let logs = tempfile::tempdir().unwrap();
    Run::of_watts(400.0).write(&logs.path().join("run"));
    let text = said(logs.path(), &["statement", "--pue", "1.25"]);
    let first = text.lines().next().unwrap();
    assert!(
        first.starts_with(
            "We tracked 1 run (1 h). It used 500 Wh, data-centre overhead included (PUE 1.25, stated), \
             and emitted 125 g CO2eq at 250 g/kWh (California, United States, an average). \
             All energy before the overhead was measured; memory was not metered. \
             The CO2eq is location-based (a test)."
        ),
        "{first}"
    );
}

#[test]
fn what_no_sensor_measured_is_called_estimated_also_in_short() {
    let logs = tempfile::tempdir().unwrap();
    let method = serde_json::json!({ "method": "estimated", "model": "TDP x load" });
    Run {
        method,
        ..Run::default()
    }
    .write(&logs.path().join("run"));
    let text = said(logs.path(), &["statement"]);
    let words = "All energy before the overhead was estimated from models, not measured";
    assert!(text.contains(words), "{text}");
}

#[test]
fn a_mass_that_leaves_out_runs_is_a_lower_bound_wherever_it_is_a_total() {
    let logs = tempfile::tempdir().unwrap();
    Run::of_watts(400.0).write(&logs.path().join("known"));
    Run::of_watts(400.0)
        .without("region")
        .write(&logs.path().join("unknown"));
    let list = said(logs.path(), &["list", "--pue", "1"]);
    assert!(list.contains("at least 100 g"), "{list}");
    assert!(
        list.contains("\nCO2eq: 1 of 2 runs has no intensity\n"),
        "{list}"
    );
    let report = said(logs.path(), &["report", "--pue", "1"]);
    let total = "CO2eq incl. PUE: at least 100 g (1 of 2 runs has no intensity)";
    assert!(report.contains(total), "{report}");
    let statement = said(logs.path(), &["statement", "--pue", "1"]);
    assert!(
        statement.contains("emitted at least 100 g CO2eq"),
        "{statement}"
    );
    assert!(
        statement.contains(
            "1 of 2 runs (400 Wh) has no carbon intensity, because no region is recorded."
        ),
        "{statement}"
    );
    let site = logs.path().join("site");
    let output = appendix_of(logs.path(), &site).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    for page in pages(&site, "index.html").into_values() {
        let text = std::fs::read_to_string(&page).unwrap();
        if text.contains(">≥ ") {
            let why = "emissions are at least (≥) these: 1 of 2 runs has no intensity";
            assert!(text.contains(why), "{}: {text}", page.display());
        }
    }
    let start = std::fs::read_to_string(site.join("index.html")).unwrap();
    assert!(start.contains(">≥ "), "{start}");
    let json = said(logs.path(), &["report", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["runs_without_intensity"], 1);
}

#[test]
fn failed_runs_count_and_their_share_is_told_and_they_can_be_left_out() {
    let logs = tempfile::tempdir().unwrap();
    ended(0, 300.0).write(&logs.path().join("good"));
    ended(137, 100.0).write(&logs.path().join("bad"));
    let list = said(logs.path(), &["list", "--pue", "1"]);
    assert!(
        list.contains("\nfailed: 1 of 2 runs, 100 Wh, 25 % of the energy\n"),
        "{list}"
    );
    let detail = said(logs.path(), &["statement", "--pue", "1", "--detail"]);
    assert!(
        detail.contains("1 of 2 runs failed and used 25 % of the energy (100 Wh)."),
        "{detail}"
    );
    LegacyRun::default().write(&logs.path().join("foreign"));
    let output = impact()
        .arg("list")
        .arg(logs.path())
        .args(["--pue", "1", "--only", "succeeded"])
        .output()
        .unwrap();
    let listed = String::from_utf8(output.stdout).unwrap();
    assert!(
        listed.contains("total of 1 run ") && listed.contains("300 Wh"),
        "{listed}"
    );
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "--only succeeded leaves out 2 runs; the exit code of 1 of them is not known\n"
    );
    let failed = said(
        logs.path(),
        &["statement", "--pue", "1", "--only", "failed"],
    );
    assert!(
        failed.starts_with("We tracked 1 run (1 h). It used 100 Wh"),
        "{failed}"
    );
    impact()
        .arg("list")
        .arg(logs.path().join("good"))
        .args(["--only", "failed"])
        .assert()
        .code(1)
        .stderr(predicates::str::contains("no run under").and(predicates::str::contains("failed")));
}

#[test]
fn a_checklist_answers_what_hardware_and_how_many_gpu_hours_with_failed_runs() {
    let logs = tempfile::tempdir().unwrap();
    let host = serde_json::json!({
        "hostname": "node-1",
        "cpu": { "brand": "Example CPU", "cores": 64 },
        "memory_bytes": 512_000_000_000u64,
        "gpus": [{ "name": "Example GPU" }, { "name": "Example GPU" }],
    });
    for (name, exit_code) in [("a", 0), ("b", 1)] {
        ended(exit_code, 100.0)
            .with("host", host.clone())
            .write(&logs.path().join(name));
    }
    let text = said(
        logs.path(),
        &["statement", "--format", "checklist", "--pue", "1"],
    );
    for line in [
        "- Computing infrastructure: 2 x Example GPU; Example CPU, 64 cores, 512.0 GB of memory",
        "- GPU hours: 4 h, wall-clock time times the number of GPUs (Example GPU 4 h)",
        "- Total compute: 2 runs, 2 h of wall-clock time, 1 of them failed, with 50 % of the energy; they are included",
        "- Emissions: 50 g CO2eq, in California, United States",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let card = said(
        logs.path(),
        &[
            "statement",
            "--format",
            "model-card",
            "--pue",
            "1",
            "--training-type",
            "a \"b\": #c",
        ],
    );
    for line in [
        "co2_eq_emissions:\n  emissions: 50\n  source: \"impact ",
        "\n  training_type: \"a \\\"b\\\": #c\"\n",
        "\n  geographical_location: \"California, United States\"\n",
        "\n  hardware_used: \"2 x Example GPU\"\n",
    ] {
        assert!(card.contains(line), "{line}\n{card}");
    }
}

#[test]
fn an_intensity_that_came_out_of_a_table_is_that_number_also_after_sums() {
    let logs = tempfile::tempdir().unwrap();
    for (name, watts) in [("a", 0.1), ("b", 0.7), ("c", 0.333)] {
        Run::of_watts(watts).write(&logs.path().join(name));
    }
    let json = said(
        logs.path(),
        &[
            "statement",
            "--format",
            "json",
            "--emissions-factor",
            "41.3",
        ],
    );
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["average_realtime_carbon_intensity"], 41.3);
}
