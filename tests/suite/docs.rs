//! Every command that the documents show is run, in the order shown.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::simulator::Simulator;
use crate::support::{Machine, Run, program};
use tempfile::TempDir;

/// Commands that are not run here, each with the reason.
const NOT_RUN: &[(&str, &str)] = &[
    ("cargo ", "compiles the program; .ci/run does that"),
    ("./test", "runs these tests"),
    (".ci/run", "runs these tests"),
    ("sudo ", "needs root"),
    ("pip install", "needs the network"),
    ("maturin ", "compiles the program"),
];

/// Exit codes other than 0 that are an answer about the machine.
const OTHER_CODES: &[(&str, i32)] = &[("impact doctor", 4), ("impact require", 5)];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn documents() -> Vec<PathBuf> {
    let mut found = vec![root().join("README.md"), root().join("CONTRIBUTING.md")];
    for entry in fs::read_dir(root().join("docs")).unwrap() {
        found.push(entry.unwrap().path());
    }
    found.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    found.sort();
    found
}

/// The commands of a document: lines after `$ ` in `console` blocks, every line of `sh` and `bash` blocks. A backslash at
/// the end continues a command on the next line.
fn commands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut block: Option<String> = None;
    let mut continued: Option<String> = None;
    for line in text.lines() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            block = block.is_none().then(|| language.trim().to_owned());
            continue;
        }
        let command = match (continued.take(), block.as_deref()) {
            (Some(begun), Some(_)) => Some(format!("{begun}{}", line.trim())),
            (_, Some("console")) => line.strip_prefix("$ ").map(str::to_owned),
            (_, Some("sh" | "bash")) => Some(line.trim().to_owned()),
            _ => None,
        };
        let Some(command) = command.filter(|line| !line.is_empty() && !line.starts_with('#'))
        else {
            continue;
        };
        match command.strip_suffix('\\') {
            Some(begun) => continued = Some(begun.to_owned()),
            None => found.push(command),
        }
    }
    found
}

/// A folder with what the documents speak of: the examples, and some runs.
fn workplace() -> TempDir {
    let folder = TempDir::new().unwrap();
    copy_examples(folder.path());
    for name in ["impact-logs/a", "logs/a", "baseline/a", "candidate/a"] {
        Run::of_watts(100.0).write(&folder.path().join(name));
    }
    let trace = r#"[{"ph": "X", "name": "train", "pid": 1, "tid": 1, "ts": 0, "dur": 3e9}]"#;
    fs::write(folder.path().join("trace.json"), trace).unwrap();
    folder
}

fn copy_examples(folder: &Path) {
    let mut copy = Command::new("cp");
    copy.arg("-r").arg(root().join("examples")).arg(folder);
    assert!(copy.status().unwrap().success());
}

#[test]
fn every_command_in_the_documents_runs() {
    let mut failures = Vec::new();
    let mut run = 0;
    let mut not_run = BTreeSet::new();
    for document in documents() {
        let folder = workplace();
        for command in commands(&fs::read_to_string(&document).unwrap()) {
            let is_excepted = |(start, _): &&(&str, &str)| command.starts_with(start);
            if let Some((start, _)) = NOT_RUN.iter().find(is_excepted) {
                not_run.insert(*start);
                continue;
            }
            run += 1;
            let output = program("sh")
                .args(["-c", &command])
                .current_dir(folder.path())
                .output()
                .unwrap();
            let code = output.status.code();
            let is_answer = OTHER_CODES
                .iter()
                .any(|(start, other)| command.starts_with(start) && code == Some(*other));
            if code != Some(0) && !is_answer {
                failures.push(format!(
                    "{}: {command}\n  ended with {code:?}\n  {}",
                    document.display(),
                    String::from_utf8_lossy(&output.stderr).trim()
                ));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    for (start, _) in NOT_RUN {
        assert!(not_run.contains(start), "no document has `{start}`");
    }
    assert!(run >= 10, "only {run} commands were found");
}

/// What the tour of the README shows below its commands, with each command.
fn shown_outputs(text: &str) -> Vec<(String, String)> {
    let (_, tour) = text.split_once("\n## Tour\n").unwrap();
    let (tour, _) = tour.split_once("\n## ").unwrap();
    let blocks = tour.split("```console\n").skip(1);
    let blocks = blocks.filter_map(|rest| rest.split("```").next());
    let commands = blocks.flat_map(|block| block.split("$ ").skip(1));
    let commands = commands.filter_map(|command| command.split_once('\n'));
    let shown = commands.filter(|(_, output)| !output.trim().is_empty());
    shown
        .map(|(command, output)| (command.to_owned(), output.to_owned()))
        .collect()
}

/// A text in which figures, their units and ids are `#`, and lines may end anywhere.
fn shape(text: &str) -> String {
    let figure =
        regex::Regex::new(r"[0-9a-f]{12}\b|[0-9][0-9.,]*( +([mµk]?(J|Wh|g|s)|min)\b)?").unwrap();
    let words: Vec<&str> = text.split_whitespace().collect();
    figure.replace_all(&words.join(" "), "#").into_owned()
}

#[test]
fn the_tour_shows_what_its_commands_print() {
    let machine = Machine::bare();
    let (package, memory) = ("intel-rapl:0", "intel-rapl:0:1");
    machine.domain(package, "package-0", 1 << 40);
    machine.domain(memory, "dram", 1 << 40);
    let meters = [(package, &[(0.0, 28.4)]), (memory, &[(0.0, 3.1)])];
    let _meters =
        meters.map(|(zone, watts)| Simulator::start(&machine.counter(zone), watts, 1 << 40));
    copy_examples(&machine.path(""));
    let outputs = shown_outputs(&fs::read_to_string(root().join("README.md")).unwrap());
    assert!(outputs.len() >= 3, "{outputs:?}");
    for (command, shown) in outputs {
        let both = format!("exec 2>&1; {command}");
        let output = machine.program("sh").args(["-c", &both]).output().unwrap();
        let printed = shape(&String::from_utf8(output.stdout).unwrap());
        let mut rest = printed.as_str();
        // What is left out of the README is dots there.
        for part in shown.split("...").map(shape) {
            let Some((_, after)) = rest.split_once(part.as_str()) else {
                panic!("{command} does not print\n{part}\nbut\n{printed}");
            };
            rest = after;
        }
    }
}

#[test]
fn commands_are_found_in_blocks_only_and_joined_at_backslashes() {
    let text = "$ not this\n```console\n$ impact list \\\n    logs\nits output\n$ true\n```\n$ nor this\n\
                ```sh\n# a comment\nls\n```\n```toml\nkey = 1\n```\n";
    assert_eq!(commands(text), ["impact list logs", "true", "ls"]);
}
