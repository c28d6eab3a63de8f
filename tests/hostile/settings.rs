//! Attacks by settings and repositories of somebody else.

use std::fs;
use std::os::unix::fs::chown;
use std::path::Path;

use predicates::str::contains;

use crate::support::machine::Log;
use crate::support::{Machine, Run, impact_in, not_run};

/// A user who is nobody here.
const STRANGER: u32 = 54_321;

/// Gives a file to somebody else; says whether that was possible, which takes root.
///
/// The rule itself is tested with any user, beside `TrustedOwners`, `Sources` and the reader of repositories.
fn give_away(path: &Path) -> bool {
    let is_given = chown(path, Some(STRANGER), None).is_ok();
    if !is_given {
        not_run(&format!(
            "{} of another user: only root can give files away",
            path.file_name().unwrap().display()
        ));
    }
    is_given
}

#[test]
fn a_settings_file_of_somebody_else_is_not_used_and_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    Run::default().write(&folder.path().join("run"));
    let settings = folder.path().join(".impact.toml");
    fs::write(&settings, "emissions-factor = 0\n").unwrap();
    if !give_away(&settings) {
        return;
    }
    impact_in(folder.path())
        .args(["statement", "run"])
        .assert()
        .stdout(contains("at 50 g/kWh"))
        .stderr(contains("belongs to user 54321"));
    // The folder of a stranger is as bad.
    let below = folder.path().join("below");
    fs::create_dir(&below).unwrap();
    fs::write(below.join(".impact.toml"), "pue = 3\n").unwrap();
    give_away(&below);
    impact_in(&below)
        .args(["config", "get", "pue"])
        .assert()
        .failure()
        .stderr(contains("belongs to user 54321"));
    // Root through sudo trusts the user who called it.
    impact_in(&below)
        .env("SUDO_UID", STRANGER.to_string())
        .args(["config", "get", "pue"])
        .assert()
        .success()
        .stdout("3\n");
}

#[test]
fn a_settings_file_that_is_a_pipe_device_folder_or_dead_link_is_named() {
    let machine = Machine::with_rapl();
    Run::default().write(&machine.path("run"));
    let settings = machine.path(".impact.toml");
    for (index, make) in [
        "mkfifo .impact.toml",
        "ln -s /dev/zero .impact.toml",
        "mkdir .impact.toml",
        "ln -s nowhere .impact.toml",
    ]
    .into_iter()
    .enumerate()
    {
        let made = machine.program("sh").args(["-c", make]).status();
        assert!(made.unwrap().success());
        let cannot = format!("cannot read {}", settings.display());
        let log = format!("log{index}");
        let output = machine
            .impact()
            .args(["track", "--quiet", "--out", &log, "--", "true"])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        assert_eq!(said.matches(&cannot).count(), 1, "{make}: {said}");
        let notes = Log::read(&machine.path(&log)).notes();
        assert_eq!(notes.matches(&cannot).count(), 1, "{make}: {notes}");
        let output = machine.impact().args(["list", "run"]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(&cannot), "{said}");
        let removed = machine
            .program("sh")
            .args(["-c", "rm -r .impact.toml"])
            .status();
        assert!(removed.unwrap().success());
    }
}

#[test]
fn a_statement_names_what_the_file_of_a_project_has_set() {
    let folder = tempfile::tempdir().unwrap();
    Run::default().write(&folder.path().join("run"));
    fs::write(
        folder.path().join(".impact.toml"),
        "emissions-factor = 0\npue = 1.2\n",
    )
    .unwrap();
    impact_in(folder.path())
        .args(["statement", "run", "--pue", "1.1"])
        .assert()
        .stdout(contains(
            "Set by a project's settings file: emissions-factor 0.",
        ));
    impact_in(folder.path())
        .args(["report", "run"])
        .assert()
        .stdout(contains("set by a project's settings file: pue 1.2"));
}

