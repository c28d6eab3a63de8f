//! Commands that do not say by their name which Python they run.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::Machine;

/// The Python of this machine, behind all links and shims.
fn python() -> PathBuf {
    let code = "import os, sys; print(os.path.realpath(sys.executable))";
    let output = Command::new("python3").args(["-c", code]).output().unwrap();
    assert!(output.status.success(), "python3 is needed");
    PathBuf::from(String::from_utf8(output.stdout).unwrap().trim())
}

/// A virtual environment around this Python, with one package.
fn environment(folder: &Path, python: &Path) {
    let name = python.file_name().unwrap().to_str().unwrap();
    let site = folder.join("lib").join(name).join("site-packages");
    std::fs::create_dir_all(site.join("abacus-1.2.3.dist-info")).unwrap();
    std::fs::create_dir_all(folder.join("bin")).unwrap();
    std::os::unix::fs::symlink(python, folder.join("bin/python")).unwrap();
    let version = name.strip_prefix("python").unwrap();
    let settings = format!("home = /nowhere\nversion = {version}\n");
    std::fs::write(folder.join("pyvenv.cfg"), settings).unwrap();
}

const SLEEP: &str = "-c 'import time; time.sleep(0.6)'";

#[test]
fn a_python_behind_a_shell_is_found_with_the_packages_of_its_virtual_environment() {
    let machine = Machine::with_rapl();
    environment(&machine.path("venv"), &python());
    machine.track(&["-q"], &format!("venv/bin/python {SLEEP}; true"));
    let packages = &machine.log().info["python"]["packages"];
    assert_eq!(packages["abacus"], "1.2.3", "{packages}");
}

#[test]
fn a_job_that_has_its_work_done_by_a_daemon_is_told_that_it_is_not_counted() {
    let machine = Machine::with_rapl();
    // What counts is the name of a program that runs.
    std::fs::copy("/bin/sleep", machine.path("srun")).unwrap();
    for script in ["exec ./srun 0.3", "./srun 0.3; true"] {
        let output = machine.track(&[], script);
        let table = String::from_utf8(output.stderr).unwrap();
        let notes = machine.log().notes();
        for said in [&table, &notes] {
            let note = "srun has its work done by processes that are not its own";
            assert_eq!(said.matches(note).count(), 1, "{said}");
        }
        std::fs::remove_dir_all(machine.path("log")).unwrap();
    }
    machine.track(&["-q"], "sleep 0.3");
    let notes = machine.log().notes();
    assert!(!notes.contains("not its own"), "{notes}");
}

#[test]
fn a_python_behind_a_shim_is_the_one_that_really_runs() {
    let machine = Machine::with_rapl();
    environment(&machine.path("venv"), &python());
    let real = machine.path("venv/bin/python");
    std::fs::create_dir_all(machine.path("shims")).unwrap();
    let shim = machine.path("shims/python");
    let script = format!("#!/bin/sh\nexec {} \"$@\"\n", real.display());
    std::fs::write(&shim, script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&shim, mode).unwrap();
    let status = machine
        .impact()
        .args(["track", "-q", "--out", "log", "--"])
        .arg(shim)
        .args(["-c", "import time; time.sleep(0.6)"])
        .status();
    assert!(status.unwrap().success());
    let packages = &machine.log().info["python"]["packages"];
    assert_eq!(packages["abacus"], "1.2.3", "{packages}");
}

#[test]
fn the_packages_of_a_running_job_are_in_its_log_before_it_ends() {
    let machine = Machine::with_rapl();
    environment(&machine.path("venv"), &python());
    let script = format!(
        "venv/bin/python {SLEEP} & sleep 0.5; cp log/impacttracker/info.json early.json; wait"
    );
    machine.track(&["-q"], &script);
    let early = std::fs::read_to_string(machine.path("early.json")).unwrap();
    assert!(early.contains("abacus"), "{early}");
}

#[test]
fn a_search_for_a_python_that_is_not_there_does_not_keep_the_job_from_ending() {
    let machine = Machine::with_rapl();
    let started = std::time::Instant::now();
    machine.track(&["-q"], "sleep 0.2");
    assert!(started.elapsed().as_secs() < 5);
    assert!(machine.log().info["python"].is_null());
}
