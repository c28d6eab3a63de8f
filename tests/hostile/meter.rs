//! Attacks by sensors that lie.

use std::process::Command;

use crate::support::{Machine, same};

fn pipe(path: &std::path::Path) {
    if path.exists() {
        std::fs::remove_file(path).unwrap();
    }
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn a_pipe_under_a_moved_sys_does_not_keep_the_job_from_running() {
    let machine = Machine::with_rapl();
    pipe(&machine.counter("intel-rapl:0"));
    pipe(&machine.path("sys/class/powercap/intel-rapl:0:0/name"));
    let output = machine.track(&[], "true");
    assert!(output.status.success());
    assert!(
        machine.log().notes().contains("package-0"),
        "{}",
        machine.log().notes()
    );
}

#[test]
fn a_spike_of_a_counter_that_comes_back_is_not_counted_and_noted() {
    let machine = Machine::with_rapl();
    let counter = machine.counter("intel-rapl:0");
    let script = format!(
        "sleep 0.15; echo 400000000 > {0}; sleep 0.2; echo 11000000 > {0}; sleep 0.2",
        counter.display()
    );
    machine.track(&["--interval", "50ms"], &script);
    let log = machine.log();
    // A total never falls, so what the spike has posted is kept until the counter has caught up.
    assert!(log.notes().contains("came back"), "{}", log.notes());
    assert!(
        log.info["balance"]["package-0"]["left_out_j"]
            .as_f64()
            .unwrap()
            > 380.0
    );
}

#[test]
fn a_jump_that_no_processor_can_draw_is_left_out_with_its_amount() {
    let machine = Machine::with_rapl();
    let counter = machine.counter("intel-rapl:0");
    let script = format!(
        "sleep 0.1; echo 9001000000 > {}; sleep 0.1",
        counter.display()
    );
    machine.track(&["--interval", "50ms"], &script);
    let log = machine.log();
    assert!(same(log.total("package-0"), 0.0));
    assert!(
        log.notes().contains("9000 J are not counted"),
        "{}",
        log.notes()
    );
    assert!(same(
        log.info["balance"]["package-0"]["left_out_j"]
            .as_f64()
            .unwrap(),
        9000.0
    ));
}

#[test]
fn memory_without_a_meter_is_estimated_and_the_log_and_the_table_say_so() {
    let machine = Machine::bare();
    machine.domain("intel-rapl:0", "package-0", 262_143_328_850);
    let output = machine
        .impact()
        .env("IMPACT_MEMORY_WATTS_PER_GB", "0.5")
        .args(["track", "--out", "log", "--", "sleep", "0.3"])
        .output()
        .unwrap();
    let log = machine.log();
    let meter = &log.last()["energy"]["dram-0"];
    assert_eq!(meter["method"], "estimated", "{meter}");
    let model = meter["model"].as_str().unwrap();
    assert!(model.contains("0.5 W a GB as stated"), "{model}");
    let gigabytes = log.info["host"]["memory_bytes"].as_f64().unwrap() / f64::from(1 << 30);
    let elapsed = log.last()["elapsed"].as_f64().unwrap();
    let expected = 0.5 * gigabytes * elapsed;
    let total = log.total("dram-0");
    assert!((total / expected - 1.0).abs() < 0.05, "{total} {expected}");
    let table = String::from_utf8(output.stderr).unwrap();
    let row = table.lines().find(|line| line.contains("dram-0")).unwrap();
    assert!(
        row.contains("estimated") && !row.contains("not added"),
        "{row}"
    );
}

#[test]
fn memory_that_is_metered_or_part_of_a_meter_is_not_estimated_again() {
    let metered = Machine::with_rapl();
    metered.track(&["-q"], "true");
    let sensors = metered.log().info["sensors"].to_string();
    assert!(!sensors.contains("estimated"), "{sensors}");

    let platform = Machine::bare();
    platform.domain("intel-rapl:1", "psys", 262_143_328_850);
    platform.track(&["-q"], "true");
    let energy = platform.log().last()["energy"].clone();
    assert!(
        energy["dram-0"].is_null() && !energy["psys"].is_null(),
        "{energy}"
    );
}
