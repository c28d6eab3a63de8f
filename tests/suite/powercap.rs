//! Power caps: a board has its former limit again however a run ends, and no run starts with a wrong one.
//!
//! The limit of the stub's board lies in a file, as that of a real board lies in the board.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::machine::Log;
use crate::support::{IMPACT, Machine};

const BOARD: &str =
    "board uuid=GPU-1 name=Stub power=50 energy=1000 limit=250 default=300 least=100 most=350";

struct Boards {
    machine: Machine,
}

impl Boards {
    fn playing(scenario: &str) -> Self {
        let machine = Machine::with_rapl();
        for folder in ["limits", "run", "state"] {
            fs::create_dir(machine.path(folder)).unwrap();
        }
        let boards = Self { machine };
        boards.play(scenario);
        boards
    }

    fn one() -> Self {
        Self::playing(BOARD)
    }

    fn play(&self, scenario: &str) {
        fs::write(self.machine.path("next"), scenario).unwrap();
        fs::rename(self.machine.path("next"), self.machine.path("scenario")).unwrap();
    }

    fn program(&self, name: &str) -> Command {
        let stub = std::env::current_exe().unwrap();
        let stub = stub.parent().unwrap().join("libnvml_stub.so");
        let mut command = self.machine.program(name);
        command
            .env("IMPACT_NVML_LIB", stub)
            .env("IMPACT_STUB_SCENARIO", self.machine.path("scenario"))
            .env("IMPACT_STUB_LIMITS", self.machine.path("limits"))
            .env("IMPACT_RUN_ROOT", self.machine.path("run"))
            .env("XDG_STATE_HOME", self.machine.path("state"));
        command
    }

    fn impact(&self, arguments: &[&str]) -> Output {
        self.program(IMPACT).args(arguments).output().unwrap()
    }

    /// Tracks a shell script with these options.
    fn track(&self, options: &[&str], script: &str) -> Output {
        let mut arguments = vec!["track", "--out", "log"];
        arguments.extend(options);
        arguments.extend(["--", "sh", "-c", script]);
        self.impact(&arguments)
    }

    /// Starts a run with a cap, and waits until its command runs. That ends with the folder of the machine.
    fn start_capped(&self) -> Child {
        let child = self.spawn_capped();
        Self::wait_until("the command runs", || self.machine.path("started").exists());
        assert_eq!(self.watts(), 180.0);
        child
    }

    fn spawn_capped(&self) -> Child {
        // Whoever runs the tests in the background has signals ignored, and hands that on.
        let mut command = self.program("env");
        command
            .args(["--default-signal", IMPACT, "track", "-q", "--out", "log"])
            .args(["--power-cap", "180W", "--", "sh", "-c"])
            .arg("touch started; while [ -e started ]; do sleep 0.05; done")
            .stdin(Stdio::null());
        command.spawn().unwrap()
    }

    /// The limit of the board now.
    fn watts(&self) -> f64 {
        match fs::read_to_string(self.machine.path("limits/GPU-1")) {
            Ok(milliwatts) => milliwatts.parse::<f64>().unwrap() / 1e3,
            Err(_) => 250.0,
        }
    }

    fn wait_until(what: &str, is_so: impl Fn() -> bool) {
        let patience = Instant::now() + Duration::from_secs(60);
        while !is_so() {
            assert!(Instant::now() < patience, "never: {what}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn wait_for_watts(&self, watts: f64) {
        Self::wait_until("the limit is as expected", || self.watts() == watts);
    }

    /// The processes of this machine that set caps.
    fn keepers(&self) -> Vec<Pid> {
        let own = self.machine.path("scenario").display().to_string();
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let read = |name: &str| fs::read(entry.path().join(name)).unwrap_or_default();
            let environment = String::from_utf8_lossy(&read("environ")).into_owned();
            let id = entry.file_name().to_string_lossy().parse().ok();
            if read("comm") == b"impact-caps\n"
                && environment.contains(&own)
                && let Some(pid) = id.and_then(Pid::from_raw)
            {
                found.push(pid);
            }
        }
        found
    }

    fn kill_keepers(&self) {
        Self::wait_until("no keeper is left", || {
            let keepers = self.keepers();
            for keeper in &keepers {
                let _ = kill_process(*keeper, Signal::KILL);
            }
            keepers.is_empty()
        });
    }

    fn folder(&self) -> PathBuf {
        let root = rustix::process::geteuid().is_root();
        let above = self.machine.path(if root { "run" } else { "state" });
        above.join("impact/power-caps")
    }

    fn records(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.folder()) else {
            return Vec::new();
        };
        let paths = entries.map(|entry| entry.unwrap().path());
        let is_record = |path: &PathBuf| path.extension().is_some_and(|kind| kind == "json");
        paths.filter(is_record).collect()
    }
}

