//! What `impact track` does to a command and says of it.

mod meters;

use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

use meters::{Log, Machine, same};

#[test]
fn the_exit_code_is_the_commands_own() {
    let machine = Machine::with_rapl();
    for (script, code) in [
        ("true", 0),
        ("false", 1),
        ("exit 42", 42),
        ("kill -9 $$", 137),
        ("kill -TERM $$", 143),
    ] {
        let output = machine.track(&["-q"], script);
        assert_eq!(output.status.code(), Some(code), "{script}");
    }
}

#[test]
fn a_command_that_cannot_be_run_leaves_no_log() {
    let machine = Machine::with_rapl();
    fs::write(machine.path("text"), "not a program").unwrap();
    for (command, code) in [
        ("/nowhere/at/all", 127),
        ("no-such-program", 127),
        ("./text", 126),
    ] {
        let output = machine
            .impact()
            .args(["track", "--", command])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(code), "{command}");
        assert!(String::from_utf8_lossy(&output.stderr).starts_with("error: "));
    }
    assert!(!machine.path("impact-logs").exists());

    fs::create_dir(machine.path("mine")).unwrap();
    let nothing = [
        "--out",
        "mine/a/b",
        "--csv",
        "mine/series.csv",
        "--",
        "no-such-program",
    ];
    let output = machine
        .impact()
        .arg("track")
        .args(nothing)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(127));
    assert_eq!(fs::read_dir(machine.path("mine")).unwrap().count(), 0);
}

#[test]
fn input_and_output_are_the_commands() {
    let machine = Machine::with_rapl();
    let mut child = machine
        .impact()
        .args(["track", "-q", "--", "cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"through\n").unwrap();
    assert_eq!(child.wait_with_output().unwrap().stdout, b"through\n");
}

#[test]
fn the_energy_is_what_the_counter_moved_while_the_command_ran() {
    let machine = Machine::with_rapl();
    let counter = machine.counter("intel-rapl:0");
    let script = format!("echo 43000000 > {}", counter.display());
    assert!(machine.track(&["-q"], &script).status.success());
    let log = machine.log();
    assert!(same(log.total("package-0"), 42.0));
    assert!(same(log.total("dram-0"), 0.0));
    assert_eq!(log.info["counters_at_start"]["package-0"], 1_000_000);
    assert!(log.attributed("package-0") <= log.total("package-0"));
}

#[test]
fn a_counter_that_wraps_and_one_without_a_stated_range_lose_nothing() {
    let machine = Machine::bare();
    machine.domain("intel-rapl:0", "package-0", 100_000_000);
    machine.set("intel-rapl:0", 99_000_000);
    let unstated = machine.domain("intel-rapl:1", "package-1", 1);
    fs::remove_file(unstated.join("max_energy_range_uj")).unwrap();
    machine.set("intel-rapl:1", 262_143_328_850 - 2_000_000);
    let script = format!(
        "echo 4000000 > {}; echo 3000000 > {}",
        machine.counter("intel-rapl:0").display(),
        machine.counter("intel-rapl:1").display()
    );
    machine.track(&["-q"], &script);
    let log = machine.log();
    assert!(
        same(log.total("package-0"), 5.0),
        "{}",
        log.total("package-0")
    );
    assert!(
        same(log.total("package-1"), 5.0),
        "{}",
        log.total("package-1")
    );
    assert!(
        log.notes().contains("range the kernel does not state"),
        "{}",
        log.notes()
    );
}

#[test]
fn psys_cores_and_unknown_domains_are_shown_but_not_added() {
    let machine = Machine::with_rapl();
    machine.domain("intel-rapl:1", "psys", 262_143_328_850);
    machine.domain("intel-rapl:2", "npu", 262_143_328_850);
    machine.domain("intel-rapl-mmio:0", "package-0", 262_143_328_850);
    let mut script = String::new();
    for (zone, microjoules) in [
        ("intel-rapl:0", 3_000_000),
        ("intel-rapl:0:0", 2_500_000),
        ("intel-rapl:1", 9_000_000),
        ("intel-rapl:2", 1_500_000),
        ("intel-rapl-mmio:0", 3_000_000),
    ] {
        script += &format!("echo {microjoules} > {};", machine.counter(zone).display());
    }
    script += "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
    let output = machine.track(&[], &script);
    let log = machine.log();
    assert!(same(log.total("psys"), 8.0));
    assert!(same(log.total("other:npu"), 0.5));
    let table = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(table.matches("not added").count(), 3, "{table}");
    assert!(table.contains("next: impact statement log USA"), "{table}");
    let balance = &log.info["balance"]["package-0"];
    let part = |name: &str| balance[name].as_f64().unwrap();
    assert!(same(
        part("attributed_j") + part("other_j") + part("idle_j"),
        part("total_j")
    ));
    assert!(same(part("total_j"), 2.0));
    let report = machine.impact().args(["report", "log"]).output().unwrap();
    assert!(report.status.success(), "{report:?}");
}

#[test]
fn without_a_sensor_the_energy_is_estimated_and_says_so() {
    let machine = Machine::bare();
    let output = machine.track(&["--zone", "US-CA"], "exit 3");
    assert_eq!(output.status.code(), Some(3));
    let table = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(table.contains("estimated: load model"), "{table}");
    assert!(
        table.contains("CO2eq") && table.contains("US-CA"),
        "{table}"
    );
    let log = machine.log();
    assert_eq!(log.last()["energy"]["cpu"]["method"], "estimated");
    assert_eq!(log.info["region"]["zone"], "US-CA");
    assert_eq!(log.info["exit_code"], 3);
}

#[test]
fn an_average_that_stands_in_for_another_says_so_in_table_and_statement() {
    let machine = Machine::with_rapl();
    let counter = machine.counter("intel-rapl:0").display().to_string();
    let script = format!("echo 6000000 > {counter}; seq 20000 | wc -l");
    let output = machine.track(&["--zone", "BV"], &script);
    let table = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(table.contains("the world's average is used"), "{table}");
    let output = machine.impact().args(["statement", "log"]).output();
    let statement = String::from_utf8_lossy(&output.unwrap().stdout).replace('\n', " ");
    assert!(
        statement.contains("the world's average is used"),
        "{statement}"
    );
}

#[test]
fn the_city_an_address_was_taken_for_is_told_and_a_misspelled_one_refused() {
    let machine = Machine::with_rapl();
    let output = machine.track(&["--address", "Cambridge"], "true");
    let table = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        table.contains("place: the address is in Cambridge, England, United Kingdom"),
        "{table}"
    );
    assert!(
        table.contains("impact region --address shows"),
        "there are others: {table}"
    );
    let output = machine.track(&["--address", "Stanfrod, California"], "true");
    assert_eq!(output.status.code(), Some(125));
    let refusal = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        refusal.contains("the nearest names are Stanford, California, United States"),
        "{refusal}"
    );
}

