//! What phases took, from the marks in a log to every place that shows it.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::support::{IMPACT, impact, program, same};

/// A run at 10 W of the processor, 30 W of a GPU and 1 W of the memory, with a sample at each of these seconds.
fn write(run: &Path, intensity: Option<f64>, samples: &[(f64, Value)]) {
    let folder = run.join("impacttracker");
    fs::create_dir_all(&folder).unwrap();
    let info = json!({
        "schema": 2, "impact_version": "0.1.0", "id": run.file_name().unwrap().to_str().unwrap(),
        "started": "2026-01-01T00:00:00+00:00", "ended": "2026-01-01T01:00:00+00:00",
        "pue": 2.0, "host": {"gpus": [{"name": "x"}]},
        "region": {"zone": "FR", "carbon_intensity": 50.0},
    });
    fs::write(folder.join("info.json"), info.to_string()).unwrap();
    let mut lines = String::new();
    for (seconds, marks) in samples {
        let meter = |watts: f64| json!({"attributed_j": watts * seconds, "method": "measured"});
        let mut line = json!({
            "schema": 2, "timestamp": 1_767_225_600.0 + seconds, "elapsed": seconds,
            "energy": {"package-0": meter(10.0), "gpu:0": meter(30.0), "dram-0": meter(1.0)},
            "cpu_temperature": 55.5, "absolute_mem_usage": 4096.0, "absolute_cpu_utilization": 1.5,
        });
        let line_map = line.as_object_mut().unwrap();
        if let Some(intensity) = intensity {
            line_map.insert("realtime_carbon_intensity".into(), intensity.into());
        }
        if !marks.is_null() {
            let name = if marks.is_array() { "marks" } else { "mark" };
            line_map.insert(name.into(), marks.clone());
        }
        lines += &format!("{line}\n");
    }
    fs::write(folder.join("data.json"), lines).unwrap();
}

/// Two epochs of 100 s and 200 s in a training of 400 s, with 1000 tokens each.
fn training(run: &Path, slower: f64) {
    let end = |epoch: u32, seconds: f64| json!({"name": "epoch", "edge": "end", "span": epoch, "elapsed": seconds, "count": {"tokens": 1000}});
    let start = |epoch: u32, seconds: f64| json!({"name": "epoch", "edge": "start", "span": epoch, "elapsed": seconds});
    write(
        run,
        Some(100.0),
        &[
            (0.0, Value::Null),
            (50.0, json!({"name": "train", "edge": "start"})),
            (100.0, json!([start(1, 100.0), start(2, 100.0)])),
            (200.0, json!([end(1, 200.0)])),
            (300.0 * slower, json!([end(2, 300.0 * slower)])),
            (450.0 * slower, json!({"name": "train", "edge": "end"})),
            (500.0 * slower, json!({"name": "test", "edge": "point"})),
            (1000.0, Value::Null),
        ],
    );
}

fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

fn report(run: &Path) -> Value {
    let text = output(
        impact_std()
            .arg("report")
            .arg(run)
            .args(["--format", "json"]),
    );
    serde_json::from_str::<Value>(&text).unwrap()["runs"][0].take()
}

fn impact_std() -> Command {
    program(IMPACT)
}

#[test]
fn a_report_has_a_row_for_each_phase_in_order_of_time_with_the_energy_of_each_device() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("a");
    training(&run, 1.0);
    let text = output(impact_std().arg("report").arg(&run));
    let rows: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.contains("2000 tokens"))
        .take_while(|line| line.contains("phase") || line.contains("tokens"))
        .collect();
    assert_eq!(
        rows,
        [
            "  2000 tokens: 41 J each, 87,800 per kWh, PUE included",
            "  phase train: 16.4 kJ (CPU 4 kJ, GPU 12 kJ, memory 400 J) in 6.667 min",
            "    2000 tokens: 8.2 J each, 439,000 per kWh",
            "  phase epoch: 12.3 kJ (CPU 3 kJ, GPU 9 kJ, memory 300 J) in 5 min, 2 x 6.15 ± 2.05 kJ, 2.5 min each",
            "    3000 tokens: 4.1 J each, 878,000 per kWh",
            "  phase test: 20.5 kJ (CPU 5 kJ, GPU 15 kJ, memory 500 J) in 8.333 min",
        ],
        "{text}"
    );
    let report = report(&run);
    let epoch = &report["phases"]["epoch"];
    assert_eq!(epoch["devices_j"]["gpu"], 9000.0);
    assert_eq!(
        (&epoch["repetitions"], &epoch["interpolated"]),
        (&2.into(), &0.into())
    );
    assert_eq!(epoch["work"]["tokens"]["count"], 3000.0);
    assert_eq!(report["work"]["tokens"]["joules_per_unit"], 41.0);
}

