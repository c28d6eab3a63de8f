//! Attacks by disks, drivers and limits that fail under the tracker.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::support::machine::Log;
use crate::support::{IMPACT, Machine, same};

/// The job: it moves the counter by 42 J, says when it ends, and exits with 7.
const JOB: &str = "sleep 0.3; echo 43000000 > sys/class/powercap/intel-rapl:0/energy_uj; \
                   date +%s.%N > ended; exit 7";
/// The time in which the tracker gives up waiting for sensors and disk, and some more.
const GIVES_UP: Duration = Duration::from_secs(12);

const BOARD: &str = "board uuid=GPU-1 name=Stub power=150 energy=1000 load=3 total=16 used=1\n";

/// The functions of the stub that the tracker calls.
const CALLS: [&str; 16] = [
    "nvmlInit_v2",
    "nvmlSystemGetDriverVersion",
    "nvmlDeviceGetCount_v2",
    "nvmlDeviceGetHandleByIndex_v2",
    "nvmlDeviceGetUUID",
    "nvmlDeviceGetName",
    "nvmlDeviceGetPowerUsage",
    "nvmlDeviceGetTotalEnergyConsumption",
    "nvmlDeviceGetEnforcedPowerLimit",
    "nvmlDeviceGetPerformanceState",
    "nvmlDeviceGetTemperature",
    "nvmlDeviceGetClockInfo",
    "nvmlDeviceGetUtilizationRates",
    "nvmlDeviceGetMemoryInfo_v2",
    "nvmlDeviceGetComputeRunningProcesses_v3",
    "nvmlDeviceGetProcessUtilization",
];

fn beside_the_tests(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.parent().unwrap().join(name)
}

fn with_stub<'c>(machine: &Machine, command: &'c mut Command) -> &'c mut Command {
    command
        .env("IMPACT_NVML_LIB", beside_the_tests("libnvml_stub.so"))
        .env("IMPACT_STUB_SCENARIO", machine.path("scenario"))
}

fn track(command: &mut Command, job: &str) -> (Output, Duration) {
    let start = Instant::now();
    let output = command
        .args(["track", "--out", "log", "--interval", "50ms"])
        .args(["--", "sh", "-c", job])
        .output()
        .unwrap();
    (output, start.elapsed())
}

/// How far the recorded end is from the one that the job wrote down.
fn error_of_the_end(machine: &Machine, log: &Log) -> f64 {
    let text = std::fs::read_to_string(machine.path("ended")).unwrap();
    let ended: f64 = text.trim().parse().unwrap();
    let recorded = log.info["ended"].as_str().expect("the end is recorded");
    let recorded = chrono::DateTime::parse_from_rfc3339(recorded).unwrap();
    (recorded.timestamp_micros() as f64 / 1e6 - ended).abs()
}

/// Asserts that most recorded ends are right to 50 ms. A busy machine can delay single ones.
fn ends_are_right(errors: Mutex<Vec<f64>>) {
    let mut errors = errors.into_inner().unwrap();
    errors.sort_by(f64::total_cmp);
    assert!(errors[errors.len() / 2] < 0.05, "{errors:?}");
    assert!(errors[errors.len() - 1] < 0.5, "{errors:?}");
}

/// Runs the cases a few at a time; most of them wait.
fn at_once<T: Sync>(cases: &[T], run: impl Fn(&T) + Sync) {
    let next = Mutex::new(cases.iter());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let case = next.lock().unwrap().next();
                    match case {
                        Some(case) => run(case),
                        None => return,
                    }
                }
            });
        }
    });
}

#[test]
fn a_driver_that_hangs_or_crashes_at_any_call_costs_its_own_figures_only() {
    let cases: Vec<(&str, &str)> = CALLS
        .iter()
        .flat_map(|call| [(*call, "hang"), (*call, "crash")])
        .collect();
    let errors = Mutex::new(Vec::new());
    at_once(&cases, |(call, kind)| {
        let machine = Machine::with_rapl();
        let scenario = format!("{BOARD}fault call={call} kind={kind}\n");
        std::fs::write(machine.path("scenario"), scenario).unwrap();
        let mut command = machine.impact();
        let (output, took) = track(with_stub(&machine, &mut command), JOB);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let case = format!("{kind} at {call}: {said}");
        assert_eq!(output.status.code(), Some(7), "{case}");
        assert!(took < GIVES_UP, "{took:?} {case}");
        let log = machine.log();
        assert!(same(log.total("package-0"), 42.0), "{case}");
        errors
            .lock()
            .unwrap()
            .push(error_of_the_end(&machine, &log));
        assert!(
            log.notes().contains("did not answer") || log.notes().contains("crashed"),
            "{case}"
        );
    });
    ends_are_right(errors);
}

