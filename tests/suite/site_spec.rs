//! The spec of a site: its mistakes, its processors and its templates.

use std::fs;

use crate::support::site::{appendix_by, groups, logs, pages, spec, write_spec};
use crate::support::{LegacyRun, Run, impact};
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::{Value, json};

#[test]
fn mistakes_in_a_spec_are_told_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    logs(folder.path());
    let refused = |change: &dyn Fn(&mut Value), place: &str, problem: &str| {
        let mut spec = spec();
        change(&mut spec);
        let spec = write_spec(folder.path(), &spec);
        let out = folder.path().join("out");
        appendix_by(&spec, &out).assert().code(1).stderr(
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
    appendix_by(&spec, &site)
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
    let write = || appendix_by(&spec, &site);
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
    Run::default().write(&logs.join("at-all"));
    appendix_by(&path, &folder.path().join("out"))
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
