//! Whose work it was: what of the machine's time is the run's, and what is not.

use std::fs;

use crate::support::{IMPACT, Machine, not_run, same};

#[test]
fn the_utilisation_is_the_processors_kept_busy() {
    let machine = Machine::with_rapl();
    machine.track(
        &["-q", "--interval", "1h"],
        "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done",
    );
    let log = machine.log();
    let elapsed = log.last()["elapsed"].as_f64().unwrap();
    let busy = log.last()["absolute_cpu_utilization"].as_f64().unwrap();
    assert!(log.cpu_seconds() > 0.0);
    assert!(same(busy, log.cpu_seconds() / elapsed), "{busy}");
}

#[test]
fn a_machine_that_does_not_say_how_busy_it_is_is_said_to_be_all_the_runs() {
    let machine = Machine::with_rapl();
    let output = machine
        .impact()
        .env("IMPACT_PROCFS_ROOT", "/nowhere")
        .args(["track", "-q", "--out", "log", "--", "sh", "-c"])
        .arg("echo 9000000 > sys/class/powercap/intel-rapl:0/energy_uj")
        .output();
    assert!(output.unwrap().status.success());
    let log = machine.log();
    assert!(same(log.total("package-0"), 8.0));
    assert!(same(log.attributed("package-0"), 8.0));
    assert!(
        log.notes().contains("CPU time cannot be read"),
        "{}",
        log.notes()
    );
}

#[test]
fn a_running_process_can_be_followed() {
    let machine = Machine::with_rapl();
    let mut job = std::process::Command::new("sh")
        .args(["-c", "while [ ! -e go ]; do sleep 0.01; done"])
        .current_dir(machine.folder.path())
        .spawn()
        .unwrap();
    let tracker = machine
        .impact()
        .args(["track", "-q", "--out", "log", "--interval", "5ms", "--pid"])
        .arg(job.id().to_string())
        .spawn()
        .unwrap();
    let data = machine.path("log/impacttracker/data.json");
    while fs::read_to_string(&data).map_or(0, |text| text.lines().count()) < 2 {
        std::thread::yield_now();
    }
    machine.set("intel-rapl:0", 12_000_000);
    fs::write(machine.path("go"), "").unwrap();
    job.wait().unwrap();
    assert!(tracker.wait_with_output().unwrap().status.success());
    assert!(same(machine.log().total("package-0"), 11.0));
}

#[test]
fn what_a_followed_process_did_is_counted_whatever_the_interval() {
    let machine = Machine::with_rapl();
    let mut job = std::process::Command::new("sh")
        .args(["-c", "while [ ! -e go ]; do :; done"])
        .current_dir(machine.path(""))
        .spawn()
        .unwrap();
    let mut tracker = machine
        .impact()
        .args(["track", "-q", "--out", "log", "--interval", "1h", "--pid"])
        .arg(job.id().to_string())
        .spawn()
        .unwrap();
    while !machine.path("log/impacttracker/data.json").exists() {
        std::thread::yield_now();
    }
    let used = || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", job.id())).unwrap();
        let ticks: u64 = stat.split(' ').nth(13).unwrap().parse().unwrap();
        ticks
    };
    let before = used();
    while used() < before + 100 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    fs::write(machine.path("go"), "").unwrap();
    job.wait().unwrap();
    assert!(tracker.wait().unwrap().success());
    let counted = machine.log().cpu_seconds();
    assert!(counted > 0.5, "{counted} of a second");
}

#[test]
fn who_leaves_the_control_group_of_the_run_is_counted_all_the_same() {
    let machine = Machine::with_rapl();
    let mounts = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].map(std::path::Path::new);
    let group = mounts
        .into_iter()
        .find(|mount| mount.join("cgroup.procs").exists())
        .map(|mount| mount.join(format!("left-{}", std::process::id())));
    let Some(group) = group.filter(|group| fs::create_dir(group).is_ok()) else {
        not_run("processes that leave the run's group: no control group can be made here");
        return;
    };
    let said = "log/impacttracker/impact_tracker_log.log";
    let script = format!(
        "echo $$ > {}/cgroup.procs; until grep -q 'left its control group' {said}; do :; done; \
         times > times",
        group.display()
    );
    let output = machine
        .impact_with_groups()
        .args(["track", "-q", "--out", "log", "--interval", "20ms", "--"])
        .args(["timeout", "60", "sh", "-c", &script])
        .output();
    assert!(output.unwrap().status.success());
    fs::remove_dir(&group).unwrap();
    let text = fs::read_to_string(machine.path("times")).unwrap();
    let spent: f64 = text.split_whitespace().map(seconds).sum();
    let counted = machine.log().cpu_seconds();
    assert!(counted >= 0.95 * spent, "{counted} of {spent}");
}