#[test]
fn every_occurrence_is_a_row_of_the_table_of_phases() {
    let folder = tempfile::tempdir().unwrap();
    training(&folder.path().join("a"), 1.0);
    let table = output(
        impact_std()
            .args(["export", "a", "--what", "phases"])
            .current_dir(folder.path()),
    );
    let rows: Vec<&str> = table.lines().collect();
    assert_eq!(
        rows,
        [
            "path,phase,occurrence,started,start,end,seconds,energy_j,energy_kwh,cpu_j,cpu_kwh,\
             gpu_j,gpu_kwh,dram_j,dram_kwh,interpolated,count.tokens,j_per.tokens",
            "a,train,1,2026-01-01T00:00:50.000Z,50,450,400,16400,0.004555555555555556,4000,\
             0.0011111111111111111,12000,0.0033333333333333335,400,0.00011111111111111112,0,2000,8.2",
            "a,epoch,1,2026-01-01T00:01:40.000Z,100,200,100,4100,0.001138888888888889,1000,\
             0.0002777777777777778,3000,0.0008333333333333334,100,0.00002777777777777778,0,1000,4.1",
            "a,epoch,2,2026-01-01T00:01:40.000Z,100,300,200,8200,0.002277777777777778,2000,\
             0.0005555555555555556,6000,0.0016666666666666668,200,0.00005555555555555556,0,2000,4.1",
            "a,test,1,2026-01-01T00:08:20.000Z,500,1000,500,20500,0.005694444444444445,5000,\
             0.001388888888888889,15000,0.004166666666666667,500,0.0001388888888888889,0,,",
        ]
    );
}

#[test]
fn samples_are_exported_with_their_marks_and_gauges() {
    let folder = tempfile::tempdir().unwrap();
    training(&folder.path().join("a"), 1.0);
    let rows = output(
        impact_std()
            .args(["export", "a", "--what", "samples", "--format", "jsonl"])
            .current_dir(folder.path()),
    );
    let rows: Vec<Value> = rows
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(rows[0]["marks"], Value::Null);
    assert_eq!(rows[1]["marks"], "start train");
    assert_eq!(rows[2]["marks"], "start epoch; start epoch");
    assert_eq!(rows[3]["marks"], "end epoch tokens=1000");
    for (name, value) in [
        ("cpu_temperature", 55.5),
        ("memory", 4096.0),
        ("cpu_utilization", 1.5),
        ("carbon_intensity", 100.0),
    ] {
        assert_eq!(rows[0][name], value, "{name}");
    }
    assert_eq!(rows[0]["gpu_temperature"], Value::Null);
}

#[test]
fn a_comparison_of_a_phase_has_its_energy_its_emissions_and_its_time() {
    let folder = tempfile::tempdir().unwrap();
    for (group, slower) in [("base", 1.0), ("slow", 1.5)] {
        for run in ["1", "2", "3"] {
            training(
                &folder.path().join(group).join(format!("{group}-{run}")),
                slower,
            );
        }
    }
    let compare = |phase: &str| {
        let mut command = impact_std();
        command
            .args([
                "compare", "base", "slow", "--format", "json", "--phase", phase,
            ])
            .current_dir(folder.path());
        command
    };
    let text = output(&mut compare("train"));
    let comparison: Value = serde_json::from_str(&text).unwrap();
    let means = |figure: &str| -> Vec<f64> {
        let groups = comparison["figures"][figure]["groups"].as_array().unwrap();
        let mean = |group: &Value| group["mean"].as_f64().unwrap();
        groups.iter().map(mean).collect()
    };
    // 41 W for 400 s and 625 s, PUE 2, 100 g/kWh.
    let expected = [400.0, 625.0].map(|seconds| 41.0 * seconds * 2.0 / 3.6e6);
    for (group, kwh) in expected.into_iter().enumerate() {
        assert!(same(means("total_power")[group], kwh), "{comparison:#}");
        assert!(
            same(means("estimated_carbon_impact_kg")[group], kwh * 0.1),
            "{comparison:#}"
        );
    }
    assert!(same(means("exp_len_hours")[0], 400.0 / 3600.0));
    let refused = compare("tran").output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(
        said,
        "error: no run has a phase tran\ntry: one of these: epoch, test, train\n"
    );
}

