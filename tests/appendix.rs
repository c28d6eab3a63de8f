//! `impact appendix` as its users meet it.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use predicates::prelude::*;
use predicates::str::contains;
use serde_json::{Value, json};
use support::{LegacyRun, OwnRun, impact};

/// Four runs in two folders, each with an evaluation beside its log.
fn logs(folder: &Path) -> PathBuf {
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

fn spec() -> Value {
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

fn write_spec(folder: &Path, spec: &Value) -> PathBuf {
    let path = folder.join("spec.json");
    fs::write(&path, spec.to_string()).unwrap();
    path
}

fn pages(site: &Path, ending: &str) -> BTreeMap<String, PathBuf> {
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
fn groups(site: &Path) -> BTreeMap<Vec<String>, Value> {
    pages(site, "index.json")
        .values()
        .map(|path| serde_json::from_slice::<Value>(&fs::read(path).unwrap()).unwrap())
        .filter(|page| page["kind"] == "group")
        .map(|page| (serde_json::from_value(page["path"].clone()).unwrap(), page))
        .collect()
}

/// On how many pages a row is said to be the best.
fn contests(site: &Path) -> usize {
    let read = |path: &PathBuf| fs::read_to_string(path).unwrap();
    let pages = pages(site, "index.html");
    let texts = pages.values().map(read);
    texts.filter(|text| text.contains(">best<")).count()
}

fn names(page: &Value) -> Vec<&str> {
    page["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["name"].as_str().unwrap())
        .collect()
}

#[test]
fn group_tables_have_means_and_errors_in_the_order_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    logs(folder.path());
    let mut spec = spec();
    spec["Everything"]["executive_summary_ordering_variable"] = json!("Score");
    let spec = write_spec(folder.path(), &spec);
    let site = folder.path().join("out");
    impact()
        .arg("appendix")
        .arg("--site-spec")
        .arg(&spec)
        .arg("-o")
        .arg(&site)
        .assert()
        .success();
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
    impact()
        .arg("appendix")
        .arg(&logs)
        .arg("-o")
        .arg(&site)
        .assert()
        .success();
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
    impact()
        .arg("appendix")
        .arg(&logs)
        .arg("-o")
        .arg(&site)
        .assert()
        .success();
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
    OwnRun::default().write(&logs.join("other/<img src=x onerror=alert(1)>"));
    OwnRun::default().write(&logs.join("other/\u{202e}gnp.exe"));
    let site = folder.path().join("out");
    impact()
        .arg("appendix")
        .arg(&logs)
        .arg("-o")
        .arg(&site)
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
    let write = || {
        impact()
            .arg("appendix")
            .arg(&logs)
            .arg("-o")
            .arg(&site)
            .assert()
            .success()
    };
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
    let write = || {
        let mut command = impact();
        command.arg("appendix").arg(&logs).arg("-o").arg(&out);
        command
    };
    write()
        .assert()
        .code(1)
        .stderr(contains("not a site of ours").and(contains("try: another --output-dir")));
    assert_eq!(fs::read_dir(&out).unwrap().count(), 1);
    write().arg("--force").assert().success();
    assert!(out.join("thesis.tex").exists());
}

#[test]
fn a_site_can_be_checked_against_its_logs() {
    let folder = tempfile::tempdir().unwrap();
    let logs = logs(folder.path());
    let spec = write_spec(folder.path(), &spec());
    let site = folder.path().join("out");
    impact()
        .arg("appendix")
        .arg("--site-spec")
        .arg(&spec)
        .arg("-o")
        .arg(&site)
        .args(["--pue", "1.1"])
        .assert()
        .success();
    let check = || {
        let mut command = impact();
        command.arg("appendix").arg("--check").arg(&site);
        command
    };
    check()
        .assert()
        .success()
        .stdout(contains("agrees with its logs: 4 runs, 3 groups"));
    let moved = folder.path().join("elsewhere");
    fs::rename(&logs, &moved).unwrap();
    check().assert().code(1);
    check().arg(&moved).assert().success();
    let data = moved.join("fast/seed_0/impacttracker/data.json");
    let text = fs::read_to_string(&data).unwrap();
    fs::write(&data, text.replace("100", "101")).unwrap();
    check()
        .arg(&moved)
        .assert()
        .code(1)
        .stderr(contains("differs: total_power of data/fast/seed_0 is"));
}

#[test]
fn a_number_changed_in_any_file_of_a_site_is_found_by_its_check() {
    let folder = tempfile::tempdir().unwrap();
    logs(folder.path());
    let spec = write_spec(folder.path(), &spec());
    let site = folder.path().join("out");
    impact()
        .arg("appendix")
        .arg("--site-spec")
        .arg(&spec)
        .arg("-o")
        .arg(&site)
        .args(["--country", "DEU", "--title", "Ours"])
        .assert()
        .success();
    let check = || {
        let mut command = impact();
        command.arg("appendix").arg("--check").arg(&site);
        command
    };
    let files = pages(&site, "");
    check()
        .assert()
        .success()
        .stdout(contains(format!(", {} files\n", files.len() - 1)));
    for ending in ["index.html", ".csv", "index.json", "log.zip", "runs.js"] {
        let mut found = pages(&site, ending);
        found.remove("index.json");
        assert!(!found.is_empty(), "{ending}");
        let before: Vec<Vec<u8>> = found.values().map(|path| fs::read(path).unwrap()).collect();
        for (path, bytes) in found.values().zip(&before) {
            let mut changed = bytes.clone();
            let last = changed.iter().rposition(u8::is_ascii_alphanumeric).unwrap();
            changed[last] = if changed[last] == b'7' { b'8' } else { b'7' };
            fs::write(path, changed).unwrap();
        }
        let mut checked = check().assert().code(1);
        for name in found.keys() {
            let words = format!("differs: {name} is not what the logs give");
            checked = checked.stderr(contains(words));
        }
        for (path, bytes) in found.values().zip(before) {
            fs::write(path, bytes).unwrap();
        }
    }
    let start = site.join("index.json");
    let text = fs::read_to_string(&start).unwrap();
    let other = text.replace("\"runs\": 4", "\"runs\": 5");
    assert_ne!(text, other);
    fs::write(&start, other).unwrap();
    check()
        .assert()
        .code(1)
        .stderr(contains("differs: index.json is not"));
    fs::write(&start, text).unwrap();
    let gone = site.join("groups.csv");
    let bytes = fs::read(&gone).unwrap();
    fs::remove_file(&gone).unwrap();
    check()
        .assert()
        .code(1)
        .stderr(contains("differs: groups.csv is not"));
    fs::write(&gone, bytes).unwrap();
    check().assert().success();
}

#[test]
fn logs_that_were_moved_give_the_same_site_in_whatever_order_they_lie_now() {
    let folder = tempfile::tempdir().unwrap();
    let logs = logs(folder.path());
    let broken = logs.join("fast/broken/impacttracker");
    fs::create_dir_all(&broken).unwrap();
    fs::write(broken.join("data.json"), "nonsense\n").unwrap();
    let site = folder.path().join("out");
    impact()
        .current_dir(folder.path())
        .args(["appendix", "data/fast", "data/slow", "-o", "out"])
        .assert()
        .code(3);
    let check = |moved: &[&str]| {
        let mut command = impact();
        command.current_dir(folder.path());
        command.args(["appendix", "--check"]).arg(&site).args(moved);
        command.assert()
    };
    check(&[]).code(3).stdout(contains("agrees with its logs"));
    fs::rename(logs.join("fast"), folder.path().join("z")).unwrap();
    fs::rename(logs.join("slow"), folder.path().join("a")).unwrap();
    check(&["z", "a"])
        .code(3)
        .stdout(contains("agrees with its logs"));
    check(&["a", "z"]).code(1);
}

#[test]
fn a_check_says_what_it_could_not_compare() {
    let folder = tempfile::tempdir().unwrap();
    let logs = logs(folder.path());
    let templates = folder.path().join("templates");
    fs::create_dir(&templates).unwrap();
    fs::write(templates.join("style.css"), "body { color: navy }").unwrap();
    let site = folder.path().join("out");
    impact()
        .arg("appendix")
        .arg(&logs)
        .arg("-o")
        .arg(&site)
        .arg("--templates")
        .arg(&templates)
        .assert()
        .success();
    let check = || {
        let mut command = impact();
        command.arg("appendix").arg("--check").arg(&site);
        command
    };
    check()
        .assert()
        .success()
        .stderr(contains("its HTML and assets were not compared"));
    check()
        .arg("--templates")
        .arg(&templates)
        .assert()
        .success()
        .stderr("");
    let start = site.join("index.json");
    let text = fs::read_to_string(&start).unwrap();
    let generator = concat!("impact ", env!("CARGO_PKG_VERSION"));
    assert!(text.contains(generator));
    fs::write(&start, text.replace(generator, "impact 0.0.1")).unwrap();
    check()
        .assert()
        .success()
        .stderr(contains("only the figures in its index.json files"));
}

#[test]
fn mistakes_in_a_spec_are_told_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    logs(folder.path());
    let refused = |change: &dyn Fn(&mut Value), place: &str, problem: &str| {
        let mut spec = spec();
        change(&mut spec);
        let spec = write_spec(folder.path(), &spec);
        let out = folder.path().join("out");
        impact()
            .arg("appendix")
            .arg("--site-spec")
            .arg(&spec)
            .arg("-o")
            .arg(&out)
            .assert()
            .code(1)
            .stderr(
                contains(place)
                    .and(contains(problem))
                    .and(contains("try: ")),
            );
        assert!(!out.exists());
    };
    refused(
        &|spec| spec["Everything"]["child_experiments"]["Fast"]["filter"] = json!("(fast"),
        "$.Everything.child_experiments.Fast.filter",
        "not a regular expression",
    );
    refused(
        &|spec| spec["Everything"]["child_experiments"]["Fast"]["filter"] = json!("zebra"),
        "$.Everything.child_experiments.Fast.filter",
        "matches no run of the group it is in, which has 4 runs",
    );
    refused(
        &|spec| spec["processors"]["pkg.evaluate"]["figures"]["Score"] = json!("ScorePerkWh"),
        "$.processors[\"pkg.evaluate\"].figures",
        "in a circle",
    );
    refused(
        &|spec| {
            let mut deep = json!({});
            for _ in 0..60 {
                deep = json!({"child_experiments": {"g": deep}});
            }
            spec["Deep"] = deep;
        },
        "$.Deep.child_experiments.g.child_experiments",
        "nested more than",
    );
    refused(
        &|spec| {
            let other = json!({"file": "eval.csv", "figures": {"Score": "1"}});
            spec["Everything"]["extra_files_processor"] = other;
        },
        "extra_files_processor",
        "`Score` of data/fast/seed_0 is also given by",
    );
}

#[test]
fn a_python_function_without_a_block_gives_a_message_and_a_page_without_its_columns() {
    let folder = tempfile::tempdir().unwrap();
    logs(folder.path());
    let mut spec = spec();
    spec.as_object_mut().unwrap().remove("processors");
    spec["Everything"]["executive_summary_variables"] = json!(["Score", "total_power"]);
    let spec = write_spec(folder.path(), &spec);
    let site = folder.path().join("out");
    impact()
        .arg("appendix")
        .arg("--site-spec")
        .arg(&spec)
        .arg("-o")
        .arg(&site)
        .assert()
        .success()
        .stderr(contains("note: ").and(contains("`pkg.evaluate`")));
    let everything = pages(&site, "index.html")
        .into_iter()
        .find(|(name, _)| name.starts_with("group/everything"))
        .unwrap()
        .1;
    let html = fs::read_to_string(everything).unwrap();
    assert!(
        html.contains("No run has a figure for Score.") && !html.contains("data-figure=\"Score\"")
    );
}

#[test]
fn processors_that_fail_are_told_on_standard_error_once_with_a_count() {
    let folder = tempfile::tempdir().unwrap();
    let logs = logs(folder.path());
    let told = |processor: &Value, variables: &Value, words: &str| {
        let mut spec = spec();
        spec["processors"]["pkg.evaluate"] = processor.clone();
        spec["Everything"]["executive_summary_variables"] = variables.clone();
        let spec = write_spec(folder.path(), &spec);
        impact()
            .arg("appendix")
            .arg("--allow-commands")
            .arg("--site-spec")
            .arg(&spec)
            .arg("-o")
            .arg(folder.path().join("out"))
            .assert()
            .success()
            .stderr(contains(words).count(1));
    };
    let file = spec()["processors"]["pkg.evaluate"].clone();
    let usual = json!(["total_power"]);
    fs::remove_file(logs.join("fast/seed_0/eval.csv")).unwrap();
    fs::remove_file(logs.join("slow/seed_0/eval.csv")).unwrap();
    let missing = "note: figures are missing for 2 of 4 runs: eval.csv is left out";
    told(&file, &usual, missing);
    let failing = json!({"command": ["sh", "-c", "exit 5"], "figures": {"Score": "first(score)"}});
    let failed = "note: figures are missing for 4 of 4 runs: the command sh failed: it ended with";
    told(&failing, &usual, failed);
    let misspelled =
        json!({"file": "eval.csv", "skip_rows": 1, "figures": {"Score": "last(scoer)"}});
    let nowhere = "note: no run has the figure Score of a processor";
    told(&misspelled, &usual, nowhere);
    let in_groups = "note: no run of 3 groups has the figure Scoer";
    told(&file, &json!(["Scoer", "kw_hr_gpu"]), in_groups);
}

#[test]
fn programs_run_only_with_leave() {
    let folder = tempfile::tempdir().unwrap();
    logs(folder.path());
    let mut spec = spec();
    spec["processors"]["pkg.evaluate"] = json!({
        "command": ["sh", "-c", "echo '{\"score\": 42}'; touch ran"],
        "figures": { "Score": "first(score)" }
    });
    let spec = write_spec(folder.path(), &spec);
    let site = folder.path().join("out");
    let write = || {
        let mut command = impact();
        command
            .arg("appendix")
            .arg("--site-spec")
            .arg(&spec)
            .arg("-o")
            .arg(&site);
        command
    };
    write().assert().success().stderr(contains(
        "note: figures are missing for 4 of 4 runs: the command sh is not run without --allow-commands",
    ));
    assert!(!folder.path().join("data/fast/seed_0/ran").exists());
    assert!(groups(&site)[&vec!["Everything".to_owned()]]["figures"]["Score"].is_null());
    write().arg("--allow-commands").assert().success();
    assert!(folder.path().join("data/fast/seed_0/ran").exists());
    assert_eq!(
        groups(&site)[&vec!["Everything".to_owned()]]["figures"]["Score"]["mean"],
        42.0
    );
}

#[test]
fn the_example_spec_works_on_whatever_was_tracked() {
    let output = impact()
        .args(["appendix", "--print-spec"])
        .output()
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spec.json");
    fs::write(&path, &output.stdout).unwrap();
    let logs = folder.path().join("impact-logs");
    LegacyRun::default().write(&logs.join("anything"));
    OwnRun::default().write(&logs.join("at-all"));
    impact()
        .arg("appendix")
        .arg("--site-spec")
        .arg(&path)
        .arg("-o")
        .arg(folder.path().join("out"))
        .assert()
        .success()
        .stdout(contains("2 runs in 3 groups"))
        .stderr("");
    impact()
        .arg("appendix")
        .current_dir(folder.path())
        .assert()
        .success()
        .stdout(contains("2 runs"));
}

#[test]
fn templates_of_the_user_go_before_ours() {
    let folder = tempfile::tempdir().unwrap();
    let logs = logs(folder.path());
    let own = folder.path().join("own");
    fs::create_dir(&own).unwrap();
    fs::write(own.join("start.html"), "{{ shell.title }} of mine").unwrap();
    let site = folder.path().join("out");
    let write = |title: &str| {
        let mut command = impact();
        command
            .arg("appendix")
            .arg(&logs)
            .arg("-o")
            .arg(&site)
            .arg("--templates")
            .arg(&own)
            .args(["--title", title]);
        command
    };
    write("<T>").assert().success();
    assert_eq!(
        fs::read_to_string(site.join("index.html")).unwrap(),
        "&lt;T&gt; of mine"
    );
    fs::write(own.join("start.html"), "{{ nothing }}").unwrap();
    write("T")
        .assert()
        .code(1)
        .stderr(contains("a template is wrong"));
}

#[test]
fn the_groups_of_the_original_leaderboard_come_out() {
    let reference = std::env::var_os("IMPACT_REFERENCE").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/reference"),
        PathBuf::from,
    );
    if !reference.is_dir() {
        eprintln!("no reference logs here; skipped");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(reference.join("leaderboard_generation_format.json")).unwrap();
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
    // The spec itself stays as it was written, so that its groups keep their order.
    let processors =
        format!("{{\"processors\":{{\"rlenergyleaderboard.processors.load_rl_eval\":{block}}},");
    let spec = folder.path().join("spec.json");
    fs::write(&spec, text.replacen('{', &processors, 1)).unwrap();
    let site = folder.path().join("out");
    let data = reference.join("data");
    impact()
        .arg("appendix")
        .arg(&data)
        .arg("--site-spec")
        .arg(&spec)
        .arg("-o")
        .arg(&site)
        .assert()
        .success();
    let groups = groups(&site);
    let expected: Vec<Value> =
        serde_json::from_slice(&fs::read(reference.join("expected_groups.json")).unwrap()).unwrap();
    assert_eq!(groups.len(), expected.len());
    let mut compared = 0;
    for group in &expected {
        let path: Vec<String> = serde_json::from_value(group["path"].clone()).unwrap();
        let found = &groups[&path];
        assert_eq!(found["runs"], group["runs"], "{path:?}");
        for (name, wanted) in group["figures"].as_object().unwrap() {
            for part in ["mean", "stderr", "sum", "n"] {
                let (found, wanted) = (&found["figures"][name][part], &wanted[part]);
                let same = match (found.as_f64(), wanted.as_f64()) {
                    (Some(found), Some(wanted)) => {
                        (found - wanted).abs() <= 1e-11 * wanted.abs().max(1e-9)
                    }
                    _ => found.is_null() && wanted.is_null(),
                };
                assert!(
                    same,
                    "{part} of {name} of {path:?}: {found} is not {wanted}"
                );
                compared += 1;
            }
        }
    }
    assert!(compared >= 500, "{compared} figures compared");
    let pong = groups
        .iter()
        .find(|(path, _)| path.len() == 2 && path[1].starts_with("Pong"))
        .unwrap()
        .1;
    let order: Vec<&str> = names(pong)
        .iter()
        .map(|name| name.split(' ').next().unwrap())
        .collect();
    assert_eq!(order, ["A2C+Vtrace", "PPO2", "DQN", "A2C"]);
}

#[test]
fn a_site_counts_copies_and_runs_inside_others_once_as_the_statement_does() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    let info = |run: &Path| run.join("impacttracker/info.json");
    let outer = OwnRun::default().write(&logs.join("a/outer"));
    let outer_info = fs::read_to_string(info(&outer)).unwrap();
    // A copy that lies first but cannot be read counts for nothing.
    let [broken, copy] = ["a/broken", "b/copy"].map(|name| {
        let run = OwnRun::default().write(&logs.join(name));
        fs::write(info(&run), &outer_info).unwrap();
        run
    });
    fs::write(broken.join("impacttracker/data.json"), "").unwrap();
    let inner = OwnRun::default().write(&logs.join("b/inner"));
    let text = fs::read_to_string(info(&inner)).unwrap();
    let id = serde_json::to_string(&outer.display().to_string()).unwrap();
    let later = text
        .replace("12:00:00-07:00", "12:00:01-07:00")
        .replace("\"name\"", &format!("\"inside\":{id},\"name\""));
    fs::write(info(&inner), later).unwrap();
    OwnRun::default().write(&logs.join("c/other"));

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
    impact()
        .arg("appendix")
        .arg(&logs)
        .arg("-o")
        .arg(&site)
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
    assert!(page.contains("2 tracked runs"), "{page}");
    let runs: Vec<String> = pages(&site, "log.zip").into_keys().collect();
    assert_eq!(runs.len(), 2, "{runs:?}");
    impact()
        .args(["appendix", "--check"])
        .arg(&site)
        .assert()
        .code(3);
}