#[test]
fn a_run_of_more_processes_than_files_may_be_open_is_counted_once() {
    let machine = Machine::with_rapl();
    let job = "i=0; while [ $i -lt 60 ]; do sleep 60 & pids=\"$pids $!\"; i=$((i+1)); done; \
               while [ $i -lt 400 ]; do sha256sum /dev/null > /dev/null; i=$((i+1)); done; \
               kill $pids; wait; times > times";
    let script = format!(
        "ulimit -n 40; exec '{IMPACT}' track -q --out log --no-cgroup --interval 10ms -- sh -c '{job}'"
    );
    run_in_shell(&machine, &script);
    let text = fs::read_to_string(machine.path("times")).unwrap();
    let spent: f64 = text.split_whitespace().map(seconds).sum();
    let counted = machine.log().cpu_seconds();
    assert!(counted >= 0.9 * spent, "{counted} of {spent}");
    assert!(counted <= 1.1 * spent + 0.1, "{counted} of {spent}");
}

#[test]
fn children_too_short_to_be_seen_are_counted() {
    for options in [&["-q"][..], &["-q", "--no-cgroup"]] {
        let machine = Machine::with_rapl();
        let script = "i=0; while [ $i -lt 150 ]; do sha256sum /dev/null > /dev/null; i=$((i+1)); done; times > times";
        let output = machine
            .impact_with_groups()
            .args(["track", "--out", "log"])
            .args(options)
            .args(["--", "sh", "-c", script])
            .output();
        assert!(output.unwrap().status.success());
        let text = fs::read_to_string(machine.path("times")).unwrap();
        let spent: f64 = text.split_whitespace().map(seconds).sum();
        let counted = machine.log().cpu_seconds();
        assert!(counted >= 0.95 * spent, "{options:?}: {counted} of {spent}");
        assert!(
            counted <= 1.05 * spent + 0.06,
            "{options:?}: {counted} of {spent}"
        );
    }
}

#[test]
fn what_a_process_did_before_it_became_the_tracker_is_neither_its_nor_the_runs() {
    const BUSY: &str = "i=0; while [ $i -lt 600000 ]; do i=$((i+1)); done";
    for options in ["", "--no-cgroup"] {
        let machine = Machine::with_rapl();
        let script = format!(
            "({BUSY}); {BUSY}; times > times; exec '{IMPACT}' track -q --out log {options} -- true"
        );
        run_in_shell(&machine, &script);

        let text = fs::read_to_string(machine.path("times")).unwrap();
        let before: Vec<f64> = text.split_whitespace().map(seconds).collect();
        let (own, children) = (before[0] + before[1], before[2] + before[3]);
        assert!(own > 0.1 && children > 0.1, "{text}");
        let log = machine.log();
        let overhead = log.info["overhead_cpu_s"].as_f64().unwrap();
        assert!(overhead > 0.0 && overhead < own, "{overhead} of {own}");
        let counted = log.cpu_seconds();
        assert!(counted < children, "{options}: {counted} of {children}");
    }
}

#[test]
fn children_from_before_it_became_the_tracker_are_not_the_runs() {
    const BUSY: &str = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
    let machine = Machine::with_rapl();
    // The stranger works while the run waits for it, and is dead before the run ends.
    let script = format!(
        "({BUSY}; times > times; : > done) & exec '{IMPACT}' track -q --out log --no-cgroup --interval 5ms -- \
         sh -c 'while [ ! -e done ]; do sleep 0.01; done; sleep 0.03'"
    );
    run_in_shell(&machine, &script);
    let text = fs::read_to_string(machine.path("times")).unwrap();
    let stranger: f64 = text.split_whitespace().take(2).map(seconds).sum();
    let counted = machine.log().cpu_seconds();
    assert!(counted < stranger, "{counted} s, and {stranger} s");
}

#[test]
fn a_program_may_have_any_name() {
    let machine = Machine::with_rapl();
    let program = machine.path("обучение модели");
    fs::copy("/bin/sh", &program).unwrap();
    let output = machine
        .impact()
        .args(["track", "-q", "--out", "log", "--no-cgroup"])
        .args(["--interval", "5ms", "--"])
        .arg(&program)
        .args(["-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"])
        .output();
    assert!(output.unwrap().status.success());
    let log = machine.log();
    let counted = |sample: &serde_json::Value| {
        let ids = sample["process_ids"].as_array();
        ids.is_some_and(|ids| !ids.is_empty())
    };
    assert!(log.samples.iter().any(counted), "no process was seen");
}

/// A shell that may become the tracker, on this machine.
fn run_in_shell(machine: &Machine, script: &str) {
    let mut shell = machine.program("sh");
    assert!(shell.args(["-c", script]).status().unwrap().success());
}

/// `1m2.5s`, as the shell writes it.
fn seconds(text: &str) -> f64 {
    let (minutes, seconds) = text.trim_end_matches('s').split_once('m').unwrap();
    minutes.parse::<f64>().unwrap() * 60.0 + seconds.parse::<f64>().unwrap()
}