/// Ends a process that the test has started, and all that its command has started.
fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_board_is_capped_while_the_command_runs_and_the_log_says_so() {
    let boards = Boards::one();
    let output = boards.track(&["-q", "--power-cap", "180W"], "cat limits/GPU-1; exit 3");
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert_eq!(text(&output.stdout), "180000");
    assert_eq!(boards.watts(), 250.0);
    assert!(boards.records().is_empty());
    let info = boards.machine.log().info;
    let cap = serde_json::json!({
        "requested_w": 180.0,
        "boards": [{"uuid": "GPU-1", "former_w": 250.0}],
    });
    assert_eq!(info["power_cap"], cap);
    assert_eq!(info["host"]["gpus"][0]["power_limit_w"], 180.0);
    let report = text(&boards.impact(&["report", "log"]).stdout);
    let line = "  power cap: 180 W instead of 250 W (gpu:GPU-1)\n";
    assert!(report.contains(line), "{report}");

    fs::remove_dir_all(boards.machine.path("log")).unwrap();
    boards.track(&["-q", "--redact", "--power-cap", "180W"], "true");
    let info = boards.machine.log().info;
    let hidden = &info["power_cap"]["boards"][0]["uuid"];
    assert_eq!(hidden, &info["host"]["gpus"][0]["uuid"]);
    assert!(!info.to_string().contains("GPU-1"), "{info}");
}

#[test]
fn the_limit_is_back_after_a_command_that_crashes_or_cannot_be_started() {
    let boards = Boards::one();
    let output = boards.track(&["-q", "--power-cap", "180W"], "kill -SEGV $$");
    assert_eq!(output.status.code(), Some(128 + 11));
    assert_eq!(boards.watts(), 250.0);
    let output = boards.impact(&["track", "--power-cap", "180W", "--", "/nowhere/command"]);
    assert_eq!(output.status.code(), Some(127));
    assert_eq!(boards.watts(), 250.0);
    let calls = fs::read_dir(boards.machine.path("limits")).unwrap().count();
    assert_eq!(calls, 1, "the limit was never set");
    assert!(boards.records().is_empty());
}

#[test]
fn the_limit_is_back_after_a_signal() {
    for end in [Signal::INT, Signal::TERM, Signal::HUP] {
        let boards = Boards::one();
        let mut run = boards.start_capped();
        signal(&run, end);
        let status = run.wait().unwrap();
        assert_eq!(status.code(), Some(128 + end.as_raw()), "{end:?}");
        assert_eq!(boards.watts(), 250.0, "{end:?}");
        assert!(boards.records().is_empty());
    }
}

#[test]
fn the_limit_is_back_after_the_tracker_was_killed_or_has_aborted() {
    for end in [Signal::KILL, Signal::ABORT] {
        let boards = Boards::one();
        let mut run = boards.start_capped();
        signal(&run, end);
        assert!(!run.wait().unwrap().success());
        boards.wait_for_watts(250.0);
        Boards::wait_until("the keeper ends", || boards.keepers().is_empty());
        assert!(boards.records().is_empty());
    }
}