#[test]
fn a_run_in_a_cloud_gets_its_providers_pue_unless_another_is_given() {
    let machine = Machine::with_rapl();
    let output = machine.track(&["--region", "aws:us-east-1"], "true");
    let table = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(table.contains("PUE by Cloud Carbon Footprint"), "{table}");
    assert!(table.contains("PUE 1.135"), "{table}");
    assert_eq!(machine.log().info["pue"].to_string(), "1.135");
    fs::remove_dir_all(machine.path("log")).unwrap();
    machine.track(&["--region", "aws:us-east-1", "--pue", "1.3"], "true");
    assert_eq!(machine.log().info["pue"].to_string(), "1.3");
}

#[test]
fn the_cloud_is_looked_for_and_accounted_as_the_settings_say() {
    let machine = Machine::with_rapl();
    let cloud_init = machine.path("run/cloud-init");
    fs::create_dir_all(&cloud_init).unwrap();
    let data = r#"{"v1":{"cloud_name":"aws","region":"eu-north-1"}}"#;
    fs::write(cloud_init.join("instance-data.json"), data).unwrap();
    let own = "run-root = \"run\"\nintensities = \"own.csv\"\n";
    fs::write(machine.path(".impact.toml"), own).unwrap();
    fs::write(machine.path("own.csv"), "zone,g_per_kwh\nSE-SE3,7\nSE,7\n").unwrap();
    machine.track(&["-q"], "true");
    let region = &machine.log().info["region"];
    assert_eq!(region["carbon_intensity"], 7.0, "{region}");
    fs::remove_dir_all(machine.path("log")).unwrap();
    fs::remove_file(machine.path("own.csv")).unwrap();
    let output = machine.track(&["-q"], "exit 3");
    assert_eq!(output.status.code(), Some(3));
    assert!(machine.log().notes().contains("own.csv"));
}

