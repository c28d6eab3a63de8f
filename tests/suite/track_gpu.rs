//! NVIDIA boards, played by a library of our own that is loaded as the real one would be.

use std::path::PathBuf;
use std::process::Command;

use crate::support::machine::Log;
use crate::support::{Machine, same};

/// Where cargo has put the stub it built for these tests.
fn stub() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.parent().unwrap().join("libnvml_stub.so")
}

struct Boards {
    machine: Machine,
}

impl Boards {
    fn playing(scenario: &str) -> Self {
        let machine = Machine::with_rapl();
        std::fs::write(machine.path("scenario"), scenario).unwrap();
        Self { machine }
    }

    fn impact(&self) -> Command {
        let mut command = self.machine.impact();
        command
            .env("IMPACT_NVML_LIB", stub())
            .env("IMPACT_STUB_SCENARIO", self.machine.path("scenario"));
        command
    }

    /// Tracks a script that can replace the scenario by `play "..."`, all at once.
    fn track(&self, options: &[&str], script: &str) -> std::process::Output {
        let play = "play() { printf \"$1\" > next; mv next scenario; };";
        self.impact()
            .args(["track", "--out", "log"])
            .args(options)
            .args(["--", "sh", "-c", &format!("{play} {script}")])
            .output()
            .unwrap()
    }
}

#[test]
fn a_board_with_a_counter_is_measured_by_it() {
    let boards = Boards::playing(
        "board uuid=GPU-1 name=Stub power=150 energy=1000 temperature=61 pstate=2 total=16 used=1\n",
    );
    boards.track(&["-q"], "play \"board uuid=GPU-1 name=Stub power=150 energy=43000\\nprocess pid=$$ sm=80 time=5\\n\"");
    let log = boards.machine.log();
    assert!(same(log.total("gpu:GPU-1"), 42.0));
    assert!(same(log.attributed("gpu:GPU-1"), 42.0));
    assert_eq!(log.last()["energy"]["gpu:GPU-1"]["method"], "measured");
    assert_eq!(log.info["host"]["gpus"][0]["uuid"], "GPU-1");
    assert_eq!(log.info["host"]["gpu_driver"], "555.42.stub");
}

#[test]
fn a_board_without_a_counter_is_integrated_from_its_power() {
    let boards = Boards::playing("board uuid=GPU-2 name=Old power=100\n");
    boards.track(&["-q"], "sleep 0.3");
    let log = boards.machine.log();
    let elapsed = log.last()["elapsed"].as_f64().unwrap();
    assert!(
        (log.total("gpu:GPU-2") - 100.0 * elapsed).abs() < 0.5,
        "{}",
        log.total("gpu:GPU-2")
    );
    assert_eq!(log.last()["energy"]["gpu:GPU-2"]["method"], "integrated");
    assert!(same(log.attributed("gpu:GPU-2"), 0.0), "nobody used it");
}

#[test]
fn a_board_that_never_shows_a_possible_power_has_no_energy_and_not_none_at_all() {
    let impossible = "board uuid=GPU-2 name=Old power=4294967.295\n";
    let boards = Boards::playing(impossible);
    let output = boards.track(&["--interval", "50ms"], "sleep 0.3");
    let log = boards.machine.log();
    for sample in &log.samples {
        let meter = &sample["energy"]["gpu:GPU-2"];
        assert!(meter["total_j"].is_null(), "{meter}");
        for field in ["nvidia_draw_absolute", "per_gpu_power_draw"] {
            assert!(sample[field].is_null(), "{sample}");
        }
    }
    assert_eq!(log.last()["energy"]["gpu:GPU-2"]["method"], "absent");
    assert!(log.info["balance"]["gpu:GPU-2"].is_null());
    assert_eq!(log.notes().matches("its energy is unknown").count(), 1);
    let table = String::from_utf8(output.stderr).unwrap();
    let row = table.lines().find(|line| line.contains("GPU-2")).unwrap();
    assert!(row.contains("unknown"), "{row}");
    let report = boards.impact().args(["report", "log"]).output().unwrap();
    let report = String::from_utf8(report.stdout).unwrap();
    assert!(report.contains("more power than it can draw"), "{report}");

    // Once a power can be, it counts.
    let boards = Boards::playing(impossible);
    let script = "sleep 0.1; play \"board uuid=GPU-2 name=Old power=100\n\"; sleep 0.4";
    boards.track(&["--interval", "50ms"], script);
    let log = boards.machine.log();
    assert_eq!(log.last()["energy"]["gpu:GPU-2"]["method"], "integrated");
    assert!(log.total("gpu:GPU-2") > 20.0);
    assert!(!log.notes().contains("was lost"), "{}", log.notes());
}

