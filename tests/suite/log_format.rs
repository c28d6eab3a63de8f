//! The log format is what `docs/log-format.md` and the JSON Schema beside it say.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use jsonschema::Validator;
use serde_json::{Value, json};

use super::support::machine::Log;
use super::support::{IMPACT, LegacyRun, Machine, Run, impact};

const DOCUMENT: &str = include_str!("../../docs/log-format.md");

fn schema() -> Value {
    serde_json::from_str(include_str!("../../docs/log-format.schema.json")).unwrap()
}

/// A validator of one of the definitions.
fn validator(name: &str) -> Validator {
    let mut schema = schema();
    let root = schema.as_object_mut().unwrap();
    root.remove("anyOf");
    root.insert("$ref".into(), format!("#/$defs/{name}").into());
    jsonschema::validator_for(&schema).unwrap()
}

#[track_caller]
fn assert_valid(name: &str, value: &Value) {
    let errors: Vec<String> = validator(name)
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert_eq!(errors, [""; 0], "{value:#}");
}

#[track_caller]
fn assert_valid_log(log: &Log) {
    assert_valid("info", &log.info);
    for sample in &log.samples {
        assert_valid("sample", sample);
    }
}

/// The names of the fields that a definition describes.
fn fields(name: &str) -> BTreeSet<String> {
    let properties = schema()["$defs"][name]["properties"].clone();
    properties.as_object().unwrap().keys().cloned().collect()
}

/// The block of the document that is written in a language.
fn block(language: &str) -> &'static str {
    let (_, rest) = DOCUMENT.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0
}

fn write_log(run: &Path, info: &str, data: &str) {
    let folder = run.join("impacttracker");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("info.json"), info).unwrap();
    fs::write(folder.join("data.json"), data).unwrap();
}

fn report(run: &Path) -> Value {
    let output = impact()
        .args(["report", "--format", "json"])
        .arg(run)
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_tracked_run_has_the_fields_that_the_schema_describes_and_no_others() {
    let machine = Machine::with_rapl();
    let options = [
        "--region",
        "aws:us-east-1",
        "--tag",
        "lr=0.1",
        "--interval",
        "50ms",
    ];
    machine.track(
        &options,
        &format!("{IMPACT} mark x; {IMPACT} mark --count tokens=3; sleep 0.2; exit 3"),
    );
    let log = machine.log();
    assert_valid_log(&log);
    let mark = log.samples.iter().find_map(|sample| sample["marks"].get(0));
    assert_eq!(
        mark,
        Some(&json!({"edge": "count", "count": {"tokens": 3.0}}))
    );
    let unknown = |value: &Value, known: &BTreeSet<String>| -> Vec<String> {
        let names = value.as_object().unwrap().keys();
        names
            .filter(|name| !known.contains(*name))
            .cloned()
            .collect()
    };
    assert_eq!(unknown(&log.info, &fields("info")), [""; 0]);
    assert_eq!(unknown(&log.info["region"], &fields("region")), [""; 0]);
    assert_eq!(unknown(&log.info["host"], &fields("host")), [""; 0]);
    let sample = &fields("sample") | &fields("gauges");
    for line in &log.samples {
        assert_eq!(unknown(line, &sample), [""; 0]);
    }
    assert_eq!(log.info["pue_source"]["by"], "provider");
    assert_eq!(log.info["pue_source"]["year"], 2024);
    assert_eq!(log.info["region"]["basis"], "life_cycle");
    let substitute = &log.info["region"]["fallbacks"][0]["substitute"];
    assert_eq!(substitute["zone"], "US-MIDA-PJM");
}

#[test]
fn runs_with_gpus_and_merged_runs_are_valid() {
    let folder = tempfile::tempdir().unwrap();
    let runs = folder.path().join("runs");
    let cap =
        |uuid: &str| json!({"requested_w": 180.0, "boards": [{"uuid": uuid, "former_w": 250.0}]});
    Run::of_watts(50.0)
        .gpu("a card", "GPU-1", "550.54", 200.0)
        .with("power_cap", cap("GPU-1"))
        .write(&runs.join("a"));
    Run::of_watts(80.0)
        .on("node-2", "boot-2")
        .with("power_cap", cap("GPU-2"))
        .write(&runs.join("b"));
    assert_valid_log(&Log::read(&runs.join("a")));
    let merged = folder.path().join("merged");
    impact()
        .arg("merge")
        .arg(&runs)
        .arg("--output")
        .arg(&merged)
        .assert()
        .success();
    let merged = Log::read(&merged);
    assert_valid_log(&merged);
    let boards = merged.info["power_cap"]["boards"].as_array().unwrap();
    assert_eq!(boards.len(), 2, "{boards:?}");
}

#[test]
fn samples_of_the_original_tool_are_valid_as_foreign_ones() {
    for line in LegacyRun::default().data().lines() {
        assert_valid("foreign_sample", &serde_json::from_str(line).unwrap());
    }
}

#[test]
fn the_schema_refuses_what_is_no_log() {
    let info: Value = serde_json::from_str(block("json")).unwrap();
    let sample: Value = serde_json::from_str(block("jsonl").lines().last().unwrap()).unwrap();
    for (name, valid, field, wrong) in [
        ("info", &info, "schema", json!(99)),
        ("info", &info, "pue", json!(0.5)),
        ("info", &info, "power_cap", json!({"boards": []})),
        ("info", &info, "pue_source", json!({"by": "provider"})),
        (
            "info",
            &info,
            "realtime_source",
            json!([{"basis": "direct"}]),
        ),
        (
            "info",
            &info,
            "region",
            json!({"zone": "GB", "fallbacks": [{"moon": {}}]}),
        ),
        ("sample", &sample, "elapsed", json!(-1)),
        (
            "sample",
            &sample,
            "energy",
            json!({"cpu": {"method": "measured"}}),
        ),
        (
            "sample",
            &sample,
            "energy",
            json!({"cpu": {"method": "guessed", "attributed_j": 1}}),
        ),
        ("sample", &sample, "realtime_carbon_intensity", json!("n/a")),
    ] {
        assert_valid(name, valid);
        let mut changed = valid.clone();
        changed[field] = wrong;
        assert!(
            !validator(name).is_valid(&changed),
            "{field}: {}",
            changed[field]
        );
    }
}

#[test]
fn the_document_names_every_field_of_the_schema() {
    for definition in [
        "info",
        "region",
        "host",
        "sample",
        "gauges",
        "method",
        "provenance",
    ] {
        for field in fields(definition) {
            assert!(
                DOCUMENT.contains(&format!("`{field}`")),
                "{definition}: {field}"
            );
        }
    }
}

#[test]
fn the_example_of_the_document_gives_the_figures_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let (info, data) = (block("json"), block("jsonl"));
    for line in data.lines() {
        assert_valid("sample", &serde_json::from_str(line).unwrap());
    }
    let recorded = folder.path().join("recorded");
    write_log(&recorded, info, data);
    let figures = &report(&recorded)["total"];
    assert_eq!(figures["kw_hr_cpu"], 0.03);
    assert_eq!(figures["kw_hr_dram"], 0.002);
    assert_eq!(figures["total_power"], 0.04);
    assert_eq!(figures["estimated_carbon_impact_kg"], 0.006);
    let average = folder.path().join("average");
    write_log(
        &average,
        info,
        &data.replace("realtime_carbon_intensity", "ignored"),
    );
    let report = report(&average);
    assert_eq!(report["total"]["estimated_carbon_impact_kg"], 0.01);
    assert_eq!(
        report["runs"][0]["carbon"]["source"],
        "RTE eCO2mix; draft, 2023, direct"
    );
}

