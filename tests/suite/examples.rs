//! Every example in the help of every command runs exactly as printed.

use std::fs;
use std::path::Path;

use crate::support::{self, Run};
use tempfile::TempDir;

/// Examples that cannot run here, each with the reason.
const SKIPPED: [(&str, &str); 5] = [
    ("impact grid", "asks services over the network"),
    ("impact backfill", "asks services over the network"),
    (
        "impact track --pid 4711",
        "needs a process with that number",
    ),
    ("python train.py", "needs Python"),
    ("--open", "opens a browser"),
];

/// Exit codes other than 0 that an example may end with, because of the machine it runs on.
const OTHER_CODES: [(&str, i32); 3] = [
    ("impact doctor", 4),
    ("impact require --gpu-name", 5),
    ("impact powercap set", 1),
];

/// A profile of a run of an hour.
const TRACE: &str = r#"[{"ph": "X", "name": "train", "pid": 1, "tid": 1, "ts": 0, "dur": 3e9}]"#;

fn help(path: &[String]) -> String {
    let output = support::impact().args(path).arg("--help").output().unwrap();
    assert!(output.status.success(), "{path:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The names under `Commands:`.
fn commands(help: &str) -> Vec<String> {
    help.lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| !name.is_empty() && *name != "help")
        .map(str::to_owned)
        .collect()
}

/// The commands under `Example:` or `Examples:`; a backslash continues one on the next line.
fn examples(help: &str) -> Vec<String> {
    let lines: Vec<&str> = help
        .lines()
        .skip_while(|line| !matches!(*line, "Example:" | "Examples:"))
        .skip(1)
        .take_while(|line| !line.is_empty())
        .map(str::trim)
        .collect();
    let joined = lines.join("\n").replace("\\\n", "");
    joined.lines().map(str::to_owned).collect()
}

fn all_examples(path: &[String], found: &mut Vec<(Vec<String>, Vec<String>)>) {
    let text = help(path);
    found.push((path.to_vec(), examples(&text)));
    for name in commands(&text) {
        let mut child = path.to_vec();
        child.push(name);
        all_examples(&child, found);
    }
}

/// A working directory with everything the examples speak of.
fn workplace() -> TempDir {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    for (index, watts) in [90.0, 100.0, 110.0].into_iter().enumerate() {
        let run = Run::of_watts(watts).on(&format!("node-{index}"), "boot");
        for (group, lr) in [("baseline", "0.1"), ("candidate", "0.2")] {
            let place = at(&format!("logs/{group}/{index}"));
            let run = run.clone().tag("lr", lr).tag("seed", &index.to_string());
            mark_training(&run.write(&place));
            fs::write(place.join("eval.csv"), "step,score\n1,0.5\n2,0.9\n").unwrap();
        }
        run.write(&at(&format!("impact-logs/{index}")));
    }
    for name in ["logs/run-1", "logs/run-2", "cluster-a/1", "cluster-b/1"] {
        Run::of_watts(120.0).tag("lr", "0.1").write(&at(name));
    }
    fs::write(at(".impact.toml"), "pue = 1.2\n").unwrap();
    fs::write(at(".perun.ini"), "[post-processing]\npue = 1.05\n").unwrap();
    fs::write(at("trace.json"), TRACE).unwrap();
    fs::write(at("spans.csv"), "name,start,end\ntrain,10,3500\n").unwrap();
    fs::write(at("stacks.txt"), "main;train 90\nmain;load 10\n").unwrap();
    let spec = "{\"logs\": [\"logs\"], \"All\": {\"filter\": null}}";
    fs::write(at("leaderboard_spec.json"), spec).unwrap();
    script(&at("run.sh"), "#!/bin/sh\nexit 0\n");
    folder
}

/// Adds the marks of a phase `train` to the second and the third sample of a log.
fn mark_training(run: &Path) {
    let data = run.join("impacttracker/data.json");
    let lines = fs::read_to_string(&data).unwrap();
    let marked = lines.lines().enumerate().map(|(number, line)| {
        let mut sample: serde_json::Value = serde_json::from_str(line).unwrap();
        if let Some(edge) = ["start", "end"].get(number.wrapping_sub(1)) {
            let count = serde_json::json!({"tokens": 4096});
            sample["mark"] = serde_json::json!({"name": "train", "edge": edge, "count": count});
        }
        format!("{sample}\n")
    });
    fs::write(&data, marked.collect::<String>()).unwrap();
}

fn script(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The text below the options is written for 100 columns, and wraps badly where its lines are longer.
#[test]
fn no_line_of_a_help_text_is_too_long_for_the_page() {
    let mut found = Vec::new();
    all_examples(&[], &mut found);
    for (path, _) in &found {
        let text = help(path);
        let (_, below) = text.rsplit_once("\nExample").unwrap();
        let lines: Vec<&str> = below.lines().collect();
        for two in lines.windows(2) {
            // A line that was too long leaves a rest of a few words.
            let is_rest =
                |line: &str| line.len() < 25 && !line.is_empty() && !line.ends_with(['.', ':']);
            let is_broken = two[0].len() > 60 && is_rest(two[1]);
            assert!(!is_broken, "impact {}: {two:?}", path.join(" "));
        }
    }
}

fn run_as_printed(example: &str) -> std::process::Output {
    let folder = workplace();
    // One example may need that no file of settings is there yet.
    if example == "impact config init" {
        fs::remove_file(folder.path().join(".impact.toml")).unwrap();
    }
    // A site is only checked where one was made.
    if example == "impact appendix --check site-out" {
        let mut command = support::impact();
        command.current_dir(folder.path());
        command
            .args(["appendix", "logs", "--output-dir", "site-out"])
            .assert()
            .success();
    }
    support::program("sh")
        .args(["-c", example])
        .current_dir(folder.path())
        .env("HOME", folder.path())
        .env("XDG_CONFIG_HOME", folder.path().join("xdg"))
        .output()
        .unwrap()
}

#[test]
fn every_command_has_an_example_and_every_example_runs_as_printed() {
    let mut found = Vec::new();
    all_examples(&[], &mut found);
    let mut failures = Vec::new();
    let mut run = 0;
    for (path, examples) in &found {
        if examples.is_empty() {
            failures.push(format!("impact {} has no example", path.join(" ")));
        }
        for example in examples {
            if SKIPPED.iter().any(|(part, _)| example.contains(part)) {
                continue;
            }
            run += 1;
            let output = run_as_printed(example);
            let code = output.status.code();
            let allowed = OTHER_CODES
                .iter()
                .any(|(part, other)| example.starts_with(part) && code == Some(*other));
            if code != Some(0) && !allowed {
                failures.push(format!(
                    "{example}\n  ended with {code:?}\n  {}",
                    String::from_utf8_lossy(&output.stderr).trim()
                ));
            }
        }
    }
    let exceptions = SKIPPED.iter().map(|(part, _)| part);
    for part in exceptions.chain(OTHER_CODES.iter().map(|(part, _)| part)) {
        let mut examples = found.iter().flat_map(|(_, examples)| examples);
        if !examples.any(|example| example.contains(part)) {
            failures.push(format!("no help has `{part}`"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(run >= 20, "only {run} examples were found");
}

#[test]
fn the_long_version_names_every_table() {
    let output = support::impact()
        .args(["--version", "--verbose"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    for table in impact::grid::data::ALL {
        assert!(text.contains(table.provenance.table), "{text}");
    }
}

#[test]
fn there_is_a_man_page_for_every_command_and_completions_for_every_shell() {
    let folder = TempDir::new().unwrap();
    let mut command = support::impact();
    command
        .current_dir(folder.path())
        .args(["man", "--output", "man"])
        .assert()
        .success();
    for page in [
        "impact",
        "impact-compare",
        "impact-config-set",
        "impact-track",
    ] {
        let text = fs::read_to_string(folder.path().join(format!("man/{page}.1"))).unwrap();
        assert!(text.contains(".SH SYNOPSIS"), "{page}");
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = support::impact()
            .args(["completions", shell])
            .output()
            .unwrap();
        assert!(
            String::from_utf8_lossy(&output.stdout).contains("compare"),
            "{shell}"
        );
    }
}