#[test]
fn a_driver_that_hangs_while_the_job_runs_is_given_up_and_what_it_counted_is_kept() {
    let machine = Machine::with_rapl();
    std::fs::write(machine.path("scenario"), BOARD).unwrap();
    let mut command = machine.impact();
    let job = format!(
        "sleep 0.2; echo '{}\nfault call=nvmlDeviceGetTotalEnergyConsumption kind=hang' > scenario; {JOB}",
        BOARD.trim().replace("energy=1000", "energy=5000")
    );
    let (output, _) = track(with_stub(&machine, &mut command), &job);
    assert_eq!(output.status.code(), Some(7));
    let log = machine.log();
    assert!(same(log.total("package-0"), 42.0));
    assert!(log.total("gpu:GPU-1") <= 4.0);
    assert!(
        log.notes()
            .contains("was lost: the driver did not answer within 1 s"),
        "{}",
        log.notes()
    );
}

#[test]
fn a_board_that_never_answered_is_missing_and_not_zero_in_the_statement() {
    let machine = Machine::with_rapl();
    let scenario = format!("{BOARD}fault call=nvmlInit_v2 kind=hang\n");
    std::fs::write(machine.path("scenario"), scenario).unwrap();
    let mut command = machine.impact();
    track(with_stub(&machine, &mut command), JOB);
    let output = machine
        .impact()
        .args(["statement", "--detail", "log"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let missing = "the GPUs (the driver did not answer before the run had ended)";
    assert!(text.contains(missing), "{text}");
}

#[test]
fn a_lying_board_adds_no_energy_that_it_cannot_have_drawn() {
    for (lie, most) in [
        ("energy=18446744073709551615", 1.0),
        ("energy=1", 1.0),
        ("energy=9000000", 1.0),
    ] {
        let machine = Machine::with_rapl();
        std::fs::write(machine.path("scenario"), BOARD).unwrap();
        let mut command = machine.impact();
        let job = format!(
            "sleep 0.2; echo '{}' > scenario; {JOB}",
            BOARD.trim().replace("energy=1000", lie)
        );
        track(with_stub(&machine, &mut command), &job);
        let log = machine.log();
        assert!(
            log.total("gpu:GPU-1") <= most,
            "{lie}: {}",
            log.total("gpu:GPU-1")
        );
        assert!(log.notes().contains("gpu:GPU-1"), "{lie}: {}", log.notes());
    }
}

/// Compiles the faults of the disk.
fn faults(folder: &Path) -> PathBuf {
    let library = folder.join("faults.so");
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(&library)
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/hostile/faults.c"
        ))
        .arg("-ldl")
        .status();
    assert!(compiled.expect("a C compiler").success());
    library
}

#[test]
fn a_disk_that_is_slow_or_fails_changes_neither_the_exit_code_nor_the_recorded_end() {
    let folder = tempfile::tempdir().unwrap();
    let library = faults(folder.path());
    let cases = [
        ("write delay 300", true),
        ("sync delay 60000", true),
        ("sync error 5", true),
        ("open delay 300", true),
        ("write error 28", false),
        ("open error 5", false),
        ("write delay 60000", false),
        ("open delay 60000", false),
    ];
    let errors = Mutex::new(Vec::new());
    at_once(&cases, |(fault, is_complete)| {
        let machine = Machine::with_rapl();
        let mut command = machine.impact();
        command
            .env("LD_PRELOAD", &library)
            .env("IMPACT_TEST_FAULT", fault);
        let (output, took) = track(&mut command, JOB);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let case = format!("{fault}: {said}");
        assert_eq!(output.status.code(), Some(7), "{case}");
        assert!(took < GIVES_UP, "{took:?} {case}");
        if *is_complete {
            let log = machine.log();
            assert!(same(log.total("package-0"), 42.0), "{case}");
            errors
                .lock()
                .unwrap()
                .push(error_of_the_end(&machine, &log));
        } else {
            assert!(said.contains("note:") || said.contains("no log"), "{case}");
        }
    });
    ends_are_right(errors);
}

