//! How marks reach a tracker, and what it does when they come fast.

use std::fs;
use std::process::{Child, Command};

use serde_json::Value;

use crate::support::{IMPACT, Machine};

/// Sends marks as `docs/log-format.md` says, without waiting.
const FAST: &str = r#"
import json, os, socket, sys, time
phases, seconds = int(sys.argv[1]), float(sys.argv[2])
sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
sender.connect("\0" + os.environ["IMPACT_TRACKER"][1:])
sender.setblocking(False)
kept = []
def mark(edge, **more):
    global kept
    kept.append(dict(name="step", edge=edge, at_ns=time.clock_gettime_ns(time.CLOCK_MONOTONIC), **more))
    try:
        sender.send(json.dumps(kept[:100]).encode())
        kept = kept[100:]
    except BlockingIOError:
        pass
began = time.monotonic()
for n in range(phases):
    mark("start")
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
    mark("end", count={"tokens": 7})
print(time.monotonic() - began)
sender.setblocking(True)
while kept:
    sender.send(json.dumps(kept[:100]).encode())
    kept = kept[100:]
"#;

fn report(machine: &Machine) -> Value {
    let output = machine
        .impact()
        .args(["report", "log", "--format", "json"])
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    report["runs"][0].clone()
}

#[test]
fn a_thousand_short_phases_are_all_there_with_their_own_times_and_few_samples() {
    let machine = Machine::with_rapl();
    fs::write(machine.path("fast.py"), FAST).unwrap();
    let output = machine.track(&["-q", "--interval", "1h"], "python3 fast.py 1000 0.001");
    assert!(output.status.success());
    let took: f64 = String::from_utf8_lossy(&output.stdout)
        .trim()
        .parse()
        .unwrap();
    let run = report(&machine);
    let step = &run["phases"]["step"];
    assert_eq!(step["repetitions"], 1000, "{run:#}");
    assert_eq!(run["work"]["tokens"]["count"], 7000.0);
    let seconds = step["total_s"].as_f64().unwrap();
    assert!((1.0..took).contains(&seconds), "{seconds} of {took} s");
    assert!(step["interpolated"].as_u64().unwrap() > 0);
    let samples = machine.log().samples.len() as f64;
    // 64 at once, then one in 20 ms.
    assert!(samples < 70.0 + took * 50.0, "{samples} in {took} s");
    assert!(!machine.log().notes().contains("left out"));
}

#[test]
fn phases_that_follow_each_other_have_the_energy_of_the_run() {
    let machine = Machine::with_rapl();
    let counter = machine.counter("intel-rapl:0").display().to_string();
    let work = |joules: u32| {
        format!(
            "echo {joules}000000 > {counter}; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done;"
        )
    };
    let script = format!(
        "{IMPACT} mark a; {} {IMPACT} mark --end a; {IMPACT} mark b; {} {IMPACT} mark a; {} {IMPACT} mark end",
        work(5),
        work(8),
        work(20)
    );
    machine.track(&["-q", "--interval", "1h"], &script);
    let log = machine.log();
    let attributed = |sample: &Value| {
        let energy = sample["energy"].as_object().unwrap();
        let devices = ["package-0", "dram-0"];
        let joules = devices.map(|name| energy[name]["attributed_j"].as_f64().unwrap());
        joules[0] + joules[1]
    };
    let points: Vec<f64> = log
        .samples
        .iter()
        .filter(|sample| sample["mark"]["edge"] == "point")
        .map(attributed)
        .collect();
    let phases = &report(&machine)["phases"];
    let joules = |name: &str| phases[name]["total_j"].as_f64().unwrap();
    let expected = points[1] - points[0] + points[3] - points[2];
    assert!((joules("a") - expected).abs() < 1e-9, "{phases:#}");
    assert!((joules("b") - (points[2] - points[1])).abs() < 1e-9);
    assert!(expected > 0.0);
}

/// A tracker of a job that starts with the file `go` and then runs a script.
fn follow(machine: &Machine, script: &str) -> (Started, Started) {
    let waiting = format!("while [ ! -e go ]; do sleep 0.01; done; {script}");
    let job = Command::new("sh")
        .args(["-c", &waiting])
        .current_dir(machine.path(""))
        .env_remove("IMPACT_TRACKER")
        .spawn()
        .unwrap();
    let tracker = machine
        .impact()
        .args(["track", "-q", "--out", "log", "--pid"])
        .arg(job.id().to_string())
        .spawn()
        .unwrap();
    while !machine.path("log/impacttracker/data.json").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    (Started(job), Started(tracker))
}

