//! The figures of `impact statement`, to the last digit.

use std::fs;
use std::str::FromStr;

use crate::support::receipt::{close, json};
use crate::support::{LegacyRun, Run, impact};
use predicates::prelude::*;
use rust_decimal::Decimal;
use serde_json::Value;
use serde_json::value::RawValue;

/// CPU 750 J and GPU 3500 J with a PUE of 1.58, in kWh.
const DEFAULT_KWH: f64 = (750.0 + 3500.0) * 1.58 / 3.6e6;

#[test]
fn a_foreign_log_is_integrated_as_its_own_tool_did() {
    let logs = tempfile::tempdir().unwrap();
    LegacyRun::default().write(&logs.path().join("run"));
    let receipt = json(&[logs.path()], &["USA"]);
    close(&receipt["total_power"], DEFAULT_KWH);
    close(&receipt["kw_hr_cpu"], 750.0 / 3.6e6);
    close(&receipt["kw_hr_gpu"], 3500.0 / 3.6e6);
    close(&receipt["estimated_carbon_impact_kg"], DEFAULT_KWH * 0.2);
    close(&receipt["exp_len_hours"], 35.0 / 3600.0);
    close(&receipt["cpu_hours"], 32.0 / 3600.0);
    close(&receipt["gpu_hours"], 35.0 * 0.5 / 3600.0);
    assert_eq!(receipt["pue"], 1.58);
    assert_eq!(receipt["measured_share"], 1.0);
    assert_eq!(
        receipt["kw_hr_dram"],
        Value::Null,
        "not measured is not zero"
    );
    assert_eq!(receipt["social_cost_usd"]["country"], "USA");
}

#[test]
fn the_figures_do_not_depend_on_the_analysts_time_zone() {
    let logs = tempfile::tempdir().unwrap();
    LegacyRun::default().write(&logs.path().join("run"));
    let texts: Vec<Vec<u8>> = ["UTC", "America/Los_Angeles", "Asia/Kathmandu", "nonsense"]
        .iter()
        .map(|zone| {
            let mut command = impact();
            command
                .env("TZ", zone)
                .arg("statement")
                .arg(logs.path())
                .arg("USA");
            command.output().unwrap().stdout
        })
        .collect();
    assert!(!texts[0].is_empty());
    assert!(texts.iter().all(|text| *text == texts[0]));
}

#[test]
fn every_pickle_protocol_gives_the_same_statement() {
    let logs = tempfile::tempdir().unwrap();
    let receipts = [3, 4].map(|protocol| {
        let run = LegacyRun {
            protocol,
            ..LegacyRun::default()
        };
        json(
            &[&run.write(&logs.path().join(protocol.to_string()))],
            &["USA"],
        )
    });
    assert_eq!(receipts[0], receipts[1]);
}

#[test]
fn a_killed_run_counts_up_to_its_last_whole_line() {
    let logs = tempfile::tempdir().unwrap();
    let run = LegacyRun {
        ended_after: None,
        ..LegacyRun::default()
    };
    let folder = run.write(&logs.path().join("run"));
    let data = folder.join("impacttracker/data.json");
    let text = fs::read_to_string(&data).unwrap();
    fs::write(&data, format!("{text}{}", &text[..200])).unwrap();
    let receipt = json(&[logs.path()], &["USA"]);
    close(&receipt["kw_hr_cpu"], 600.0 / 3.6e6);
    close(&receipt["exp_len_hours"], 30.0 / 3600.0);
    assert_eq!(receipt["runs_without_end"], 1);
}

#[test]
fn without_an_answer_of_the_grid_the_regions_average_is_used() {
    let logs = tempfile::tempdir().unwrap();
    let mut run = LegacyRun::default();
    for row in &mut run.rows {
        row.3 = "\"n/a\"";
    }
    run.write(&logs.path().join("run"));
    close(
        &json(&[logs.path()], &["USA"])["estimated_carbon_impact_kg"],
        DEFAULT_KWH * 0.25,
    );
}