#[test]
fn who_tracks_is_told_how_many_samples_a_disk_that_hangs_has_cost_also_with_quiet() {
    let folder = tempfile::tempdir().unwrap();
    let library = faults(folder.path());
    let machine = Machine::with_rapl();
    let mut command = machine.impact();
    command
        .env("LD_PRELOAD", &library)
        .env("IMPACT_TEST_FAULT", "write delay 60000")
        .env("IMPACT_TEST_FAULT_FROM", machine.path("hangs"))
        .args(["track", "--quiet", "--out", "log", "--interval", "50ms"])
        .args([
            "--",
            "sh",
            "-c",
            "sleep 0.3; touch hangs; sleep 0.6; exit 7",
        ]);
    let start = Instant::now();
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(7));
    assert!(start.elapsed() < GIVES_UP);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("the log is incomplete"), "{said}");
    let (before, _) = said.split_once(" samples were not written").unwrap();
    let (_, number) = before.rsplit_once(' ').unwrap();
    let lost: usize = number.parse().unwrap();
    let written = machine.log().samples.len();
    assert!(lost >= 5 && written >= 3, "{written} and {said}");
}

#[test]
fn a_limit_of_open_files_keeps_no_job_from_running() {
    for limit in 4..=24 {
        let machine = Machine::with_rapl();
        let script = format!(
            "exec 3<&- 4<&- 5<&- 6<&-; ulimit -n {limit}; exec {IMPACT} track --out log -- sh -c 'exit 9'"
        );
        let output = machine
            .program("sh")
            .args(["-c", &script])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(9), "{limit}: {said}");
        if limit >= 14 {
            assert!(machine.log().info["ended"].is_string(), "{limit}: {said}");
        } else {
            assert!(said.contains("without being measured"), "{limit}: {said}");
        }
    }
}

#[test]
fn the_command_has_the_limit_of_open_files_that_the_tracker_was_started_with() {
    let machine = Machine::with_rapl();
    let script = format!("ulimit -Sn 100; exec {IMPACT} track -q --out log -- sh -c 'ulimit -Sn'");
    let output = machine
        .program("sh")
        .args(["-c", &script])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "100");
}

#[test]
fn a_flood_of_datagrams_costs_next_to_nothing() {
    let machine = Machine::with_rapl();
    let flood = "import os, socket, time\n\
        s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)\n\
        s.setblocking(False)\n\
        address = '\\0' + os.environ['IMPACT_TRACKER'][1:]\n\
        end = time.monotonic() + 1\n\
        while time.monotonic() < end:\n\
        \x20   try: s.sendto(b'x' * 4000, address)\n\
        \x20   except BlockingIOError: time.sleep(0.0001)\n";
    std::fs::write(machine.path("flood.py"), flood).unwrap();
    let output = machine.track(&["-q"], "python3 flood.py");
    assert!(output.status.success());
    let overhead = machine.log().info["overhead_cpu_s"].as_f64().unwrap();
    assert!(overhead < 0.15, "{overhead} s of CPU in one second");
}

#[test]
fn a_log_of_a_killed_tracker_is_read_by_every_command() {
    let machine = Machine::with_rapl();
    let mut tracker = machine
        .impact()
        .args([
            "track",
            "-q",
            "--interval",
            "10ms",
            "--out",
            "log",
            "--",
            "sleep",
            "5",
        ])
        .spawn()
        .unwrap();
    let data = machine.path("log/impacttracker/data.json");
    let lines = || std::fs::read_to_string(&data).map_or(0, |text| text.lines().count());
    let start = Instant::now();
    while lines() < 20 {
        assert!(
            start.elapsed() < Duration::from_secs(30),
            "it writes no samples"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    tracker.kill().unwrap();
    tracker.wait().unwrap();
    for command in ["statement", "report", "list"] {
        let output = machine.impact().args([command, "log"]).output().unwrap();
        assert!(output.status.success(), "{command}");
    }
}
