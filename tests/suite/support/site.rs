//! Logs to make a site from, and what stands in one.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::{Value, json};

use super::{LegacyRun, impact};

/// The command that makes a site of these logs.
pub fn appendix_of(logs: &Path, site: &Path) -> Command {
    let mut command = impact();
    command.arg("appendix").arg(logs).arg("-o").arg(site);
    command
}

/// The command that makes a site by this spec.
pub fn appendix_by(spec: &Path, site: &Path) -> Command {
    let mut command = impact();
    command.arg("appendix").arg("--site-spec").arg(spec);
    command.arg("-o").arg(site);
    command
}

/// The command that checks a site.
pub fn check(site: &Path) -> Command {
    let mut command = impact();
    command.arg("appendix").arg("--check").arg(site);
    command
}

/// Four runs in two folders, each with an evaluation beside its log.
pub fn logs(folder: &Path) -> PathBuf {
    let logs = folder.join("data");
    for (path, gpu_watts, score) in [
        ("fast/seed_0", 100.0, 10.0),
        ("fast/seed_1", 120.0, 14.0),
        ("slow/seed_0", 300.0, 20.0),
        ("slow/seed_1", 340.0, 21.0),
    ] {
        let rows = vec![
            (10.0, 10.0, gpu_watts, "200.0"),
            (20.0, 20.0, gpu_watts, "210.0"),
        ];
        let run = LegacyRun {
            rows,
            ended_after: Some(20.0),
            ..LegacyRun::default()
        }
        .write(&logs.join(path));
        fs::write(
            run.join("eval.csv"),
            format!("{{\"seed\": \"x,y\"}}\nstep,score\n0,0\n1,{score}\n"),
        )
        .unwrap();
    }
    logs
}

pub fn spec() -> Value {
    json!({
        "logs": ["data"],
        "processors": {
            "pkg.evaluate": {
                "file": "eval.csv",
                "skip_rows": 1,
                "figures": { "Score": "last(score)", "ScorePerkWh": "Score / total_power" }
            }
        },
        "Everything": {
            "filter": null,
            "description": "All <b>runs</b>",
            "executive_summary_variables": ["total_power", "exp_len_hours"],
            "child_experiments": {
                "Slow": { "filter": "(slow)", "extra_files_processor": "pkg.evaluate" },
                "Fast": { "filter": "(fast)", "extra_files_processor": "pkg.evaluate" }
            }
        }
    })
}

pub fn write_spec(folder: &Path, spec: &Value) -> PathBuf {
    let path = folder.join("spec.json");
    fs::write(&path, spec.to_string()).unwrap();
    path
}

pub fn pages(site: &Path, ending: &str) -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    let mut folders = vec![site.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                found.insert(path.strip_prefix(site).unwrap().display().to_string(), path);
            }
        }
    }
    found
}

/// The JSON of every group, by the names that lead to it.
pub fn groups(site: &Path) -> BTreeMap<Vec<String>, Value> {
    pages(site, "index.json")
        .values()
        .map(|path| serde_json::from_slice::<Value>(&fs::read(path).unwrap()).unwrap())
        .filter(|page| page["kind"] == "group")
        .map(|page| (serde_json::from_value(page["path"].clone()).unwrap(), page))
        .collect()
}

/// On how many pages a row is said to be the best.
pub fn contests(site: &Path) -> usize {
    let read = |path: &PathBuf| fs::read_to_string(path).unwrap();
    let pages = pages(site, "index.html");
    let texts = pages.values().map(read);
    texts.filter(|text| text.contains(">best<")).count()
}

pub fn names(page: &Value) -> Vec<&str> {
    page["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["name"].as_str().unwrap())
        .collect()
}
