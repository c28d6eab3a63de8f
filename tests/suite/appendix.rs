//! `impact appendix` as its users meet it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::site::{
    appendix_by, appendix_of, contests, groups, logs, names, pages, spec, write_spec,
};
use crate::support::{Run, impact};
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::{Value, json};

#[test]
fn long_names_are_whole_and_figures_read_as_people_write_them() {
    const LONG: &str = "baseline_with_a_name_that_is_longer_than_28_characters";
    let folder = tempfile::tempdir().unwrap();
    for group in [LONG, "candidate"] {
        for run in ["0", "1"] {
            let place = folder.path().join("logs").join(group).join(run);
            let run = Run::of_watts(100.0).write(&place);
            let data = run.join("impacttracker/data.json");
            let lines = fs::read_to_string(&data).unwrap();
            let mut samples: Vec<Value> = lines
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect();
            samples[1]["mark"] = json!({"edge": "count", "count": {"tokens": 360_000}});
            let lines: Vec<String> = samples.iter().map(Value::to_string).collect();
            fs::write(&data, lines.join("\n") + "\n").unwrap();
        }
    }
    let site = folder.path().join("site");
    let mut command = appendix_of(&folder.path().join("logs"), &site);
    command.args(["--pue", "1"]).assert().success();
    let start = fs::read_to_string(site.join("index.html")).unwrap();
    assert!(
        start.contains(&format!(">{LONG}</text>")),
        "the chart names the whole group"
    );
    assert!(start.contains(&LONG.replace('_', "_<wbr>")));
    assert!(
        start.contains("720,000 tokens") || start.contains("1,440,000 tokens"),
        "{start}"
    );
    let group = pages(&site, "index.html");
    let group = group
        .iter()
        .find(|(name, _)| name.starts_with("group/candidate"));
    let (name, page) = group.unwrap();
    let page = fs::read_to_string(page).unwrap();
    assert!(
        page.contains(">Energy for a unit of work (tokens)<"),
        "{name}: {page}"
    );
    assert!(!page.contains(">1.000<"), "a share is in percent: {page}");
    let csv = fs::read_to_string(site.join(name).with_file_name("figures.csv")).unwrap();
    let row = csv.lines().find(|line| line.starts_with("j_per_tokens,"));
    // Two runs that each take 1 J for a token do not take 2 J for it.
    assert_eq!(row, Some("j_per_tokens,1,0,,2,J"), "{csv}");
}

#[test]
fn group_tables_have_means_and_errors_in_the_order_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    logs(folder.path());
    let mut spec = spec();
    spec["Everything"]["executive_summary_ordering_variable"] = json!("Score");
    let spec = write_spec(folder.path(), &spec);
    let site = folder.path().join("out");
    appendix_by(&spec, &site).assert().success();
    let groups = groups(&site);
    let fast = &groups[&vec!["Everything".to_owned(), "Fast".to_owned()]];
    assert_eq!(
        fast["figures"]["Score"],
        json!({"mean": 12.0, "stderr": 2.0, "sum": 24.0, "n": 2})
    );
    let kwh = |watts: f64| (10.0 * 10.0 + 10.0 * 20.0 + 20.0 * watts) * 1.58 / 3.6e6;
    let mean = fast["figures"]["total_power"]["mean"].as_f64().unwrap();
    assert!((mean - f64::midpoint(kwh(100.0), kwh(120.0))).abs() < 1e-12);
    assert_eq!(names(fast), ["fast/seed_1", "fast/seed_0"]);
    let all = &groups[&vec!["Everything".to_owned()]];
    assert_eq!(names(all), ["Slow", "Fast"]);
    let csv = fs::read_to_string(pages(&site, "summary.csv").values().next().unwrap()).unwrap();
    assert!(csv.starts_with(
        "group,runs,total_power,total_power_stderr,exp_len_hours,exp_len_hours_stderr\nSlow,2,"
    ));
}