#[test]
fn marks_between_samples_are_interpolated_and_labelled() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("a");
    let step = |edge: &str, seconds: f64| json!({"name": "step", "edge": edge, "elapsed": seconds});
    write(
        &run,
        None,
        &[
            (0.0, Value::Null),
            (
                10.0,
                json!([
                    step("start", 2.0),
                    step("end", 3.0),
                    step("start", 4.0),
                    step("end", 9.9995)
                ]),
            ),
            (20.0, json!([step("start", 10.0)])),
            (30.0, json!([step("end", 30.0)])),
        ],
    );
    let report = report(&run);
    let phase = &report["phases"]["step"];
    assert_eq!(
        (&phase["repetitions"], &phase["interpolated"]),
        (&3.into(), &2.into())
    );
    let seconds = phase["total_s"].as_f64().unwrap();
    assert!(same(seconds, 1.0 + 5.9995 + 20.0), "{seconds}");
    // The end at 9.9995 s has the energy of the sample at 10 s.
    let joules = phase["total_j"].as_f64().unwrap();
    assert!(same(joules, 41.0 * (1.0 + 6.0 + 20.0)), "{joules}");
}

#[test]
fn marks_that_cannot_be_are_counted_and_spoil_no_energy() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("a");
    write(
        &run,
        None,
        &[
            (0.0, json!({"name": 7})),
            (1.0, json!([{"name": "a", "edge": "sideways"}])),
            (
                2.0,
                json!({"name": "a", "edge": "start", "count": {"x": -1}}),
            ),
            (3.0, json!({"name": "=cmd()|\u{202e}<b>", "edge": "end"})),
            (4.0, Value::Null),
        ],
    );
    let report = report(&run);
    let notes = report["quality"]["notes"].to_string();
    assert!(notes.contains("3 marks could not be read"), "{notes}");
    assert!(
        notes.contains("1 end of a phase that had not begun"),
        "{notes}"
    );
    assert!(report.get("phases").is_none());
    assert!(same(
        report["figures"]["kw_hr_gpu"].as_f64().unwrap() * 3.6e6,
        120.0
    ));
}

#[test]
fn a_statement_gives_the_energy_for_a_unit_of_work() {
    let folder = tempfile::tempdir().unwrap();
    let runs = folder.path().join("runs");
    training(&runs.join("a"), 1.0);
    write(
        &runs.join("b"),
        None,
        &[(0.0, Value::Null), (9.0, Value::Null)],
    );
    let statement = |format: &str| {
        let mut command = impact_std();
        output(
            command
                .arg("statement")
                .arg(&runs)
                .args(["--format", format]),
        )
    };
    let json: Value = serde_json::from_str(&statement("json")).unwrap();
    let work = &json["work"][0];
    assert_eq!(
        (&work["unit"], &work["count"], &work["runs"]),
        (&"tokens".into(), &2000.into(), &1.into())
    );
    assert_eq!(work["joules_per_unit"], 41.0);
    let text = statement("text");
    let sentence = "Work counted, with its energy: 2000 tokens in 1 of the runs (41 J each).";
    assert!(text.contains(sentence), "{text}");
}

#[test]
fn the_page_of_a_run_has_a_table_and_bands_of_its_phases() {
    let folder = tempfile::tempdir().unwrap();
    training(&folder.path().join("a"), 1.0);
    impact()
        .args(["appendix", "a", "--output-dir", "site"])
        .current_dir(folder.path())
        .assert()
        .success();
    let page = fs::read_to_string(folder.path().join("site/run/a/index.html")).unwrap();
    assert_eq!(page.matches("<title>epoch</title>").count() % 2, 0);
    for name in ["train", "epoch", "test"] {
        assert!(page.contains(&format!("<title>{name}</title>")), "{name}");
    }
    assert!(page.contains("tokens: energy each"));
    let table = fs::read_to_string(folder.path().join("site/run/a/phases.csv")).unwrap();
    assert!(
        table.contains("epoch,2,300,12300,3000,9000,300,3000,4.1"),
        "{table}"
    );
    let data = fs::read_to_string(folder.path().join("site/run/a/index.json")).unwrap();
    let data: Value = serde_json::from_str(&data).unwrap();
    assert_eq!(data["phases"][1]["gpu_j"], 9000.0);
    assert_eq!(data["figures"]["j_per_tokens"], 41.0);
}