#[test]
fn the_limit_is_back_after_a_panic_of_the_tracker() {
    use impact::meter::Roots;
    use impact::track::{CapRequest, Display, LiveStatus, Plan, Subject, track};

    struct Panics;
    impl Display for Panics {
        fn show(&mut self, _: &LiveStatus) {
            panic!("forced by the test");
        }
        fn clear(&mut self) {}
    }
    // The test starts itself once more, as the process that panics.
    if std::env::var_os("IMPACT_STUB_PANIC").is_some() {
        let plan = Plan {
            subject: Subject::Command(["sleep", "1"].map(Into::into).to_vec()),
            out: Some("log".into()),
            logs: "logs".into(),
            name: None,
            tags: [].into(),
            interval: Duration::from_millis(20),
            duration: None,
            pue: None,
            pue_source: None,
            region: None,
            grid: None,
            csv: None,
            power_cap: Some(CapRequest {
                cap: impact::Watts::new(180.0).unwrap(),
                best_effort: false,
            }),
            notes: Vec::new(),
            project_settings: [].into(),
            redact: false,
            own_group: false,
            control: None,
            roots: Roots {
                nvml_lib: std::env::var_os("IMPACT_NVML_LIB"),
                run: std::env::var_os("IMPACT_RUN_ROOT").unwrap().into(),
                ..Roots::default()
            },
        };
        let summary = track(plan, Some(Box::new(Panics))).unwrap();
        assert_eq!(summary.notes.len(), 1, "{:?}", summary.notes);
        return;
    }
    let boards = Boards::one();
    let own = std::env::current_exe().unwrap();
    let name = "powercap::the_limit_is_back_after_a_panic_of_the_tracker";
    let output = boards
        .program(own.to_str().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env("IMPACT_STUB_PANIC", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(text(&output.stderr).contains("forced by the test"));
    assert!(
        boards.machine.path("limits/GPU-1").exists(),
        "never capped: {output:?}"
    );
    assert_eq!(boards.watts(), 250.0);
    assert!(boards.records().is_empty());
}

#[test]
fn what_a_killed_keeper_leaves_at_any_call_of_the_driver_the_next_run_takes_back() {
    let mut was_capped = 0;
    for call in 0.. {
        let boards = Boards::one();
        boards.play(&format!(
            "{BOARD}\nfault process=impact-caps kind=kill after={call}\n"
        ));
        let output = boards.track(&["--power-cap", "180W"], "true");
        let code = output.status.code();
        assert!([Some(0), Some(125)].contains(&code), "{call}: {output:?}");
        let told = text(&output.stderr);
        let is_over = code == Some(0) && !told.contains("may still have the power cap");
        if boards.watts() != 250.0 {
            was_capped += 1;
            assert!(!is_over, "{call}: capped in silence: {told}");
            assert_eq!(boards.records().len(), 1, "{call}");
        }
        boards.play(BOARD);
        let next = boards.impact(&["track", "-q", "--out", "next", "--", "true"]);
        assert!(next.status.success(), "{call}: {next:?}");
        assert_eq!(boards.watts(), 250.0, "{call}");
        assert!(boards.records().is_empty(), "{call}");
        if is_over {
            break;
        }
        assert!(call < 40, "the keeper calls the driver too often");
    }
    assert!(was_capped >= 3, "only {was_capped} kills left a cap");
}

#[test]
fn a_hundred_kills_at_random_instants_leave_no_board_capped_after_the_next_run() {
    let boards = Boards::one();
    let mut random: u64 = 0x2545_f491_4f6c_dd1d;
    let mut left = 0;
    for kill in 0..100 {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let mut run = boards.spawn_capped();
        // Every other kill comes after the board was capped, however slow the machine is.
        let instants = if kill % 2 == 0 { 120_000 } else { 5_000 };
        if kill % 2 == 1 {
            boards.wait_for_watts(180.0);
        }
        std::thread::sleep(Duration::from_micros(random % instants));
        // The keeper first, which would take the cap back.
        boards.kill_keepers();
        signal(&run, Signal::KILL);
        run.wait().unwrap();
        boards.kill_keepers();
        let _ = fs::remove_file(boards.machine.path("started"));
        left += u32::from(boards.watts() != 250.0);
        let reset = boards.impact(&["powercap", "reset"]);
        assert!(reset.status.success(), "{kill}: {reset:?}");
        assert_eq!(boards.watts(), 250.0, "{kill}: {reset:?}");
        assert!(boards.records().is_empty(), "{kill}");
    }
    assert!(left >= 50, "only {left} kills left a cap");
}

#[test]
fn the_next_run_says_that_it_has_taken_back_a_cap() {
    let boards = Boards::one();
    let mut run = boards.start_capped();
    boards.kill_keepers();
    signal(&run, Signal::KILL);
    run.wait().unwrap();
    assert_eq!(boards.watts(), 180.0);
    let shown = text(&boards.impact(&["powercap", "show"]).stdout);
    assert!(
        shown.contains("a run that was killed has left it"),
        "{shown}"
    );
    let output = boards.impact(&["track", "--out", "next", "--", "true"]);
    let note = "GPU 0 (Stub) has its limit of 250 W again: a run that was killed had capped it";
    assert!(text(&output.stderr).contains(note), "{output:?}");
    let log = Log::read(&boards.machine.path("next"));
    assert!(log.notes().contains(note), "{}", log.notes());
    assert!(log.info["power_cap"].is_null());
    assert_eq!(boards.watts(), 250.0);
}

#[test]
fn a_second_run_is_refused_another_cap_and_joins_the_same_one() {
    let boards = Boards::one();
    let inner = |cap: &str| {
        format!(
            "impact track -q --out inner-{cap} --power-cap {cap} -- true; echo \"code $?\"; cat limits/GPU-1; echo"
        )
    };
    let script = format!("{}; {}", inner("150W"), inner("180W"));
    let output = boards.track(&["-q", "--power-cap", "180W"], &script);
    assert_eq!(text(&output.stdout), "code 125\n180000\ncode 0\n180000\n");
    let told = text(&output.stderr);
    assert!(
        told.contains("because: another run holds GPU 0 (Stub) at 180 W\ntry: the same cap"),
        "{told}"
    );
    assert_eq!(boards.watts(), 250.0);
    let inner = Log::read(&boards.machine.path("inner-180W")).info;
    assert_eq!(inner["power_cap"]["boards"][0]["former_w"], 250.0);
    assert!(!boards.machine.path("inner-150W").exists());
}

#[test]
fn the_last_of_two_runs_with_the_same_cap_takes_it_back() {
    let boards = Boards::one();
    let later = "touch started; while [ ! -e go ]; do sleep 0.01; done";
    let script = format!(
        "impact track -q --out later --power-cap 180W -- sh -c '{later}' >later.txt 2>&1 &
         while [ ! -e started ]; do sleep 0.01; done"
    );
    let first = boards.track(&["-q", "--power-cap", "180W"], &script);
    assert!(first.status.success(), "{first:?}");
    assert_eq!(boards.watts(), 180.0, "the second run goes on");
    let refused = boards.impact(&["powercap", "set", "150W"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("another run holds"));
    let refused = boards.impact(&["powercap", "reset"]);
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(boards.watts(), 180.0);
    fs::write(boards.machine.path("go"), "").unwrap();
    boards.wait_for_watts(250.0);
}

#[track_caller]
fn assert_refused(scenario: &str, because: &str, advice: &str) {
    let boards = Boards::playing(scenario);
    let output = boards.track(&["--power-cap", "180W"], "touch ran");
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(125), "{told}");
    let expected = format!(
        "error: the command was not started, because its power cap cannot be set\nbecause: {because}\ntry: {advice}\n"
    );
    assert_eq!(told, expected);
    assert!(!boards.machine.path("ran").exists());
    assert!(!boards.machine.path("log").exists());
    assert_eq!(boards.watts(), 250.0);
    assert!(boards.records().is_empty());

    let options = ["-q", "--power-cap", "180W", "--best-effort"];
    let output = boards.track(&options, "touch ran; exit 4");
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    assert!(boards.machine.path("ran").exists());
    let log = boards.machine.log();
    let recorded = serde_json::json!({"requested_w": 180.0, "refused": because});
    assert_eq!(log.info["power_cap"], recorded);
    assert!(log.notes().contains("the run has no power cap of 180 W"));
    let report = text(&boards.impact(&["report", "log"]).stdout);
    let line = format!("  power cap: none; 180 W was refused: {because}\n");
    assert!(report.contains(&line), "{report}");
    assert_eq!(boards.watts(), 250.0);
}

const DRIVER: &str = "nvidia-smi, which shows whether the driver works";

#[test]
fn a_cap_outside_of_the_range_is_refused() {
    assert_refused(
        &BOARD.replace("least=100", "least=200"),
        "GPU 0 (Stub) allows 200 W to 350 W, not 180 W",
        "a cap from 200 W to 350 W",
    );
}

#[test]
fn a_user_who_may_not_set_limits_is_told_who_may() {
    assert_refused(
        &format!("{BOARD} permission=no"),
        "this user may not set the power limit of GPU 0 (Stub)",
        "sudo impact powercap set POWER before the run and sudo impact powercap reset after it, or --best-effort",
    );
}

#[test]
fn a_board_without_a_limit_and_a_machine_without_boards_are_refused() {
    assert_refused(
        "board uuid=GPU-1 name=Stub power=50 energy=1000",
        "GPU 0 (Stub) has no power limit that can be set",
        "nvidia-smi, which shows what the board supports",
    );
    assert_refused(
        "",
        "there is no NVIDIA board that this job could see",
        DRIVER,
    );
}

#[test]
fn one_board_that_cannot_be_capped_leaves_the_others_as_they_were() {
    let second = BOARD.replace("GPU-1", "GPU-2");
    let boards = Boards::playing(&format!("{BOARD}\n{second} permission=no"));
    let output = boards.track(&["--power-cap", "180W"], "true");
    assert_eq!(output.status.code(), Some(125), "{output:?}");
    assert!(boards.machine.path("limits/GPU-1").exists(), "never capped");
    assert_eq!(boards.watts(), 250.0);
    fs::remove_file(boards.machine.path("limits/GPU-1")).unwrap();
    let output = boards.impact(&["powercap", "set", "180W"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let advice = "try: the same command with sudo\n";
    assert!(text(&output.stderr).ends_with(advice), "{output:?}");
    assert!(boards.machine.path("limits/GPU-1").exists(), "never capped");
    assert_eq!(boards.watts(), 250.0);
    assert!(boards.records().is_empty());
    // Of a job that sees only the first board, the second one is not asked for.
    let output = boards
        .program(IMPACT)
        .args(["track", "-q", "--power-cap", "180W", "--", "true"])
        .env("CUDA_VISIBLE_DEVICES", "0")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_driver_that_hangs_or_crashes_starts_no_command_and_the_next_run_takes_back_what_it_did() {
    for (call, kind) in [
        ("nvmlInit_v2", "hang"),
        ("nvmlDeviceSetPowerManagementLimit", "hang"),
        ("nvmlDeviceSetPowerManagementLimit", "crash"),
    ] {
        let boards = Boards::playing(&format!(
            "{BOARD}\nfault process=impact-caps call={call} kind={kind}\n"
        ));
        let output = boards.track(&["--power-cap", "180W"], "touch ran");
        assert_eq!(output.status.code(), Some(125), "{output:?}");
        assert!(!boards.machine.path("ran").exists());
        boards.play(BOARD);
        boards.kill_keepers();
        assert!(boards.track(&["-q"], "true").status.success());
        assert_eq!(boards.watts(), 250.0);
        assert!(boards.records().is_empty());
    }
}

#[test]
fn a_driver_that_hangs_at_the_end_costs_no_exit_code_and_is_told_also_with_quiet() {
    let boards = Boards::one();
    let hang = "fault process=impact-caps call=nvmlDeviceSetPowerManagementLimit kind=hang";
    fs::write(boards.machine.path("hangs"), format!("{BOARD}\n{hang}\n")).unwrap();
    let output = boards.track(&["-q", "--power-cap", "180W"], "mv hangs scenario; exit 5");
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    let told = text(&output.stderr);
    assert!(
        told.contains("boards may still have the power cap"),
        "{told}"
    );
    assert_eq!(boards.watts(), 180.0);
    boards.play(BOARD);
    boards.kill_keepers();
    assert!(boards.impact(&["powercap", "reset"]).status.success());
    assert_eq!(boards.watts(), 250.0);
}

#[test]
fn a_lasting_cap_stays_until_it_is_reset_and_runs_give_it_back() {
    let boards = Boards::one();
    let set = boards.impact(&["powercap", "set", "200W", "--gpu", "0"]);
    assert_eq!(text(&set.stdout), "GPU 0 (Stub): 200 W instead of 250 W\n");
    assert_eq!(boards.watts(), 200.0);
    let record = boards.records().pop().unwrap();
    assert_eq!(
        fs::metadata(&record).unwrap().permissions().mode() & 0o777,
        0o600
    );
    boards.track(&["-q"], "true");
    assert_eq!(boards.watts(), 200.0);
    let output = boards.impact(&[
        "track",
        "-q",
        "--out",
        "capped",
        "--power-cap",
        "180W",
        "--",
        "cat",
        "limits/GPU-1",
    ]);
    assert_eq!(text(&output.stdout), "180000");
    assert_eq!(boards.watts(), 200.0);
    let info = Log::read(&boards.machine.path("capped")).info;
    assert_eq!(info["power_cap"]["boards"][0]["former_w"], 200.0);
    boards.impact(&["powercap", "set", "150W"]);
    assert_eq!(boards.watts(), 150.0);
    let shown = text(&boards.impact(&["powercap", "show"]).stdout);
    assert!(shown.contains("set it instead of 250 W"), "{shown}");
    let reset = boards.impact(&["powercap", "reset"]);
    assert_eq!(
        text(&reset.stdout),
        "GPU 0 (Stub): 250 W instead of 150 W\n"
    );
    assert_eq!(boards.watts(), 250.0);
    assert!(boards.records().is_empty());
    let reset = boards.impact(&["powercap", "reset"]);
    assert_eq!(text(&reset.stdout), "no board has a cap of impact\n");
}

#[test]
fn a_lasting_cap_that_is_killed_at_any_call_of_the_driver_can_be_reset() {
    for call in 0.. {
        let boards = Boards::one();
        assert!(boards.impact(&["powercap", "set", "200W"]).status.success());
        boards.play(&format!(
            "{BOARD}\nfault process=impact-caps kind=kill after={call}\n"
        ));
        let is_over = boards.impact(&["powercap", "set", "150W"]).status.success();
        boards.play(BOARD);
        assert!(boards.impact(&["powercap", "reset"]).status.success());
        assert_eq!(boards.watts(), 250.0, "{call}");
        if is_over {
            assert!(call > 5, "{call}");
            break;
        }
        assert!(call < 40, "the keeper calls the driver too often");
    }
}

#[test]
fn a_limit_that_somebody_else_has_set_since_is_left_as_it_is() {
    let boards = Boards::one();
    boards.impact(&["powercap", "set", "200W"]);
    fs::write(boards.machine.path("limits/GPU-1"), "300000").unwrap();
    let reset = boards.impact(&["powercap", "reset"]);
    assert!(reset.status.success(), "{reset:?}");
    assert_eq!(boards.watts(), 300.0);
    let script = "printf 320000 > limits/GPU-1";
    boards.track(&["-q", "--power-cap", "180W"], script);
    assert_eq!(boards.watts(), 320.0);
}

#[test]
fn a_record_of_an_earlier_boot_is_dropped() {
    let boards = Boards::one();
    let mut run = boards.start_capped();
    boards.kill_keepers();
    signal(&run, Signal::KILL);
    run.wait().unwrap();
    let boot = boards.machine.path("proc/sys/kernel/random");
    fs::create_dir_all(&boot).unwrap();
    fs::write(boot.join("boot_id"), "another-boot\n").unwrap();
    let proc = boards.machine.path("proc").display().to_string();
    let reset = boards.impact(&["powercap", "reset", "--procfs-root", &proc]);
    assert_eq!(text(&reset.stdout), "no board has a cap of impact\n");
    assert!(boards.records().is_empty());
    assert_eq!(boards.watts(), 180.0, "as the driver has it after the boot");
}

#[test]
fn links_are_not_followed_and_damaged_records_are_told() {
    let boards = Boards::one();
    fs::create_dir_all(boards.folder().parent().unwrap()).unwrap();
    symlink(boards.machine.path("limits"), boards.folder()).unwrap();
    let output = boards.track(&["--power-cap", "180W"], "true");
    assert_eq!(output.status.code(), Some(125));
    assert!(
        text(&output.stderr).contains("others may write to"),
        "{output:?}"
    );
    assert_eq!(boards.watts(), 250.0);

    let boards = Boards::one();
    boards.impact(&["powercap", "set", "200W"]);
    let record = boards.records().pop().unwrap();
    let precious = boards.machine.path("precious");
    fs::rename(&record, &precious).unwrap();
    symlink(&precious, &record).unwrap();
    for _ in 0..2 {
        let reset = boards.impact(&["powercap", "reset"]);
        assert_eq!(reset.status.code(), Some(1), "{reset:?}");
        assert_eq!(boards.watts(), 200.0);
        fs::remove_file(&record).unwrap();
        fs::write(&record, "{\"uuid\":").unwrap();
    }
    assert!(fs::read_to_string(precious).unwrap().contains("GPU-1"));
}

#[test]
fn show_lists_boards_and_packages_and_says_who_may_change_them() {
    let boards = Boards::one();
    let zone = boards.machine.path("sys/class/powercap/intel-rapl:0");
    for (file, content) in [
        ("enabled", "1"),
        ("constraint_0_name", "long_term"),
        ("constraint_0_power_limit_uw", "125000000"),
        ("constraint_0_max_power_uw", "150000000"),
        ("constraint_1_name", "short_term"),
        ("constraint_1_power_limit_uw", "180000000"),
        ("constraint_1_max_power_uw", "0"),
    ] {
        fs::write(zone.join(file), content).unwrap();
    }
    let shown = boards.impact(&["powercap", "show"]);
    let zone = zone.display();
    let packages = format!(
        "CPU package-0 long_term: limit 125 W, at most 150 W, enabled\n  {zone}\n\
         CPU package-0 short_term: limit 180 W, enabled\n  {zone}\n  \
         impact only shows the limits of processors.\n"
    );
    assert_eq!(
        text(&shown.stdout),
        format!(
            "GPU 0 (Stub), GPU-1\n  limit 250 W, default 300 W, allowed 100 W to 350 W\n  \
             you may set it: impact track --power-cap POWER -- CMD\n{packages}"
        )
    );
    assert_eq!(boards.watts(), 250.0);
    assert!(!boards.folder().exists());
    boards.play(&format!("{BOARD} permission=no"));
    let shown = text(&boards.impact(&["powercap", "show"]).stdout);
    assert!(
        shown.contains("  you may not set it; root may: sudo"),
        "{shown}"
    );
    boards.play("board uuid=GPU-2 name=Stub power=50");
    let shown = text(&boards.impact(&["powercap", "show"]).stdout);
    let unknown = "  limit unknown, default unknown, allowed unknown\n  it cannot be set: ";
    assert!(shown.contains(unknown), "{shown}");
    boards.play("");
    let shown = text(&boards.impact(&["powercap", "show"]).stdout);
    assert_eq!(shown, format!("GPU: no NVIDIA board\n{packages}"));
}