/// How often a function of the library was called while a job of a second was sampled 20 times a second, and the number
/// of samples.
fn calls_and_samples(scenario: &str, function: &str) -> (usize, usize, Log) {
    let boards = Boards::playing(scenario);
    let tracked = boards
        .impact()
        .env("IMPACT_STUB_CALLS", boards.machine.path("calls"))
        .args(["track", "-q", "--interval", "50ms", "--out", "log", "--"])
        .args(["sleep", "1"])
        .status();
    assert!(tracked.unwrap().success());
    let calls = std::fs::read_to_string(boards.machine.path("calls")).unwrap();
    let calls = calls.lines().filter(|call| *call == function).count();
    let log = boards.machine.log();
    (calls, log.samples.len(), log)
}

#[test]
fn a_board_is_asked_once_a_sample_for_what_its_sensor_reads_and_the_log_records() {
    let (calls, samples, log) = calls_and_samples(
        "board uuid=GPU-2 name=Old power=100 load=50\n",
        "nvmlDeviceGetPowerUsage",
    );
    assert!(
        calls >= samples && calls < samples + samples / 2,
        "{calls} for {samples}"
    );
    for sample in &log.samples[1..] {
        assert_eq!(sample["per_gpu_power_draw"]["GPU-2"], 100.0, "{sample}");
    }
    let (calls, samples, log) = calls_and_samples(
        "board uuid=GPU-7 name=NVIDIA_A100-SXM4-40GB load=50\n",
        "nvmlDeviceGetUtilizationRates",
    );
    assert!(
        calls >= samples && calls < samples + samples / 2,
        "{calls} for {samples}"
    );
    for sample in &log.samples[1..] {
        assert_eq!(sample["per_gpu_utilization"]["GPU-7"], 0.5, "{sample}");
    }
}

#[test]
fn a_board_without_any_meter_is_estimated_by_its_load_and_says_so() {
    let boards = Boards::playing("board uuid=GPU-7 name=NVIDIA_A100-SXM4-40GB load=50\n");
    boards.track(&["-q"], "sleep 0.3");
    let log = boards.machine.log();
    let elapsed = log.last()["elapsed"].as_f64().unwrap();
    assert!((log.total("gpu:GPU-7") - 220.0 * elapsed).abs() < 1.0);
    let meter = &log.last()["energy"]["gpu:GPU-7"];
    assert_eq!(meter["method"], "estimated");
    assert!(
        meter["model"].as_str().unwrap().contains("400 W TDP"),
        "{meter}"
    );
}

#[test]
fn a_board_that_nothing_is_known_of_is_noted_and_not_counted() {
    let boards = Boards::playing("board uuid=GPU-8 name=Abacus load=50\n");
    boards.track(&["-q"], "true");
    let log = boards.machine.log();
    assert!(log.last()["energy"]["gpu:GPU-8"].is_null());
    assert!(
        log.notes().contains("gpu:GPU-8 is not metered"),
        "{}",
        log.notes()
    );
}

#[test]
fn a_board_that_nothing_is_known_of_is_estimated_by_the_design_power_that_is_stated() {
    let boards = Boards::playing("board uuid=GPU-8 name=Abacus load=50\n");
    let tracked = boards
        .impact()
        .env("IMPACT_GPU_TDP", "100")
        .args(["track", "-q", "--out", "log", "--", "sleep", "0.3"])
        .status();
    assert!(tracked.unwrap().success());
    let log = boards.machine.log();
    let elapsed = log.last()["elapsed"].as_f64().unwrap();
    assert!((log.total("gpu:GPU-8") - 55.0 * elapsed).abs() < 1.0);
    let meter = &log.last()["energy"]["gpu:GPU-8"];
    assert_eq!(meter["method"], "estimated");
    let model = meter["model"].as_str().unwrap();
    assert!(model.contains("design power as stated: 100 W"), "{model}");
}