#[test]
fn a_source_with_separators_in_its_name_comes_out_of_the_statement_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let data = block("jsonl").replace("realtime_carbon_intensity", "ignored");
    write_log(folder.path(), block("json"), &data);
    let output = impact()
        .args(["statement", "--format", "json"])
        .arg(folder.path())
        .output()
        .unwrap();
    let statement: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        statement["sources"],
        json!(["RTE eCO2mix; draft, 2023, direct"])
    );
    let words = statement["statement"].as_str().unwrap();
    assert!(
        words.contains("250 g CO2eq per kWh in zone GB (RTE eCO2mix; draft, 2023, direct)."),
        "{words}"
    );
}

/// What schema 1 says in sentences is understood as before.
#[test]
fn logs_of_schema_1_are_read_with_the_same_figures_and_words() {
    let folder = tempfile::tempdir().unwrap();
    let mut info: Value = serde_json::from_str(block("json")).unwrap();
    info["schema"] = 1.into();
    info.as_object_mut().unwrap().remove("pue_source");
    info["realtime_source"] = "A (direct); B, average of 2025 (life cycle)".into();
    info["region"]["how"] = "given: cloud region aws:x; PUE by somebody, 2022".into();
    info["region"]["fallbacks"] = json!(["DE stands for it (largest balancing area)"]);
    assert_valid("info", &info);
    let recorded = folder.path().join("recorded");
    write_log(&recorded, &info.to_string(), block("jsonl"));
    let run = &report(&recorded)["runs"][0];
    assert_eq!(run["figures"]["estimated_carbon_impact_kg"], 0.006);
    let source = "recorded over time from A (direct); B, average of 2025 (life cycle)";
    assert_eq!(run["carbon"]["source"], source);
    assert_eq!(run["pue_origin"], "provider");
    assert_eq!(run["pue_source"], "somebody, 2022");
    let average = folder.path().join("average");
    let data = block("jsonl").replace("realtime_carbon_intensity", "ignored");
    write_log(&average, &info.to_string(), &data);
    let source = "RTE eCO2mix; draft, 2023, direct; DE stands for it (largest balancing area)";
    assert_eq!(report(&average)["runs"][0]["carbon"]["source"], source);
}