#[test]
fn what_does_not_add_up_has_no_sum_on_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let logs = logs(folder.path());
    let site = folder.path().join("out");
    appendix_of(&logs, &site).assert().success();
    let mut tables = pages(&site, "figures.csv");
    tables.retain(|name, _| name.starts_with("group/"));
    assert_eq!(tables.len(), 2);
    for table in tables.values() {
        let mut rows = csv::Reader::from_path(table).unwrap();
        let sums: BTreeMap<String, bool> = rows
            .records()
            .map(|row| row.unwrap())
            .map(|row| (row[0].to_owned(), row[3].parse::<f64>().is_ok()))
            .collect();
        let has_sum = |figure: &str| sums[figure];
        assert!(has_sum("total_power") && has_sum("exp_len_hours"));
        assert!(!has_sum("average_realtime_carbon_intensity") && !has_sum("measured_share"));
    }
}

#[test]
fn only_an_order_that_somebody_chose_has_a_best() {
    let folder = tempfile::tempdir().unwrap();
    logs(folder.path());
    let mut spec = spec();
    spec["Everything"]["executive_summary_ordering_variable"] = json!("total_power");
    let spec = write_spec(folder.path(), &spec);
    let site = |name: &str, options: &[&std::ffi::OsStr]| {
        let mut command = impact();
        command.current_dir(folder.path()).arg("appendix");
        command.args(options).args(["-o", name]).assert().success();
        contests(&folder.path().join(name))
    };
    assert_eq!(site("plain", &[]), 0);
    assert_eq!(site("ordered", &["--site-spec".as_ref(), spec.as_ref()]), 3);
}

#[test]
fn what_a_log_has_no_energy_of_is_named_as_people_call_it() {
    let folder = tempfile::tempdir().unwrap();
    let logs = logs(folder.path());
    let site = folder.path().join("out");
    appendix_of(&logs, &site).assert().success();
    let tables = pages(&site, "provenance.csv");
    assert_eq!(tables.len(), 4);
    for table in tables.values() {
        let csv = fs::read_to_string(table).unwrap();
        assert!(csv.contains("\nmemory,,,absent: "), "{csv}");
    }
}

#[test]
fn every_internal_link_leads_somewhere_and_names_are_inert() {
    let folder = tempfile::tempdir().unwrap();
    let logs = logs(folder.path());
    Run::default().write(&logs.join("other/<img src=x onerror=alert(1)>"));
    Run::default().write(&logs.join("other/\u{202e}gnp.exe"));
    let site = folder.path().join("out");
    appendix_of(&logs, &site)
        .args(["--title", "<script>t</script>"])
        .assert()
        .success();
    let pages = pages(&site, ".html");
    assert!(pages.len() >= 10);
    for (name, path) in &pages {
        let html = fs::read_to_string(path).unwrap();
        for hostile in [
            "<script>t",
            "<img src=x",
            "\u{202e}",
            "onerror=alert(1)>\"",
            "href=\"javascript:",
        ] {
            assert!(!html.contains(hostile), "{name} holds {hostile}");
        }
        for part in html.split("href=\"").chain(html.split("src=\"")).skip(1) {
            let link = part.split('"').next().unwrap();
            let local = !link.starts_with("http")
                && !link.starts_with('#')
                && !link.starts_with("data:")
                && !link.contains('<');
            assert!(
                !local || path.parent().unwrap().join(link).exists(),
                "{name} links to {link}"
            );
        }
    }
}

#[test]
fn without_a_spec_folders_are_groups_and_a_broken_log_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let logs = logs(folder.path());
    fs::create_dir_all(logs.join("fast/broken/impacttracker")).unwrap();
    fs::write(
        logs.join("fast/broken/impacttracker/data.json"),
        "nonsense\n",
    )
    .unwrap();
    impact()
        .current_dir(folder.path())
        .arg("appendix")
        .assert()
        .code(3)
        .stderr(contains("left out: data/fast/broken"))
        .stdout(contains("4 runs in 2 groups"));
    let start = fs::read_to_string(folder.path().join("site-out/index.html")).unwrap();
    assert!(start.contains("fast/broken") && start.contains("Carbon impact statement"));
    impact()
        .current_dir(folder.path())
        .args(["appendix", "--strict"])
        .assert()
        .code(1)
        .stderr(contains("error: 1 log was left out"));
}