#[test]
fn a_board_that_falls_off_the_bus_costs_no_job_and_keeps_its_energy() {
    let boards = Boards::playing("board uuid=GPU-3 name=Frail power=90 energy=1000\n");
    let output = boards.track(
        &["--interval", "20ms"],
        "play 'board uuid=GPU-3 name=Frail power=90 energy=6000\\n'; sleep 0.15; play 'board lost=1\\n'; sleep 0.1; exit 8",
    );
    assert_eq!(output.status.code(), Some(8));
    let log = boards.machine.log();
    assert!(same(log.total("gpu:GPU-3"), 5.0));
    assert!(log.notes().contains("was lost"), "{}", log.notes());
}

#[test]
fn two_processes_share_a_board_by_their_time_on_it() {
    let boards = Boards::playing(
        "board uuid=GPU-4 name=Shared power=200 energy=0\nprocess pid=1 sm=10 time=1\n",
    );
    boards.track(
        &["-q"],
        "play \"board uuid=GPU-4 name=Shared power=200 energy=8000 load=80\\nprocess pid=$$ sm=75 time=9\\nprocess pid=1 sm=25 time=9\\n\"",
    );
    let log = boards.machine.log();
    assert!(same(log.total("gpu:GPU-4"), 8.0));
    assert!(
        same(log.attributed("gpu:GPU-4"), 6.0),
        "{}",
        log.attributed("gpu:GPU-4")
    );
    let kept_busy = log.last()["average_gpu_estimated_utilization_absolute"].as_f64();
    assert!(same(kept_busy.unwrap(), 0.8 * 0.75), "{kept_busy:?}");
}

#[test]
fn only_the_boards_the_run_can_see_are_its_own() {
    let boards = Boards::playing(
        "board uuid=GPU-5 name=A energy=0 power=1\nboard uuid=GPU-6 name=B energy=0 power=1\n",
    );
    let status = boards
        .impact()
        .args(["track", "-q", "--out", "log", "--", "true"])
        .env("CUDA_VISIBLE_DEVICES", "1")
        .status()
        .unwrap();
    assert!(status.success());
    let last = boards.machine.log().last()["energy"].clone();
    assert!(
        last["gpu:GPU-5"].is_null() && !last["gpu:GPU-6"].is_null(),
        "{last}"
    );
}

#[test]
fn a_library_that_is_not_there_is_noted_and_nothing_worse() {
    let machine = Machine::with_rapl();
    let output = machine
        .impact()
        .env("IMPACT_NVML_LIB", "/nowhere/libnvidia-ml.so")
        .args(["track", "-q", "--out", "log", "--", "sh", "-c", "exit 2"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        machine
            .log()
            .notes()
            .contains("NVIDIA boards cannot be read")
    );
}

#[test]
fn a_board_whose_users_a_container_cannot_see_counts_whole_and_says_so() {
    let boards = Boards::playing("board uuid=GPU-1 name=Stub power=150 energy=1000\n");
    let namespace = boards.machine.path("proc/self/ns");
    std::fs::create_dir_all(&namespace).unwrap();
    std::os::unix::fs::symlink("pid:[4026532999]", namespace.join("pid")).unwrap();
    let procfs = boards.machine.path("proc").display().to_string();
    // No process has this number: Linux gives at most 2^22.
    let script = "play \"board uuid=GPU-1 name=Stub power=150 energy=43000\\n\
                  process pid=4194305 sm=80 time=5\\n\"";
    for (options, attributed) in [
        (vec!["-q", "--procfs-root", &procfs], 42.0),
        (vec!["-q", "--procfs-root", "/proc"], 0.0),
    ] {
        boards.track(&options, script);
        let log = boards.machine.log();
        assert!(same(log.attributed("gpu:GPU-1"), attributed), "{options:?}");
        let is_said = log.notes().contains("which a container cannot see");
        assert_eq!(is_said, attributed > 0.0, "{options:?}");
        std::fs::remove_dir_all(boards.machine.path("log")).unwrap();
        let first = "board uuid=GPU-1 name=Stub power=150 energy=1000\n";
        std::fs::write(boards.machine.path("scenario"), first).unwrap();
    }
}
