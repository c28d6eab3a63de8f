//! Logs of experiment-impact-tracker, with figures that were computed elsewhere.
//!
//! The logs under `tests/reference` are made by `make.py` there, which computes the figures by formulas of its own. The
//! runs of a public leaderboard are compared too where they are at hand: in `IMPACT_REFERENCE` or `../shared/reference`.

use std::fs;
use std::path::{Path, PathBuf};

use impact::ledger::summarise::summarise;
use impact::ledger::{Assumptions, Footprint};
use impact::model::EnergyClass;
use serde_json::{Value, json};

use crate::support::site::{groups, names, pages};
use crate::support::{self, not_run, program};

const TOLERANCE: f64 = 1e-12;

fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference")
}

/// The published runs; without them this says that a comparison was not made, also when the test passes.
fn published() -> Option<PathBuf> {
    let folder = match std::env::var_os("IMPACT_REFERENCE") {
        Some(folder) => {
            let folder = PathBuf::from(folder);
            assert!(folder.is_dir(), "IMPACT_REFERENCE names no folder");
            folder
        }
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/reference"),
    };
    if !folder.is_dir() {
        not_run(&format!(
            "the published runs are not compared: they are not in {} (see IMPACT_REFERENCE)",
            folder.display()
        ));
        return None;
    }
    Some(folder)
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn is_same(found: Option<f64>, wanted: &Value, tolerance: f64) -> bool {
    match (found, wanted.as_f64()) {
        (Some(found), Some(wanted)) => (found - wanted).abs() <= tolerance * wanted.abs().max(1e-9),
        (found, wanted) => found == wanted,
    }
}

/// Compares every figure of every run, and counts them.
fn compare_runs(folder: &Path) -> usize {
    let expected = read(&folder.join("expected.json"));
    let mut compared = 0;
    for run in expected["runs"].as_array().unwrap() {
        let path = folder.join(run["path"].as_str().unwrap());
        let summary = summarise(&path).unwrap();
        let footprint = Footprint::of(&summary, &Assumptions::default());
        let carbon = footprint.carbon.unwrap();
        let kwh = |class| summary.energy(class).map(impact::Energy::kwh);
        let figures = [
            ("total_power", Some(footprint.energy.kwh())),
            ("kw_hr_cpu", kwh(EnergyClass::Cpu)),
            ("kw_hr_gpu", kwh(EnergyClass::Gpu)),
            ("estimated_carbon_impact_kg", Some(carbon.mass.kg())),
            ("exp_len_hours", Some(summary.duration.hours())),
            ("cpu_hours", summary.cpu_time.map(impact::Hours::hours)),
            ("gpu_hours", summary.gpu_time.map(impact::Hours::hours)),
            (
                "average_realtime_carbon_intensity",
                Some(carbon.intensity.get()),
            ),
        ];
        assert_eq!(figures.len(), run["figures"].as_object().unwrap().len());
        for (name, found) in figures {
            let wanted = &run["figures"][name];
            assert!(
                is_same(found, wanted, TOLERANCE),
                "{name} of {}: {found:?} is not {wanted}",
                path.display()
            );
            compared += 1;
        }
        assert_eq!(carbon.zone.unwrap().as_str(), expected["zone"]);
    }
    compared
}

/// Makes a site by the spec, and compares every statistic of every group. Answers the names of the rows of each group.
fn compare_groups(
    folder: &Path,
    spec: &str,
    logs: &str,
    processor: &str,
) -> (usize, Vec<Vec<String>>) {
    let out = tempfile::tempdir().unwrap();
    let block = json!({
        "file": "eval_test.csv",
        "skip_rows": 1,
        "figures": {
            "AverageReturn": "mean(rmean)",
            "AsymptoticReturn": "last(rmean)",
            "AverageReturnPerkWh": "mean(rmean) / total_power",
            "AverageEpisodeLength": "mean(lmean)",
            "AverageMaximumEpisodeLength": "mean(lmax)"
        }
    });
    // The rest of the spec stays as it was written, so that its groups keep their order.
    let processors = format!("{{\"processors\":{{\"{processor}\":{block}}},");
    let text = fs::read_to_string(folder.join(spec)).unwrap();
    let spec = out.path().join("spec.json");
    fs::write(&spec, text.replacen('{', &processors, 1)).unwrap();
    let site = out.path().join("site");
    support::impact()
        .arg("appendix")
        .arg(folder.join(logs))
        .arg("--site-spec")
        .arg(&spec)
        .arg("-o")
        .arg(&site)
        .assert()
        .success();
    let groups = groups(&site);
    let expected = read(&folder.join("expected_groups.json"));
    let expected = expected.as_array().unwrap();
    assert_eq!(groups.len(), expected.len());
    let mut compared = 0;
    let mut rows = Vec::new();
    for group in expected {
        let path: Vec<String> = serde_json::from_value(group["path"].clone()).unwrap();
        let found = &groups[&path];
        assert_eq!(found["runs"], group["runs"], "{path:?}");
        for (name, wanted) in group["figures"].as_object().unwrap() {
            for part in ["mean", "stderr", "sum", "n"] {
                let (found, wanted) = (&found["figures"][name][part], &wanted[part]);
                assert!(
                    is_same(found.as_f64(), wanted, 10.0 * TOLERANCE),
                    "{part} of {name} of {path:?}: {found} is not {wanted}"
                );
                compared += 1;
            }
        }
        rows.push(names(found).into_iter().map(str::to_owned).collect());
    }
    (compared, rows)
}

#[test]
fn the_figures_of_the_committed_runs_come_out() {
    assert_eq!(compare_runs(&committed()), 7 * 8);
}

#[test]
fn the_figures_of_the_published_runs_come_out() {
    if let Some(folder) = published() {
        assert!(compare_runs(&folder) >= 13 * 8);
    }
}

#[test]
fn the_groups_of_the_committed_leaderboard_come_out() {
    let (compared, rows) = compare_groups(&committed(), "spec.json", "runs", "load_eval");
    assert_eq!(compared, 4 * (8 + 13 + 13));
    assert_eq!(rows[0], ["Slow", "Fast"]);
}

#[test]
fn the_groups_of_the_published_leaderboard_come_out() {
    let Some(folder) = published() else {
        return;
    };
    let spec = "leaderboard_generation_format.json";
    let processor = "rlenergyleaderboard.processors.load_rl_eval";
    let (compared, rows) = compare_groups(&folder, spec, "data", processor);
    assert!(compared >= 500, "{compared} figures compared");
    // The second group is the first environment; its rows are ordered by return per kWh.
    let first_words: Vec<&str> = rows[1]
        .iter()
        .map(|name| name.split(' ').next().unwrap())
        .collect();
    assert_eq!(first_words, ["A2C+Vtrace", "PPO2", "DQN", "A2C"]);
}

#[test]
fn the_script_makes_the_committed_files() {
    let made = tempfile::tempdir().unwrap();
    let status = program("python3")
        .arg(committed().join("make.py"))
        .arg(made.path())
        .status()
        .expect("python3 is installed");
    assert!(status.success());
    let mut found = pages(made.path(), "");
    let mut kept = pages(&committed(), "");
    kept.remove("make.py").unwrap();
    assert_eq!(
        found.keys().collect::<Vec<_>>(),
        kept.keys().collect::<Vec<_>>()
    );
    while let (Some((name, new)), Some((_, old))) = (found.pop_first(), kept.pop_first()) {
        assert!(fs::read(new).unwrap() == fs::read(old).unwrap(), "{name}");
    }
}
