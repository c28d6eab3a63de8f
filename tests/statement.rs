//! `impact statement` as its users meet it.

mod support;

use std::fs;
use std::path::Path;
use std::str::FromStr;

use predicates::prelude::*;
use rust_decimal::Decimal;
use serde_json::Value;
use serde_json::value::RawValue;
use support::{LegacyRun, OwnRun, impact};

/// CPU 750 J and GPU 3500 J with a PUE of 1.58, in kWh.
const DEFAULT_KWH: f64 = (750.0 + 3500.0) * 1.58 / 3.6e6;

fn json(arguments: &[&Path], more: &[&str]) -> Value {
    let output = impact()
        .arg("statement")
        .args(arguments)
        .args(more)
        .args(["--format", "json"])
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{error}: {}", String::from_utf8_lossy(&output.stderr));
    })
}

fn close(found: &Value, wanted: f64) {
    let found = found.as_f64().unwrap();
    assert!(
        (found - wanted).abs() <= 1e-12 * wanted.abs(),
        "{found} is not {wanted}"
    );
}

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
    OwnRun::default().write(&logs.path().join("run"));
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
fn estimated_energy_is_called_estimated() {
    let logs = tempfile::tempdir().unwrap();
    let method = "\"method\":\"estimated\",\"model\":\"TDP x load\"";
    OwnRun {
        method,
        ..OwnRun::default()
    }
    .write(&logs.path().join("run"));
    impact()
        .arg("statement")
        .arg(logs.path())
        .assert()
        .success()
        .stdout(predicate::str::contains(
            "0 % was measured by sensors and 100 % was estimated (TDP x load)",
        ));
}

#[test]
fn each_zone_counts_with_its_own_intensity() {
    let logs = tempfile::tempdir().unwrap();
    OwnRun::default().write(&logs.path().join("france"));
    LegacyRun::default().write(&logs.path().join("california"));
    let receipt = json(&[logs.path()], &["USA"]);
    let expected = 110.0 * 1.58 / 3.6e6 * 0.05 + DEFAULT_KWH * 0.2;
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
    OwnRun {
        zone: None,
        ..OwnRun::default()
    }
    .write(&logs.path().join("run"));
    let receipt = json(&[logs.path()], &["USA"]);
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
            predicate::str::contains("is not known, because no region is recorded.")
                .and(predicate::str::contains("emissions factor").not()),
        )
        .stderr(predicate::str::contains("try: --zone ZONE"));
    let given = json(&[logs.path()], &["USA", "--emissions-factor", "100"]);
    close(
        &given["estimated_carbon_impact_kg"],
        110.0 * 1.58 / 3.6e6 * 0.1,
    );
}

