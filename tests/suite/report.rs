//! `impact report`: the figures of each run, per device and per node.

use crate::support::{LegacyRun, Run, impact};
use serde_json::Value;

fn report(arguments: &[&str]) -> String {
    let logs = tempfile::tempdir().unwrap();
    Run::default().write(&logs.path().join("=own"));
    LegacyRun::default().write(&logs.path().join("legacy"));
    let output = impact()
        .current_dir(logs.path())
        .args(["report", "."])
        .args(arguments)
        .output();
    let output = output.unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn json_has_every_figure_device_and_node() {
    let report: Value = serde_json::from_str(&report(&["--format", "json"])).unwrap();
    assert_eq!(report["schema"], "impact-report/1");
    let own = &report["runs"][0];
    assert_eq!(own["path"], "./=own");
    assert_eq!(own["host"], "node1");
    let devices: Vec<(&str, bool)> = own["devices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|device| {
            (
                device["component"].as_str().unwrap(),
                device["counted_as"].is_null(),
            )
        })
        .collect();
    assert_eq!(
        devices,
        [("package-0", false), ("core-0", true), ("dram-0", false)]
    );
    assert_eq!(own["devices"][0]["method"], "measured");
    assert_eq!(report["runs"][1]["figures"]["kw_hr_dram"], Value::Null);
    assert_eq!(
        report["runs"][1]["figures"]["average_realtime_carbon_intensity"],
        200.0
    );
    assert_eq!(report["nodes"].as_array().unwrap().len(), 2);
    assert_eq!(report["nodes"][0]["host"], Value::Null);
    assert_eq!(report["nodes"][1]["host"], "node1");
    let sum = report["runs"][0]["figures"]["total_power"]
        .as_f64()
        .unwrap()
        + report["runs"][1]["figures"]["total_power"]
            .as_f64()
            .unwrap();
    assert!((report["total"]["total_power"].as_f64().unwrap() - sum).abs() < 1e-15);
}

#[test]
fn csv_has_a_row_a_run_and_empty_cells_for_what_is_not_known() {
    let text = report(&["--format", "csv"]);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let heads = reader.headers().unwrap().clone();
    let column = |name: &str| heads.iter().position(|head| head == name).unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 2);
    assert_eq!(&rows[1][column("kw_hr_dram")], "");
    assert_eq!(&rows[0][column("zone")], "FR");
}

#[test]
fn yaml_says_the_same_as_json() {
    let text = report(&["--format", "yaml"]);
    assert!(text.contains("schema: impact-report/1"), "{text}");
    assert!(text.contains("component: package-0"), "{text}");
}

#[test]
fn text_names_what_is_missing_and_what_is_inside_something_else() {
    let text = report(&[]);
    assert!(text.contains("missing: memory"), "{text}");
    assert!(text.contains("core-0: 27.78 mWh"), "{text}");
    assert!(text.contains("not added up"), "{text}");
    assert!(text.contains("node (not recorded) (1 run)"), "{text}");
    assert!(text.contains("total of 2 runs"), "{text}");
}

#[test]
fn phases_are_reported_with_mean_and_standard_error() {
    use std::io::Write as _;
    let logs = tempfile::tempdir().unwrap();
    let run = Run {
        seconds: 0.0,
        ..Run::default()
    }
    .write(logs.path());
    let data = run.join("impacttracker/data.json");
    let mut file = std::fs::OpenOptions::new().append(true).open(data).unwrap();
    for (elapsed, joules, edge) in [
        (1, 10, "start"),
        (2, 20, "end"),
        (3, 30, "start"),
        (5, 50, "end"),
    ] {
        writeln!(
            file,
            "{{\"schema\":1,\"timestamp\":1,\"elapsed\":{elapsed},\"energy\":{{\"package-0\":\
             {{\"total_j\":{joules},\"attributed_j\":{joules},\"method\":\"measured\"}}}},\
             \"mark\":{{\"name\":\"train\\nfast\",\"edge\":\"{edge}\"}}}}"
        )
        .unwrap();
    }
    let output = impact()
        .arg("report")
        .arg(&run)
        .args(["--format", "json"])
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let train = &report["runs"][0]["phases"]["train\nfast"];
    assert_eq!(train["repetitions"], 2);
    assert_eq!(train["mean_j"], 15.0);
    assert_eq!(train["standard_error_j"], 5.0);
    assert_eq!(train["mean_s"], 1.5);
    let output = impact().arg("report").arg(&run).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains(
            "\n  phase train fast: 30 J (CPU 30 J, memory 0 J) in 3 s, 2 x 15 ± 5 J, 1.5 s each\n"
        ),
        "{text}"
    );
}
