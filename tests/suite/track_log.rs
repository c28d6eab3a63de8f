//! The log that `impact track` leaves, whatever happens to it, to the tracker or to the job.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

use crate::support::machine::Log;
use crate::support::{IMPACT, Machine, not_run};

#[test]
fn a_log_that_cannot_be_made_or_vanishes_does_not_touch_the_job() {
    let machine = Machine::with_rapl();
    fs::write(machine.path("log"), "a file in the way").unwrap();
    let output = machine.track(&[], "echo done; exit 5");
    assert_eq!(output.status.code(), Some(5));
    assert_eq!(output.stdout, b"done\n");
    assert!(String::from_utf8_lossy(&output.stderr).contains("no log in log"));

    let output = machine.track(&["-q"], "exit 5");
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("this run has no log\n  no log in log")
    );

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
        not_run("a full disk: mounting a small tmpfs is not allowed here");
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
    for lines in 1..8 {
        let machine = Machine::with_rapl();
        let mut tracker = machine
            .impact()
            .args(["track", "-q", "--out", "log", "--interval", "1ms", "--"])
            .args(["sh", "-c", "echo $$ > job; exec sleep 600"])
            .spawn()
            .unwrap();
        let lines_of = |file: &str| {
            let text = fs::read_to_string(machine.path(file));
            text.map_or(0, |text| text.lines().count())
        };
        while lines_of("log/impacttracker/data.json") < lines || lines_of("job") < 1 {
            std::thread::yield_now();
        }
        tracker.kill().unwrap();
        assert_eq!(tracker.wait().unwrap().signal(), Some(9));
        let log = machine.log();
        assert!(log.samples.len() >= lines);
        assert!(log.info["ended"].is_null());
        let job = fs::read_to_string(machine.path("job")).unwrap();
        let ended = std::process::Command::new("kill").arg(job.trim()).status();
        assert!(
            ended.unwrap().success(),
            "the job runs on until somebody ends it"
        );
    }
}

#[test]
fn a_log_that_lost_its_last_lines_is_not_taken_for_whole() {
    let machine = Machine::with_rapl();
    let counter = machine.counter("intel-rapl:0").display().to_string();
    let busy = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
    machine.track(&["-q"], &format!("{busy}; echo 43000000 > {counter}"));
    let report = || {
        let output = machine.impact().args(["report", "log"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(!report().contains("missing"), "{}", report());
    let data = machine.path("log/impacttracker/data.json");
    let text = fs::read_to_string(&data).unwrap();
    let first = text.lines().next().unwrap();
    fs::write(&data, format!("{first}\n")).unwrap();
    assert!(
        report().contains("lines are missing at the end"),
        "{}",
        report()
    );
    let statement = machine
        .impact()
        .args(["statement", "log", "--format", "json"])
        .output();
    let statement: serde_json::Value = serde_json::from_slice(&statement.unwrap().stdout).unwrap();
    assert_eq!(statement["runs_without_end"], 1);
}

#[test]
fn a_mark_is_a_sample_at_its_instant() {
    let machine = Machine::with_rapl();
    let counter = machine.counter("intel-rapl:0").display().to_string();
    let impact = IMPACT;
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
fn a_mark_without_a_tracker_is_told_and_does_not_fail() {
    let machine = Machine::bare();
    for address in ["", "@impact-long-gone", "nonsense"] {
        let mut command = machine.impact();
        let output = command
            .args(["mark", "x"])
            .env("IMPACT_TRACKER", address)
            .output()
            .unwrap();
        assert!(output.status.success());
        assert!(String::from_utf8_lossy(&output.stderr).contains("the mark is not sent"));
    }
}

#[test]
fn a_mark_after_the_measuring_neither_counts_nor_keeps_the_tracker_busy() {
    let machine = Machine::with_rapl();
    let impact = IMPACT;
    let script = format!("sleep 0.2; {impact} mark late; sleep 1");
    machine.track(&["-q", "--duration", "50ms"], &script);
    let log = machine.log();
    assert!(log.samples.iter().all(|sample| sample["mark"].is_null()));
    let overhead = log.info["overhead_cpu_s"].as_f64().unwrap();
    assert!(overhead < 0.5, "{overhead} s");
}

#[test]
fn trackers_inside_trackers_and_beside_each_other_keep_their_own_logs() {
    let machine = Machine::with_rapl();
    let impact = IMPACT;
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
    let impact = IMPACT;
    let script = format!("{impact} track -q --out logs/inner -- sh -c 'exit 0'");
    let output = machine
        .impact()
        .args(["track", "-q", "--out", "logs/outer", "--", "sh", "-c"])
        .arg(script)
        .output();
    assert!(output.unwrap().status.success());
    let check = || {
        let mut report = machine.impact();
        report.args(["report", "--format", "json", "--strict", "logs"]);
        let report = report.output().unwrap();
        assert_eq!(report.status.code(), Some(0), "nothing is missing");
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
fn runs_and_what_they_were_merged_into_are_counted_once() {
    let machine = Machine::with_rapl();
    let impact = |words: &[&str]| {
        let output = machine.impact().args(words).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        output.stdout
    };
    for run in ["nodes/a", "nodes/b"] {
        impact(&["track", "-q", "--out", run, "--", "true"]);
    }
    impact(&["merge", "nodes", "--output", "merged"]);
    let counted = |folders: &[&str]| -> serde_json::Value {
        let words = [&["statement", "--format", "json"], folders].concat();
        serde_json::from_slice(&impact(&words)).unwrap()
    };
    let all = counted(&["nodes", "merged"]);
    assert_eq!(all["runs"], 1);
    let reason = all["skipped"][0]["reason"].as_str().unwrap();
    assert!(reason.starts_with("merged into "), "{reason}");
    assert_eq!(counted(&["nodes"])["runs"], 2);
}

#[test]
fn a_run_is_called_as_its_program_unless_it_is_named() {
    let machine = Machine::with_rapl();
    machine.track(&["-q"], "true");
    assert_eq!(machine.log().info["name"], "sh");
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
    fs::write(machine.path(".impact.toml"), "colour = 7\n").unwrap();
    let output = machine
        .impact()
        .args([
            "track",
            "-q",
            "--redact",
            "--out",
            "log",
            "--csv",
            "no/secret.csv",
            "--",
        ])
        .args(["sh", "-c", ": secret"])
        .env("PBS_JOBID", "17.secret-server")
        .output();
    assert!(output.unwrap().status.success());
    let log = machine.log();
    let messages = fs::read_to_string(machine.path("log/impacttracker/impact_tracker_log.log"));
    let text = log.info.to_string() + &messages.unwrap();
    assert!(!text.contains("secret"), "{text}");
    assert!(!text.contains(".impact.toml"), "{text}");
    assert!(log.notes().contains("a setting was ignored"), "{text}");
    assert_eq!(log.info["scheduler"]["PBS_JOBID"], "17");
    assert_eq!(log.info["command"][0], "sh");
    assert!(log.info["working_directory"].is_null() && log.info["host"]["hostname"].is_null());
}