#[test]
fn our_own_log_counts_running_totals_and_nothing_twice() {
    let logs = tempfile::tempdir().unwrap();
    Run::default().write(&logs.path().join("run"));
    let receipt = json(&[logs.path()], &["--pue", "1.1"]);
    close(&receipt["total_power"], 110.0 * 1.1 / 3.6e6);
    close(&receipt["kw_hr_dram"], 10.0 / 3.6e6);
    close(
        &receipt["estimated_carbon_impact_kg"],
        110.0 * 1.1 / 3.6e6 * 0.05,
    );
    assert_eq!(receipt["social_cost_usd"]["country"], "FRA");
    assert_eq!(receipt["social_cost_usd"]["country_from_zone"], true);
}

#[test]
fn each_zone_counts_with_its_own_intensity() {
    let logs = tempfile::tempdir().unwrap();
    Run::default().write(&logs.path().join("france"));
    LegacyRun::default().write(&logs.path().join("california"));
    let receipt = json(&[logs.path()], &["USA"]);
    let expected = 110.0 * 1.54 / 3.6e6 * 0.05 + DEFAULT_KWH * 0.2;
    close(&receipt["estimated_carbon_impact_kg"], expected);
    let zones: Vec<&str> = receipt["zones"]
        .as_array()
        .unwrap()
        .iter()
        .map(|zone| zone["zone"].as_str().unwrap())
        .collect();
    assert_eq!(zones, ["FR", "US-CA"]);
}

#[test]
fn a_run_of_unknown_region_leaves_its_mass_unknown_not_zero() {
    let logs = tempfile::tempdir().unwrap();
    Run::default()
        .without("region")
        .write(&logs.path().join("run"));
    let receipt = json(&[logs.path()], &[]);
    assert_eq!(receipt["estimated_carbon_impact_kg"], Value::Null);
    assert_eq!(
        receipt.get("social_cost_usd"),
        Some(&Value::Null),
        "not known, but there"
    );
    impact()
        .arg("statement")
        .arg(logs.path())
        .assert()
        .success()
        .stdout(
            predicate::str::contains("unknown mass of CO2eq, because no region is recorded.")
                .and(predicate::str::contains("emissions factor").not()),
        )
        .stderr(predicate::str::contains("try: --zone ZONE"));
    let given = json(&[logs.path()], &["USA", "--emissions-factor", "100"]);
    close(
        &given["estimated_carbon_impact_kg"],
        110.0 * 1.54 / 3.6e6 * 0.1,
    );
}

#[test]
fn a_zone_given_for_runs_without_one_is_looked_up_for_their_year() {
    let logs = tempfile::tempdir().unwrap();
    Run::default()
        .without("region")
        .write(&logs.path().join("run"));
    let receipt = json(
        &[logs.path()],
        &["USA", "--zone", "US-CA", "--dataset", "eit-2019"],
    );
    close(
        &receipt["estimated_carbon_impact_kg"],
        110.0 * 1.54 / 3.6e6 * 0.250_733_376_178_534_63,
    );
    assert_eq!(receipt["zones"][0]["zone"], "US-CA");
    impact()
        .arg("statement")
        .arg(logs.path())
        .args(["USA", "--zone", "US-CAA"])
        .assert()
        .code(1)
        .stderr(predicate::str::contains("US-CA"));
}

#[test]
fn the_environment_may_set_the_pue_and_the_flag_wins() {
    let logs = tempfile::tempdir().unwrap();
    LegacyRun::default().write(&logs.path().join("run"));
    let pue = |arguments: &[&str]| {
        let mut command = impact();
        command
            .env("OVERRIDE_PUE", "1.2")
            .arg("statement")
            .arg(logs.path());
        let output = command
            .args(["USA", "--format", "json"])
            .args(arguments)
            .output()
            .unwrap();
        let receipt: Value = serde_json::from_slice(&output.stdout).unwrap();
        receipt["pue"].as_f64().unwrap()
    };
    assert_eq!(pue(&[]), 1.2);
    assert_eq!(pue(&["--pue", "1.05"]), 1.05);
}