#[test]
fn a_second_run_rewrites_only_what_changed_and_removes_what_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let logs = logs(folder.path());
    let site = folder.path().join("out");
    let write = || appendix_of(&logs, &site).assert().success();
    write();
    let before = pages(&site, "");
    let times = |pages: &BTreeMap<String, PathBuf>| -> BTreeMap<String, std::time::SystemTime> {
        pages
            .iter()
            .map(|(name, path)| (name.clone(), path.metadata().unwrap().modified().unwrap()))
            .collect()
    };
    let first = times(&before);
    write().stdout(contains("0 of them new or changed, 0 removed"));
    assert_eq!(times(&pages(&site, "")), first);
    fs::remove_dir_all(logs.join("slow/seed_1")).unwrap();
    write().stdout(contains(" 0 removed").not());
    assert!(
        pages(&site, "")
            .keys()
            .all(|name| !name.contains("slow-seed_1"))
    );
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        2,
        "nothing is left beside the site"
    );
}

#[test]
fn a_folder_of_others_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let logs = logs(folder.path());
    let out = folder.path().join("thesis");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("thesis.tex"), "x").unwrap();
    let write = || appendix_of(&logs, &out);
    write()
        .assert()
        .code(1)
        .stderr(contains("not a site that impact wrote").and(contains("try: another --output")));
    assert_eq!(fs::read_dir(&out).unwrap().count(), 1);
    write().arg("--force").assert().success();
    assert!(out.join("thesis.tex").exists());
}

#[test]
fn a_site_counts_copies_and_runs_inside_others_once_as_the_statement_does() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    let info = |run: &Path| run.join("impacttracker/info.json");
    let outer = Run::default().write(&logs.join("a/outer"));
    let outer_info = fs::read_to_string(info(&outer)).unwrap();
    // A copy that lies first but cannot be read counts for nothing.
    let [broken, copy] = ["a/broken", "b/copy"].map(|name| {
        let run = Run::default().write(&logs.join(name));
        fs::write(info(&run), &outer_info).unwrap();
        run
    });
    fs::write(broken.join("impacttracker/data.json"), "").unwrap();
    let inner = Run::default().write(&logs.join("b/inner"));
    let text = fs::read_to_string(info(&inner)).unwrap();
    let id = serde_json::to_string(&outer.display().to_string()).unwrap();
    let later = text
        .replace("12:00:00-07:00", "12:00:01-07:00")
        .replace("\"name\"", &format!("\"inside\":{id},\"name\""));
    fs::write(info(&inner), later).unwrap();
    Run::default().write(&logs.join("c/other"));

    let json = |command: &mut assert_cmd::Command| -> Value {
        serde_json::from_slice(&command.assert().code(3).get_output().stdout).unwrap()
    };
    let statement = json(
        impact()
            .arg("statement")
            .arg(&logs)
            .args(["--format", "json"]),
    );
    let site = folder.path().join("site");
    appendix_of(&logs, &site)
        .assert()
        .code(3)
        .stderr(contains(format!(
            "left out: {}: the same run as",
            copy.display()
        )))
        .stderr(contains(format!(
            "left out: {}: a part of the run",
            inner.display()
        )));
    let start: Value = serde_json::from_slice(&fs::read(site.join("index.json")).unwrap()).unwrap();
    assert_eq!((&statement["runs"], &start["runs"]), (&json!(2), &json!(2)));
    let energy = start["figures"]["total_power"]["sum"].as_f64().unwrap();
    let wanted = statement["total_power"].as_f64().unwrap();
    assert!(
        (energy - wanted).abs() < 1e-12 * wanted,
        "{energy} {wanted}"
    );
    assert_eq!(names(&start), ["a", "Other runs"]);
    let page = fs::read_to_string(site.join("index.html")).unwrap();
    assert!(page.contains("We tracked 2 runs"), "{page}");
    let runs: Vec<String> = pages(&site, "log.zip").into_keys().collect();
    assert_eq!(runs.len(), 2, "{runs:?}");
    impact()
        .args(["appendix", "--check"])
        .arg(&site)
        .assert()
        .code(3);
}