/// A process that does not outlive a test that fails.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_followed_process_its_children_and_others_of_the_user_find_the_tracker() {
    let machine = Machine::with_rapl();
    let script = format!(
        "(sh -c '{IMPACT} mark --start child; :'); {IMPACT} mark --end child --count x=2; touch done; \
                          while [ ! -e stop ]; do sleep 0.01; done"
    );
    let (mut job, mut tracker) = follow(&machine, &script);
    fs::write(machine.path("go"), "").unwrap();
    while !machine.path("done").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let mark = |options: &[&str]| {
        let output = machine.impact().arg("mark").args(options).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let pid = job.0.id().to_string();
    assert_eq!(mark(&["--pid", &pid, "by pid"]), "");
    assert_eq!(mark(&["--run", "log", "by run"]), "");
    // This process is not followed.
    assert!(mark(&["by nobody"]).contains("this job is not tracked"));
    assert!(mark(&["--pid", "1", "by nobody"]).contains("no tracker of yours"));
    assert!(mark(&["--run", "nowhere", "by nobody"]).contains("is not sent"));
    fs::write(machine.path("stop"), "").unwrap();
    job.0.wait().unwrap();
    assert!(tracker.0.wait().unwrap().success());
    let names: Vec<String> = machine
        .log()
        .samples
        .iter()
        .filter_map(|sample| Some(sample["mark"]["name"].as_str()?.to_owned()))
        .collect();
    assert_eq!(names, ["child", "child", "by pid", "by run"]);
    assert_eq!(
        report(&machine)["phases"]["child"]["work"]["x"]["count"],
        2.0
    );
    // Long gone.
    assert!(mark(&["--run", "log", "late"]).contains("no tracker of yours"));
}

#[test]
fn a_mark_outside_of_a_tracked_job_is_told_and_does_not_fail_the_job() {
    let machine = Machine::with_rapl();
    let output = machine
        .program("sh")
        .args(["-e", "-c", "impact mark --start train; echo goes on"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(output.stdout, b"goes on\n");
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "impact: the mark is not sent: this job is not tracked; start it with impact track -- COMMAND\n"
    );
}

#[test]
fn a_mark_that_cannot_be_is_refused_before_it_is_sent() {
    let machine = Machine::bare();
    for (options, why) in [
        (
            &["--count", "7"][..],
            "expected KEY=VALUE, such as tokens=4096",
        ),
        (&["--count", "x=-1"], "a count is a number from 0 to 1e18"),
        (&["--count", "x=NaN"], "a count is a number from 0 to 1e18"),
        (&["--count", "=1"], "a unit has a name of 1 to 512 bytes"),
        (&["--start", ""], "a phase has a name of 1 to 512 bytes"),
        (&["--start", "a", "--end", "a"], "cannot be used with"),
        (&[], "is missing"),
    ] {
        let output = machine.impact().arg("mark").args(options).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{options:?}: {said}");
        assert!(said.contains(why), "{options:?}: {said}");
    }
}

#[test]
fn a_message_of_many_marks_and_what_is_no_mark_are_told_apart() {
    let machine = Machine::with_rapl();
    let script = r#"
import os, socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.connect("\0" + os.environ["IMPACT_TRACKER"][1:])
for text in ["x", "[]", '{"name": ""}', '{"edge": "count", "count": {"x": 1e300}}',
             '[{"edge": "count", "count": {"x": 3}}, {"edge": "count", "count": {"x": 4}}]',
             '{"name": "old", "at_ns": 1}', '{"name": "late", "at_ns": 9000000000000000000}']:
    s.send(text.encode())
"#;
    fs::write(machine.path("send.py"), script).unwrap();
    machine.track(&["-q"], "python3 send.py");
    let run = report(&machine);
    assert_eq!(run["work"]["x"]["count"], 7.0);
    assert_eq!(run["phases"]["old"]["repetitions"], 1);
    assert_eq!(run["phases"]["late"]["repetitions"], 1);
    let notes = machine.log().notes();
    assert!(
        notes.contains("messages to the tracker's socket that could not be read as marks: 4"),
        "{notes}"
    );
    let elapsed = machine.log().last()["elapsed"].as_f64().unwrap();
    for phase in ["old", "late"] {
        let first = run["phases"][phase]["first_s"].as_f64().unwrap();
        assert!((0.0..=elapsed).contains(&first), "{phase} at {first} s");
    }
}