#[test]
fn the_help_shows_the_command_under_the_arguments() {
    let output = Machine::bare().impact().args(["track", "--help"]).output();
    let help = String::from_utf8(output.unwrap().stdout).unwrap();
    let command = help.find("  [CMD]...").unwrap();
    let heading = help[..command].rfind("Arguments:");
    assert!(heading > help[..command].rfind("Hardware:"), "{help}");
}

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
fn where_nothing_can_be_read_the_energy_is_unknown_and_not_zero() {
    let machine = Machine::bare();
    let output = machine
        .impact()
        .env("IMPACT_PROCFS_ROOT", machine.path("nowhere"))
        .args(["track", "--zone", "FR", "--", "sh", "-c", "exit 4"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(4));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("energy of the run: unknown"), "{said}");
    assert!(said.contains("CO2eq: unknown\n"), "{said}");
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
        log.notes().contains("nobody says how busy"),
        "{}",
        log.notes()
    );
}

#[test]
fn a_job_starts_however_few_files_may_be_open() {
    let machine = Machine::with_rapl();
    for most in [8, 10, 14, 18] {
        let mut shell = std::process::Command::new("sh");
        let limit = format!("ulimit -n {most}; exec \"$0\" \"$@\"");
        shell.args(["-c", &limit, env!("CARGO_BIN_EXE_impact")]);
        shell.args(["track", "--", "sh", "-c", "echo done; exit 5"]);
        let output = shell.current_dir(machine.path("")).output().unwrap();
        assert_eq!(output.stdout, b"done\n", "{most} files");
        assert_eq!(output.status.code(), Some(5), "{most} files");
    }
}

#[test]
fn a_log_that_cannot_be_made_or_vanishes_does_not_touch_the_job() {
    let machine = Machine::with_rapl();
    fs::write(machine.path("log"), "a file in the way").unwrap();
    let output = machine.track(&[], "echo done; exit 5");
    assert_eq!(output.status.code(), Some(5));
    assert_eq!(output.stdout, b"done\n");
    assert!(String::from_utf8_lossy(&output.stderr).contains("no log in log"));

    fs::remove_file(machine.path("log")).unwrap();
    let output = machine.track(&["--interval", "20ms"], "rm -r log; sleep 0.1; exit 6");
    assert_eq!(output.status.code(), Some(6));
    assert!(String::from_utf8_lossy(&output.stderr).contains("folder of the log is gone"));
}

#[test]
fn a_full_disk_does_not_touch_the_job() {
    let machine = Machine::with_rapl();
    let small = machine.path("small");
    fs::create_dir(&small).unwrap();
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=32k", "none"])
        .arg(&small)
        .stderr(Stdio::null())
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        eprintln!("skipped: mounting a small tmpfs is not allowed here");
        return;
    }
    let output = machine
        .impact()
        .args([
            "track",
            "--out",
            "small/log",
            "--interval",
            "5ms",
            "--",
            "sh",
            "-c",
        ])
        .arg("head -c 20000 /dev/zero > small/filler; sleep 0.5; exit 9")
        .output()
        .unwrap();
    let data = fs::read_to_string(small.join("log/impacttracker/data.json")).unwrap();
    let unmounted = std::process::Command::new("umount").arg(&small).status();
    assert!(unmounted.unwrap().success());
    assert_eq!(output.status.code(), Some(9));
    assert!(String::from_utf8_lossy(&output.stderr).contains("samples were not written"));
    for line in data.lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
}

#[test]
fn a_tracker_that_is_killed_leaves_whole_lines_and_a_running_job() {
    for round in 0..8u64 {
        let machine = Machine::with_rapl();
        let mut tracker = machine
            .impact()
            .args([
                "track",
                "-q",
                "--out",
                "log",
                "--interval",
                "1ms",
                "--",
                "sleep",
                "0.3",
            ])
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(7 * round));
        tracker.kill().unwrap();
        assert_eq!(tracker.wait().unwrap().signal(), Some(9));
        if machine.path("log/impacttracker").exists() {
            let log = machine.log();
            assert!(!log.samples.is_empty());
            assert!(log.info["ended"].is_null());
        }
    }
}

