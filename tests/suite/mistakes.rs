//! What a user gets for a mistake, word for word: `tests/fixtures/mistakes.txt`.
//!
//! The file has a block for each mistake: the command line after `$ `, the exit code, and everything that is printed on
//! standard error. A text must say what is wrong, why, and what to do. Where texts change on purpose, read every change in
//! the file that the failing test names, then copy it over the fixture.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;

use crate::support::{IMPACT, Run, program};

const EXPECTED: &str = include_str!("../fixtures/mistakes.txt");
/// The user who may read little, where the tests run as root, who may read everything.
const NOBODY: u32 = 65534;
const TABLES: [(&str, &str); 9] = [
    ("note.txt", "not what you think\n"),
    ("result.tex", "% a file of mine\n"),
    ("own.csv", "zone,g_per_kwh\nDE,plenty\n"),
    ("half.json", "{\"title\": \"Half a spec\","),
    ("typo.json", "{\"All\": {\"filtre\": null}}"),
    ("regex.json", "{\"All\": {\"filter\": \"Pong(\"}}"),
    ("nothing.json", "{\"All\": {\"filter\": \"Pong\"}}"),
    ("settings/.impact.toml", "pue = 1.2\ncolour = \"green\"\n"),
    ("value/.impact.toml", "# a comment\npue = \"much\"\n"),
];

/// A folder with runs and files to make mistakes with.
fn project(folder: &Path) {
    for name in [
        "empty",
        "closed",
        "settings",
        "value",
        "full",
        "bin",
        "damaged/x/impacttracker",
    ] {
        fs::create_dir_all(folder.join(name)).unwrap();
    }
    for (name, text) in TABLES {
        fs::write(folder.join(name), text).unwrap();
    }
    for (name, watts) in [("a", 40.0), ("b", 50.0)] {
        let run = Run::of_watts(watts).with("id", name).tag("lr", name);
        run.write(&folder.join("logs").join(name));
    }
    let unplaced = Run::of_watts(40.0).without("region").with("id", "c");
    unplaced.write(&folder.join("unplaced/c"));
    fs::write(
        folder.join("damaged/x/impacttracker/data.json"),
        "nothing to see",
    )
    .unwrap();
    fs::write(folder.join("full/thesis.txt"), "mine").unwrap();
    fs::copy(IMPACT, folder.join("bin/impact")).unwrap();
    let mode = |name: &str, mode| {
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("closed", 0o000);
    mode("note.txt", 0o644);
}

/// Gives everything to the user who makes the mistakes, but for what is closed.
fn hand_over(folder: &Path) {
    for entry in walk(folder) {
        if !entry.ends_with("closed") {
            std::os::unix::fs::chown(&entry, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut all = vec![folder.to_owned()];
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() {
            all.extend(walk(&entry.path()));
        } else {
            all.push(entry.path());
        }
    }
    all
}

/// Runs a command line in the folder; its exit code and what it told.
fn made(folder: &Path, line: &str, is_root: bool) -> (i32, String) {
    let mut shell = program("sh");
    shell
        .args(["-c", line])
        .current_dir(folder)
        .env(
            "PATH",
            format!("{}:/usr/bin:/bin", folder.join("bin").display()),
        )
        .env("HOME", folder.join("home"))
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("XDG_CACHE_HOME")
        .env("IMPACT_SYSFS_ROOT", folder.join("empty"))
        .env("IMPACT_RUN_ROOT", folder.join("empty"))
        .env("IMPACT_NVML_LIB", folder.join("empty/no-library"));
    if is_root {
        shell.uid(NOBODY).gid(NOBODY);
    }
    let output = shell.output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    let told = told.replace(&folder.display().to_string(), "/home/me");
    (output.status.code().unwrap(), without_ids(&told))
}

/// The text with ID in place of the random part of a folder's name.
fn without_ids(text: &str) -> String {
    let parts = text.split('/').map(|part| match part.split_at_checked(12) {
        Some((id, rest)) if id.bytes().all(|byte| byte.is_ascii_hexdigit()) => format!("ID{rest}"),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("/")
}

#[test]
fn every_mistake_is_answered_with_what_why_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let place = folder.path().canonicalize().unwrap();
    project(&place);
    let is_root = fs::metadata(&place).unwrap().uid() == 0;
    if is_root {
        hand_over(&place);
    }
    let lines: Vec<&str> = EXPECTED
        .lines()
        .filter_map(|line| line.strip_prefix("$ "))
        .collect();
    assert!(lines.len() >= 60, "{} mistakes are not 60", lines.len());
    let mut found = String::new();
    for line in lines {
        let (code, told) = made(&place, line, is_root);
        if code != 0 {
            let has = |start: &str| told.lines().any(|line| line.starts_with(start));
            assert!(has("error: ") && has("try: "), "{line}: {told}");
        }
        let _ = writeln!(found, "$ {line}\n[{code}]\n{told}");
    }
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mistakes.txt");
    fs::write(&file, &found).unwrap();
    for (expected, found) in EXPECTED.split("\n$ ").zip(found.split("\n$ ")) {
        assert_eq!(
            found.trim_end(),
            expected.trim_end(),
            "all texts are in {}",
            file.display()
        );
    }
    assert_eq!(found, EXPECTED);
}