#[test]
fn a_run_records_what_the_file_of_a_project_has_set() {
    let machine = Machine::with_rapl();
    fs::write(machine.path(".impact.toml"), "pue = 1.5\nzone = \"FR\"\n").unwrap();
    let output = machine.track(&["--zone", "DE"], "true");
    assert!(output.status.success());
    let settings = machine.log().info["project_settings"].clone();
    assert_eq!(settings, serde_json::json!({ "pue": "1.5" }));
}

#[test]
fn a_project_cannot_name_roots_tables_or_libraries() {
    let machine = Machine::with_rapl();
    for key in [
        "sysfs-root",
        "procfs-root",
        "run-root",
        "zones",
        "intensities",
        "nvml-lib",
    ] {
        fs::write(
            machine.path(".impact.toml"),
            format!("{key} = \"/dev/zero\"\n"),
        )
        .unwrap();
        let output = machine
            .impact()
            .args(["track", "--out", key, "--", "true"])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{key}: {said}");
        assert!(
            said.contains("is not allowed in the file of a project"),
            "{said}"
        );
    }
}

#[test]
fn a_project_cannot_have_logs_written_outside_of_the_working_directory() {
    let machine = Machine::with_rapl();
    let outside = tempfile::tempdir().unwrap();
    for folder in [outside.path().to_str().unwrap(), "../x", "a/../../x"] {
        fs::write(
            machine.path(".impact.toml"),
            format!("output = \"{folder}\"\n"),
        )
        .unwrap();
        let output = machine
            .impact()
            .args(["track", "--", "true"])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        assert!(
            said.contains("a folder outside of the working directory"),
            "{said}"
        );
    }
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    assert_eq!(
        fs::read_dir(machine.path("impact-logs")).unwrap().count(),
        3
    );
    fs::write(machine.path(".impact.toml"), "output = \"./logs/here\"\n").unwrap();
    machine
        .impact()
        .args(["track", "--", "true"])
        .status()
        .unwrap();
    assert!(machine.path("logs/here").is_dir());
}

#[test]
fn a_repository_of_somebody_else_is_not_read() {
    let machine = Machine::with_rapl();
    let dot_git = machine.path(".git");
    fs::create_dir(&dot_git).unwrap();
    fs::write(
        dot_git.join("HEAD"),
        "0123456789abcdef0123456789abcdef01234567\n",
    )
    .unwrap();
    machine.track(&[], "true");
    assert!(machine.log().info["git"]["commit"].is_string());
    fs::remove_dir_all(machine.path("log")).unwrap();
    if give_away(&dot_git) {
        machine.track(&[], "true");
        assert!(machine.log().info["git"].is_null());
    }
}

#[test]
fn the_example_of_perun_is_imported_and_an_import_of_nothing_fails() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join(".perun.ini"),
        "[report]\npue = 1.58\nemissions-factor = 0.355, # kgCO2eq/kWh\nprice-factor = 41.59, # cent/kWh\n\
         [monitor]\nfrequency = 2\ndata_out = /tmp\n[output]\napp_name\n",
    )
    .unwrap();
    impact_in(folder.path())
        .args(["config", "import"])
        .assert()
        .success()
        .stdout(contains(
            "pue = 1.58\nemissions-factor = 355 (0.355 kg/kWh in the file)\n\
             price = 0.4159 (41.59 cent/kWh in the file)\ninterval = 0.5s (2 Hz in the file)\n\
             currency = € (perun's own; the file names none)\n5 settings imported",
        ))
        .stderr(contains("app_name has no value"))
        .stderr(contains("/tmp is outside of the working directory"));
    impact_in(folder.path())
        .args(["config", "get", "currency"])
        .assert()
        .stdout("€\n");
    impact_in(folder.path())
        .args(["config", "set", "output", "../x"])
        .assert()
        .failure()
        .stderr(contains("outside of the working directory"));
    fs::write(
        folder.path().join(".perun.ini"),
        "[benchmarking]\nrounds = 3\n",
    )
    .unwrap();
    impact_in(folder.path())
        .args(["config", "import"])
        .assert()
        .failure()
        .stderr(contains("none of the 1 line"));
}