#[test]
fn a_mark_is_a_sample_at_its_instant() {
    let machine = Machine::with_rapl();
    let counter = machine.counter("intel-rapl:0").display().to_string();
    let impact = env!("CARGO_BIN_EXE_impact");
    let script = format!(
        "{impact} mark --start train; echo 6000000 > {counter}; {impact} mark --end train; \
         echo 8000000 > {counter}; {impact} mark 'epoch 3'"
    );
    machine.track(&["-q", "--interval", "1h"], &script);
    let marks: Vec<String> = machine
        .log()
        .samples
        .iter()
        .filter(|sample| !sample["mark"].is_null())
        .map(|sample| {
            let mark = &sample["mark"];
            let joules = sample["energy"]["package-0"]["total_j"].as_f64().unwrap();
            format!("{} {} {joules:.1}", mark["edge"], mark["name"])
        })
        .collect();
    assert_eq!(
        marks,
        [
            "\"start\" \"train\" 0.0",
            "\"end\" \"train\" 5.0",
            "\"point\" \"epoch 3\" 7.0"
        ]
    );
}

#[test]
fn a_mark_without_a_tracker_does_nothing() {
    let machine = Machine::bare();
    for address in ["", "@impact-long-gone", "nonsense"] {
        let mut command = machine.impact();
        let output = command
            .args(["mark", "x"])
            .env("IMPACT_TRACKER", address)
            .output()
            .unwrap();
        assert!(output.status.success() && output.stderr.is_empty());
    }
}

#[test]
fn trackers_inside_trackers_and_beside_each_other_keep_their_own_logs() {
    let machine = Machine::with_rapl();
    let impact = env!("CARGO_BIN_EXE_impact");
    let script = format!("{impact} track -q --out log -- sh -c 'exit 4'");
    assert_eq!(machine.track(&["-q"], &script).status.code(), Some(4));
    let mut logs: Vec<_> = fs::read_dir(machine.path("log"))
        .unwrap()
        .flatten()
        .collect();
    logs.sort_by_key(std::fs::DirEntry::file_name);
    assert_eq!(logs.len(), 2, "{logs:?}");
    let inner = Log::read(&logs[0].path());
    assert_eq!(inner.info["exit_code"], 4);
    assert_eq!(machine.log().info["exit_code"], 4);
    assert_eq!(inner.info["inside"], machine.log().info["id"]);
}

#[test]
fn a_run_tracked_inside_another_is_counted_once() {
    let machine = Machine::with_rapl();
    let impact = env!("CARGO_BIN_EXE_impact");
    let script = format!("{impact} track -q --out logs/inner -- sh -c 'exit 0'");
    let output = machine
        .impact()
        .args(["track", "-q", "--out", "logs/outer", "--", "sh", "-c"])
        .arg(script)
        .output();
    assert!(output.unwrap().status.success());
    let check = || {
        let mut report = machine.impact();
        report.args(["report", "--format", "json", "logs"]);
        let report = report.output().unwrap();
        assert_eq!(report.status.code(), Some(3));
        let report: serde_json::Value = serde_json::from_slice(&report.stdout).unwrap();
        assert_eq!(report["runs"].as_array().unwrap().len(), 1);
        let reason = report["skipped"][0]["reason"].as_str().unwrap();
        assert!(reason.contains("a part of the run"), "{reason}");
    };
    check();
    // Not even logs that claim to be parts of each other leave both out.
    let file = machine.path("logs/outer/impacttracker/info.json");
    let mut outer = Log::read(&machine.path("logs/outer")).info;
    outer["inside"] = Log::read(&machine.path("logs/inner")).info["id"].clone();
    fs::write(file, outer.to_string()).unwrap();
    check();
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
fn the_table_of_the_time_series_has_a_row_a_sample() {
    let machine = Machine::with_rapl();
    machine.track(
        &["-q", "--csv", "series.csv", "--interval", "10ms"],
        "sleep 0.1",
    );
    let table = fs::read_to_string(machine.path("series.csv")).unwrap();
    assert_eq!(table.lines().count(), machine.log().samples.len() + 1);
    assert!(table.starts_with("elapsed_s,cpu_energy_j,"));

    let output = machine.track(&["--csv", "series.csv"], "exit 5");
    assert_eq!(output.status.code(), Some(5));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("no table in series.csv: File exists")
    );
    assert_eq!(
        fs::read_to_string(machine.path("series.csv")).unwrap(),
        table
    );
}