#[test]
fn the_bill_is_energy_times_price() {
    let logs = tempfile::tempdir().unwrap();
    LegacyRun::default().write(&logs.path().join("run"));
    let receipt = json(
        &[logs.path()],
        &["USA", "--price", "0.25", "--currency", "EUR"],
    );
    close(&receipt["electricity_bill"]["amount"], DEFAULT_KWH * 0.25);
    assert_eq!(receipt["electricity_bill"]["currency"], "EUR");
}

/// The digits of a number in a receipt, as written.
fn digits(receipt: &[u8], name: &str) -> Decimal {
    let fields: std::collections::BTreeMap<String, Box<RawValue>> =
        serde_json::from_slice(receipt).unwrap();
    Decimal::from_str(fields[name].get()).unwrap()
}

#[test]
fn two_receipts_add_up_to_the_receipt_of_both_to_the_last_digit() {
    let logs = tempfile::tempdir().unwrap();
    for n in 0..40 {
        let mut run = LegacyRun::default();
        for (position, row) in run.rows.iter_mut().enumerate() {
            row.1 = 10.0 / f64::from(n + 3) + position as f64;
        }
        run.write(
            &logs
                .path()
                .join(format!("{}/run{n}", if n % 3 == 0 { "a" } else { "b" })),
        );
    }
    let receipt = |folders: &[&str], threads: &str| {
        let mut command = impact();
        command
            .env("RAYON_NUM_THREADS", threads)
            .current_dir(logs.path())
            .arg("statement");
        command
            .args(folders)
            .args(["USA", "--format", "json"])
            .output()
            .unwrap()
            .stdout
    };
    let (a, b, both) = (
        receipt(&["a"], "1"),
        receipt(&["b"], "2"),
        receipt(&["b", "a"], "2"),
    );
    for name in [
        "total_power",
        "kw_hr_cpu",
        "kw_hr_gpu",
        "estimated_carbon_impact_kg",
        "exp_len_hours",
        "cpu_hours",
        "gpu_hours",
    ] {
        assert_eq!(
            digits(&a, name) + digits(&b, name),
            digits(&both, name),
            "{name}"
        );
    }
    assert_eq!(
        both,
        receipt(&["a", "b"], "1"),
        "same bytes for any order and number of threads"
    );
}

#[test]
fn the_intensity_of_a_run_is_the_same_number_in_every_command() {
    let folder = tempfile::tempdir().unwrap();
    LegacyRun {
        // Most of the energy is drawn while the grid is dirty: mass per energy is far from the mean.
        rows: vec![(10.0, 10.0, 0.0, "100.0"), (20.0, 990.0, 0.0, "300.0")],
        ended_after: Some(20.0),
        ..LegacyRun::default()
    }
    .write(&folder.path().join("run"));
    let said = |arguments: &[&str]| -> Value {
        let mut command = impact();
        command.args(arguments).arg(folder.path());
        serde_json::from_slice(&command.assert().success().get_output().stdout).unwrap()
    };
    let name = "average_realtime_carbon_intensity";
    let report = said(&["report", "--format", "json"]);
    let wanted = &report["runs"][0]["figures"][name];
    assert!(wanted.as_f64().unwrap() < 250.0, "{wanted}");
    let per_run = said(&["statement", "--format", "json", "--per-run"]);
    assert_eq!(&per_run["per_run"][0]["figures"][name], wanted);
    assert_eq!(&said(&["list", "--format", "json"])[0][name], wanted);
    assert_eq!(&said(&["export", "--format", "jsonl"])[name], wanted);
}

#[test]
fn a_zone_of_which_no_intensity_is_known_has_no_mass_rather_than_none_at_all() {
    let logs = tempfile::tempdir().unwrap();
    Run::default().write(&logs.path().join("a"));
    Run::default()
        .in_unknown_zone()
        .write(&logs.path().join("b"));
    let receipt = json(&[logs.path()], &[]);
    let zones = receipt["zones"].as_array().unwrap();
    assert!(zones[0]["estimated_carbon_impact_kg"].as_f64().unwrap() > 0.0);
    assert_eq!(zones[1]["zone"], "XX-ZZ");
    assert_eq!(zones[1]["estimated_carbon_impact_kg"], Value::Null);
}