#[test]
fn a_zone_given_for_runs_without_one_is_looked_up_for_their_year() {
    let logs = tempfile::tempdir().unwrap();
    OwnRun {
        zone: None,
        ..OwnRun::default()
    }
    .write(&logs.path().join("run"));
    let receipt = json(
        &[logs.path()],
        &["USA", "--zone", "US-CA", "--dataset", "eit-2019"],
    );
    close(
        &receipt["estimated_carbon_impact_kg"],
        110.0 * 1.58 / 3.6e6 * 0.250_733_376_178_534_63,
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
fn broken_runs_are_named_counted_and_told_by_the_exit_code() {
    let logs = tempfile::tempdir().unwrap();
    LegacyRun::default().write(&logs.path().join("good"));
    let empty = logs.path().join("empty/impacttracker");
    fs::create_dir_all(&empty).unwrap();
    fs::write(empty.join("data.json"), "").unwrap();
    let newer = OwnRun::default().write(&logs.path().join("newer"));
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
    impact()
        .arg("statement")
        .arg(logs.path())
        .arg("CAN")
        .assert()
        .success()
        .stdout(predicate::str::contains("The cost is negative because"));
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
    let name = "a\u{1b}[2J<script>alert(1)</script>\\input{x}";
    LegacyRun::default().write(&logs.path().join(name.replace('/', "")));
    let broken = logs.path().join("broken\u{1b}]0;x\u{7}/impacttracker");
    fs::create_dir_all(broken).unwrap();
    for format in ["text", "markdown", "html", "latex", "json"] {
        let mut command = impact();
        command
            .arg("statement")
            .arg(logs.path())
            .args(["USA", "--per-run", "--format", format]);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(3));
        for bytes in [&output.stdout, &output.stderr] {
            assert!(!bytes.contains(&0x1b), "{format}");
        }
        let text = String::from_utf8(output.stdout).unwrap();
        if format != "json" && format != "text" {
            assert!(!text.contains("<script>"), "{format}");
        }
        if format == "latex" {
            assert!(!text.contains("\\input{"), "{text}");
        }
    }
}

#[test]
fn the_same_run_under_two_roots_counts_once() {
    let logs = tempfile::tempdir().unwrap();
    let run = LegacyRun::default().write(&logs.path().join("run"));
    let receipt = json(&[logs.path(), &run, &run.join("impacttracker")], &["USA"]);
    assert_eq!(receipt["runs"], 1);
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

fn said(logs: &Path, more: &[&str]) -> String {
    let output = impact()
        .arg("statement")
        .arg(logs)
        .args(more)
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_pue_that_nobody_gave_is_called_assumed_and_only_the_energy_before_it_measured() {
    let logs = tempfile::tempdir().unwrap();
    OwnRun::default().write(&logs.path().join("a"));
    let text = said(logs.path(), &[]);
    assert!(
        text.contains("included: PUE 1.58, a global average assumed here)"),
        "{text}"
    );
    assert!(
        text.contains(
            "Before the data-centre overhead the energy was 0.00003056 kWh, all of which was measured"
        ),
        "{text}"
    );
    OwnRun {
        pue: Some("1.1"),
        ..OwnRun::default()
    }
    .write(&logs.path().join("b"));
    let text = said(logs.path(), &[]);
    assert!(
        text.contains("PUE 1.1, as recorded; PUE 1.58, a global average assumed here)"),
        "{text}"
    );
    let receipt = json(&[logs.path()], &[]);
    assert_eq!(receipt["pue"], Value::Null);
    assert_eq!(receipt["pue_origins"][0]["origin"], "recorded");
    assert_eq!(receipt["pue_origins"][1]["origin"], "assumed");
}

#[test]
fn without_overhead_all_of_the_energy_is_the_measured_one() {
    let logs = tempfile::tempdir().unwrap();
    OwnRun::default().write(&logs.path().join("a"));
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
    OwnRun::default().write(&logs.path().join("whole"));
    let text = said(logs.path(), &[]);
    assert!(!text.contains("lower bound"), "{text}");
    let cut = OwnRun {
        ended: false,
        ..OwnRun::default()
    };
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
    OwnRun {
        rows: vec![(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)],
        zone: Some("US-CA"),
        ..OwnRun::default()
    }
    .write(&logs.path().join("idle"));
    OwnRun::default().write(&logs.path().join("busy"));
    let text = said(logs.path(), &[]);
    assert!(
        !text.contains("US-CA") && text.contains("in zone FR"),
        "{text}"
    );
}

#[test]
fn a_copy_of_a_run_is_left_out_and_named() {
    let logs = tempfile::tempdir().unwrap();
    let [run, copy] = ["a", "b"].map(|name| OwnRun::default().write(&logs.path().join(name)));
    // Logs of the other tracker say nothing that tells two runs apart.
    for name in ["c", "d"] {
        LegacyRun::default().write(&logs.path().join(name));
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
            .assert()
            .code(3)
            .stdout(
                predicate::str::contains("were 3 tracked runs")
                    .and(predicate::str::contains("could not be read").not()),
            )
            .stderr(format!(
                "left out: {}: the same run as {}\n",
                copy.display(),
                run.display()
            ));
    }
}

#[test]
fn a_zone_that_does_not_apply_to_all_runs_is_said_to() {
    let logs = tempfile::tempdir().unwrap();
    OwnRun::default().write(&logs.path().join("a"));
    let with = |zone: &[&str]| {
        let mut command = impact();
        command.arg("statement").arg(logs.path()).args(zone);
        command.assert().success()
    };
    with(&["--zone", "DE"]).stderr("--zone DE applies to no run; every one recorded its own\n");
    with(&[]).stderr("");
    OwnRun {
        zone: None,
        ..OwnRun::default()
    }
    .write(&logs.path().join("a"));
    with(&["--zone", "DE"]).stderr("");
    with(&["--zone", "US-VA"]).stdout(predicate::str::contains("in zone US-VA"));
}

#[test]
fn a_recorded_zone_that_nobody_knows_is_named_as_the_reason() {
    let logs = tempfile::tempdir().unwrap();
    OwnRun::default().write(&logs.path().join("a"));
    let other = OwnRun {
        zone: Some("XX-ZZ"),
        ..OwnRun::default()
    };
    let info = other
        .write(&logs.path().join("b"))
        .join("impacttracker/info.json");
    let text = fs::read_to_string(&info).unwrap();
    fs::write(&info, text.replace(",\"carbon_intensity\":50.0", "")).unwrap();
    let text = said(logs.path(), &[]);
    assert!(
        text.contains("because no carbon intensity is known for zone XX-ZZ."),
        "{text}"
    );
}

#[test]
fn small_things_are_said_as_people_say_them() {
    let logs = tempfile::tempdir().unwrap();
    OwnRun::default().write(&logs.path().join("a"));
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