#[test]
fn a_redacted_log_says_neither_arguments_nor_folder_nor_host() {
    let machine = Machine::with_rapl();
    machine.track(&["-q", "--redact"], ": secret");
    let log = machine.log();
    let text = log.info.to_string();
    assert!(!text.contains("secret"), "{text}");
    assert_eq!(log.info["command"][0], "sh");
    assert!(log.info["working_directory"].is_null() && log.info["host"]["hostname"].is_null());
}

#[test]
fn children_too_short_to_be_seen_are_counted() {
    for options in [&["-q"][..], &["-q", "--no-cgroup"]] {
        let machine = Machine::with_rapl();
        let script = "i=0; while [ $i -lt 150 ]; do sha256sum /dev/null > /dev/null; i=$((i+1)); done; times > times";
        machine.track(options, script);
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
            "({BUSY}); {BUSY}; times > times; exec '{}' track -q --out log {options} -- true",
            env!("CARGO_BIN_EXE_impact"),
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
        "({BUSY}; times > times; : > done) & exec '{}' track -q --out log --no-cgroup --interval 5ms -- \
         sh -c 'while [ ! -e done ]; do sleep 0.01; done; sleep 0.03'",
        env!("CARGO_BIN_EXE_impact"),
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

#[test]
fn a_mark_after_the_measuring_neither_counts_nor_keeps_the_tracker_busy() {
    let machine = Machine::with_rapl();
    let impact = env!("CARGO_BIN_EXE_impact");
    let script = format!("sleep 0.2; {impact} mark late; sleep 1");
    machine.track(&["-q", "--duration", "50ms"], &script);
    let log = machine.log();
    assert!(log.samples.iter().all(|sample| sample["mark"].is_null()));
    let overhead = log.info["overhead_cpu_s"].as_f64().unwrap();
    assert!(overhead < 0.5, "{overhead} s");
}

#[test]
fn the_kernels_trees_can_be_moved_by_the_configuration() {
    let machine = Machine::with_rapl();
    let sys = machine.path("sys");
    let settings = format!("sysfs-root = \"{}\"\n", sys.display());
    fs::write(machine.path(".impact.toml"), settings).unwrap();
    let doctor = machine
        .impact()
        .env_remove("IMPACT_SYSFS_ROOT")
        .arg("doctor")
        .output()
        .unwrap();
    assert_eq!(doctor.status.code(), Some(0));
    let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(said.contains(sys.to_str().unwrap()), "{said}");
    let elsewhere = machine
        .impact()
        .args(["doctor", "--sysfs-root", "/nowhere"])
        .status()
        .unwrap();
    assert_eq!(elsewhere.code(), Some(4), "an option is stronger");
}

/// `1m2.5s`, as the shell writes it.
/// A shell that may become the tracker, on this machine.
fn run_in_shell(machine: &Machine, script: &str) {
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", script]).current_dir(machine.path(""));
    let tracker = machine.impact();
    let variables = tracker
        .get_envs()
        .filter_map(|(name, value)| Some((name, value?)));
    assert!(shell.envs(variables).status().unwrap().success());
}

fn seconds(text: &str) -> f64 {
    let (minutes, seconds) = text.trim_end_matches('s').split_once('m').unwrap();
    minutes.parse::<f64>().unwrap() * 60.0 + seconds.parse::<f64>().unwrap()
}

#[test]
fn the_doctor_says_whether_the_processors_are_measured() {
    let measured = Machine::with_rapl()
        .impact()
        .arg("doctor")
        .output()
        .unwrap();
    assert_eq!(measured.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&measured.stdout).contains("ok   package-0"));
    let estimated = Machine::bare().impact().arg("doctor").output().unwrap();
    assert_eq!(estimated.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&estimated.stdout).contains("will be estimated"));
}
