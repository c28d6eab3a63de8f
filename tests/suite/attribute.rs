//! `impact attribute`: the energy of a run, divided among the spans of a profile.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{Machine, Run, impact, program, same};
use impact::ledger::attribute::{Attribution, Options, bands, flame, graph};
use predicates::prelude::*;
use predicates::str::contains;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::Config;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A run of 10 s from the second 1,700,000,000: the CPU draws 10 W in its first half and 30 W in its second.
fn run() -> Run {
    Run {
        seconds: 10.0,
        step: 0.5,
        joules_per_watt: |_, elapsed| elapsed + 2.0 * (elapsed - 5.0).max(0.0),
        ..Run::of_watts(10.0)
    }
}

struct Bench {
    folder: TempDir,
}

impl Bench {
    fn of(run: &Run) -> Self {
        let folder = TempDir::new().unwrap();
        run.write(&folder.path().join("run"));
        Self { folder }
    }

    fn profile(&self, name: &str, text: impl AsRef<[u8]>) -> &Self {
        fs::write(self.folder.path().join(name), text).unwrap();
        self
    }

    fn command(&self, profile: impl AsRef<Path>, more: &[&str]) -> assert_cmd::Command {
        let mut command = impact();
        command
            .current_dir(self.folder.path())
            .args(["attribute", "run", "--profile"]);
        command.arg(profile.as_ref()).args(more);
        command
    }

    fn json(&self, profile: impl AsRef<Path>, more: &[&str]) -> Value {
        let output = self
            .command(profile, more)
            .args(["--format", "json"])
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

/// Files of py-spy, pyinstrument and memory-profiler, recorded of a small program with a function that calculates.
fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/profiles")
        .join(name)
}

/// The row of a name.
fn of<'a>(found: &'a Value, name: &str) -> &'a Value {
    let mut rows = found["names"].as_array().unwrap().iter();
    let row = rows.find(|row| row["name"] == name);
    row.unwrap_or_else(|| panic!("{name} is not in {found:#}"))
}

fn joules(found: &Value, name: &str) -> f64 {
    of(found, name)["own_j"].as_f64().unwrap()
}

fn close(found: f64, wanted: f64) {
    assert!((found - wanted).abs() < 1e-6, "{found} is not {wanted}");
}

/// An event of a trace, with times in s.
fn event(name: &str, start: f64, end: f64, thread: u32) -> Value {
    json!({
        "ph": "X", "name": name, "cat": "cpu_op", "pid": 1, "tid": thread,
        "ts": start * 1e6, "dur": (end - start) * 1e6,
    })
}

fn trace(events: &[Value]) -> String {
    json!({ "schemaVersion": 1, "traceEvents": events, "traceName": "t" }).to_string()
}

/// The energies of a CSV as integers of 1e-13 J.
fn exact(digits: &str) -> u128 {
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    format!("{whole}{part:0<13}").parse().unwrap()
}

#[test]
fn a_span_at_high_power_gets_more_than_one_at_low_power() {
    let bench = Bench::of(&run());
    bench.profile(
        "trace.json",
        trace(&[
            event("slow", 0.0, 4.0, 1),
            event("fast", 6.0, 10.0, 1),
            event("inner", 7.0, 8.0, 1),
        ]),
    );
    let found = bench.json("trace.json", &[]);
    close(joules(&found, "slow"), 40.0);
    close(joules(&found, "fast"), 90.0);
    close(joules(&found, "inner"), 30.0);
    close(of(&found, "fast")["with_calls_j"].as_f64().unwrap(), 120.0);
    close(found["uncovered_j"].as_f64().unwrap(), 40.0);
    close(found["coverage"].as_f64().unwrap(), 0.8);
    assert_eq!(found["aligned_by"], "start_of_run");
    assert_eq!(found["label"], "interpolated");
}

#[test]
fn all_spans_and_what_none_covers_add_up_to_the_energy_that_the_report_states() {
    let bench = Bench::of(&Run {
        watts: [
            ("package-0".to_owned(), (41.7, 33.3)),
            ("dram-0".to_owned(), (7.1, 0.77)),
        ]
        .into(),
        ..run()
    });
    let mut events = Vec::new();
    for number in 0..300 {
        let start = f64::from(number * 37 % 113) * 0.0873;
        let length = f64::from(number * 29 % 31) * 0.0377;
        events.push(event(
            &format!("f{}", number % 7),
            start,
            start + length,
            number % 5,
        ));
    }
    bench.profile("trace.json", trace(&events));
    let output = bench
        .command("trace.json", &["--format", "csv"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<Vec<&str>> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect())
        .collect();
    assert_eq!(rows.len(), 8, "{text}");
    let sum: u128 = rows.iter().map(|row| exact(row[5])).sum();
    let energy = bench.json("trace.json", &[])["energy_j"].to_string();
    assert_eq!(sum, exact(&energy));
    let statement =
        crate::support::receipt::json(&[&bench.folder.path().join("run")], &["--pue", "1"]);
    let stated = statement["total_power"].as_f64().unwrap() * 3.6e6;
    close(stated, exact(&energy) as f64 / 1e13);
}

#[test]
fn spans_on_a_gpu_get_its_energy_and_those_on_the_cpu_the_rest() {
    let bench = Bench::of(&run().gpu("H100", "GPU-a", "550", 100.0));
    let kernel = json!({
        "ph": "X", "name": "gemm", "cat": "kernel", "pid": 0, "tid": 7, "ts": 1e6, "dur": 1e6,
        "args": { "device": 0, "stream": 7 },
    });
    let around = json!({ "ph": "X", "name": "PyTorch Profiler (0)", "cat": "Trace", "pid": "Spans", "tid": "p", "ts": 0, "dur": 1e7 });
    bench.profile(
        "trace.json",
        trace(&[event("step", 0.0, 10.0, 1), kernel, around]),
    );
    let found = bench.json("trace.json", &[]);
    close(joules(&found, "gemm"), 100.0);
    assert_eq!(of(&found, "gemm")["device"], "GPU 0");
    close(joules(&found, "step"), 200.0);
    assert_eq!(found["names"].as_array().unwrap().len(), 2);
    // Without a span on it, the energy of the GPU is that of the program.
    bench.profile("cpu.json", trace(&[event("step", 0.0, 10.0, 1)]));
    let found = bench.json("cpu.json", &[]);
    close(joules(&found, "step"), 200.0 + 2000.0);
    assert!(
        found["notes"]
            .to_string()
            .contains("GPUs on which the profile has no span")
    );
}

#[test]
fn threads_of_jax_that_repeat_what_the_streams_do_are_left_out() {
    let bench = Bench::of(&run().gpu("H100", "GPU-a", "550", 100.0));
    let about = |kind: &str, thread: u32, name: &str| json!({ "ph": "M", "pid": 2, "tid": thread, "name": kind, "args": { "name": name } });
    let on_gpu = |name: &str, thread: u32| json!({ "ph": "X", "pid": 2, "tid": thread, "name": name, "ts": 1e6, "dur": 1e6 });
    let events = [
        about("process_name", 0, "/device:GPU:0"),
        about("thread_name", 14, "Stream #14(Compute)"),
        about("thread_name", 80, "XLA Modules"),
        on_gpu("jit_step", 80),
        on_gpu("fusion", 14),
    ];
    bench.profile("trace.json", trace(&events));
    let found = bench.json("trace.json", &[]);
    close(joules(&found, "fusion"), 100.0);
    assert_eq!(found["names"].as_array().unwrap().len(), 1);
    assert!(
        found["notes"]
            .to_string()
            .contains("repeat what the streams of a GPU do")
    );
    // Where nothing else is there, they are all that is known.
    bench.profile("modules.json", trace(&events[..4]));
    close(joules(&bench.json("modules.json", &[]), "jit_step"), 100.0);
}

#[test]
fn a_gpu_that_the_run_has_no_figure_for_has_no_energy_rather_than_none() {
    let bench = Bench::of(&run());
    let kernel = json!({ "ph": "X", "name": "gemm", "cat": "kernel", "pid": 0, "tid": 7, "ts": 0, "dur": 1e6 });
    bench.profile("trace.json", trace(&[event("step", 0.0, 10.0, 1), kernel]));
    let found = bench.json("trace.json", &[]);
    assert_eq!(of(&found, "gemm")["own_j"], Value::Null);
    assert_eq!(of(&found, "gemm")["mean_j"], Value::Null);
    close(joules(&found, "step"), 200.0);
    bench
        .command("trace.json", &[])
        .assert()
        .success()
        .stdout(contains("unknown"));
}

#[test]
fn clocks_are_matched_by_what_the_profile_says_of_them_and_the_output_says_how() {
    let bench = Bench::of(&run());
    let start = 1_700_000_000.0;
    bench.profile(
        "epoch.json",
        trace(&[event("f", start + 1.0, start + 2.0, 1)]),
    );
    let base = json!({ "baseTimeNanoseconds": 1_700_000_000_000_000_000u64, "traceEvents": [event("f", 6.0, 7.0, 1)] });
    bench.profile("base.json", base.to_string());
    bench.profile("boot.json", trace(&[event("f", 5e5, 5e5 + 1.0, 1)]));
    bench.profile("start.json", trace(&[event("f", 6.0, 7.0, 1)]));
    for (profile, by, wanted) in [
        ("epoch.json", "epoch", 10.0),
        ("base.json", "base_time", 30.0),
        ("boot.json", "first_span", 10.0),
        ("start.json", "start_of_run", 30.0),
    ] {
        let found = bench.json(profile, &[]);
        assert_eq!(found["aligned_by"], by, "{profile}");
        close(joules(&found, "f"), wanted);
    }
    let found = bench.json("start.json", &["--offset", "-4"]);
    assert_eq!(found["aligned_by"], "offset");
    close(joules(&found, "f"), 10.0);
    bench
        .command("boot.json", &[])
        .assert()
        .success()
        .stdout(contains("assumed: the first span begins with the run"));
}

#[test]
fn a_profile_may_start_with_a_phase_of_the_run() {
    let bench = Bench::of(&run());
    let data = bench.folder.path().join("run/impacttracker/data.json");
    let lines = fs::read_to_string(&data).unwrap();
    let marked = lines.lines().enumerate().map(|(number, line)| {
        let mut sample: Value = serde_json::from_str(line).unwrap();
        if number == 12 {
            sample["mark"] = json!({ "name": "train", "edge": "start" });
        }
        format!("{sample}\n")
    });
    fs::write(&data, marked.collect::<String>()).unwrap();
    bench.profile("trace.json", trace(&[event("f", 0.0, 1.0, 1)]));
    let found = bench.json("trace.json", &["--starts-with", "train"]);
    assert_eq!(found["aligned_by"], "phase");
    close(joules(&found, "f"), 30.0);
    bench
        .command("trace.json", &["--starts-with", "test"])
        .assert()
        .code(1)
        .stderr(contains("the run has no phase called test"));
}

#[test]
fn a_profile_of_another_time_is_refused_with_advice() {
    let bench = Bench::of(&run());
    bench.profile("late.json", trace(&[event("f", 1.8e9, 1.8e9 + 1.0, 1)]));
    bench.command("late.json", &[]).assert().code(1).stderr(
        contains("no span of the profile is within the run")
            .and(contains("try: "))
            .and(contains("--offset")),
    );
}

#[test]
fn a_target_that_is_missed_sets_the_exit_code() {
    let bench = Bench::of(&run());
    bench.profile("half.csv", "name,start,end,device\nf,0,5,cpu\n");
    bench
        .command("half.csv", &["--target", "25%"])
        .assert()
        .success();
    bench
        .command("half.csv", &["--target", "30%"])
        .assert()
        .code(6)
        .stderr(contains("the spans cover 25 % of the energy"));
    bench
        .command("half.csv", &["--target", "130%"])
        .assert()
        .code(2);
}

#[test]
fn a_table_of_spans_names_devices_and_threads() {
    let bench = Bench::of(&run().gpu("H100", "GPU-a", "550", 100.0));
    let rows =
        "Name,Start,End,Device,Thread\na,0,2,cpu,1\nb,0,2,cpu,2\nk,0,2,gpu:0,\n\"x,\"\"y\",3,2,,\n";
    bench.profile("spans.csv", rows);
    let found = bench.json("spans.csv", &[]);
    for (name, wanted) in [("a", 10.0), ("b", 10.0), ("k", 200.0)] {
        close(joules(&found, name), wanted);
    }
    assert!(found["notes"].to_string().contains("left out: 1 span"));
    bench.profile("bad.csv", "name,start,end,device\na,0,2,tpu\n");
    bench
        .command("bad.csv", &[])
        .assert()
        .code(1)
        .stderr(contains("line 2: `tpu` is no device such as cpu or gpu:0"));
}

#[test]
fn the_mean_of_a_call_has_an_interval_if_there_are_several_with_times() {
    let bench = Bench::of(&run());
    bench.profile("spans.csv", "name,start,end\nf,0,1\nf,1,2\nf,6,7\n");
    let found = bench.json("spans.csv", &[]);
    let row = of(&found, "f");
    assert_eq!(row["calls"], 3);
    close(row["mean_j"].as_f64().unwrap(), 50.0 / 3.0);
    // The standard error is 20 / 3; 4.302653 is the quantile 0.975 of t with two degrees of freedom.
    let half = 4.302_653 * 20.0 / 3.0;
    assert!((row["interval_95_j"][1].as_f64().unwrap() - (50.0 / 3.0 + half)).abs() < 1e-4);
}

#[test]
fn a_real_dump_of_cprofile_is_divided_by_own_time() {
    let bench = Bench::of(&run());
    let script = "import time\ndef slow():\n    time.sleep(0.03)\ndef main():\n    for _ in range(5): slow()\nmain()\n";
    bench.profile("work.py", script);
    let made = program("python3")
        .args(["-m", "cProfile", "-o", "work.pstats", "work.py"])
        .current_dir(bench.folder.path())
        .status()
        .expect("python3 is installed");
    assert!(made.success());
    let found = bench.json("work.pstats", &[]);
    assert_eq!(
        (&found["divided_by"], &found["label"]),
        (&json!("own_time"), &json!("estimated"))
    );
    let sleep = of(&found, "<built-in method time.sleep>");
    assert_eq!(sleep["calls"], 5);
    assert!(sleep["own_s"].as_f64().unwrap() >= 0.15);
    let slow = of(&found, "slow (work.py:2)");
    assert!(slow["with_calls_j"].as_f64().unwrap() >= sleep["own_j"].as_f64().unwrap());
    // 200 J in 10 s: each second of own time is 20 J, and the rest of the run is not in the profile.
    let sleep_s = sleep["own_s"].as_f64().unwrap();
    assert!((sleep["own_j"].as_f64().unwrap() - sleep_s * 20.0).abs() < 1e-3);
    assert!(found["uncovered_j"].as_f64().unwrap() > 150.0);
}

#[test]
fn real_files_of_profilers_are_read() {
    let bench = Bench::of(&run());
    let stacks = bench.json(fixture("py-spy.collapsed.txt"), &[]);
    assert_eq!(
        (&stacks["profile"], &stacks["label"]),
        (&json!("collapsed"), &json!("estimated"))
    );
    let (six, seven) = (
        joules(&stacks, "burn (work.py:6)"),
        joules(&stacks, "burn (work.py:7)"),
    );
    close(six + seven + stacks["uncovered_j"].as_f64().unwrap(), 200.0);
    close(
        of(&stacks, "train (work.py:16)")["with_calls_j"]
            .as_f64()
            .unwrap(),
        six + seven,
    );

    let speedscope = bench.json(fixture("py-spy.speedscope.json"), &[]);
    assert_eq!(speedscope["profile"], "speedscope");
    close(
        of(&speedscope, "burn (work.py:6)")["own_s"]
            .as_f64()
            .unwrap(),
        0.96,
    );
    close(joules(&speedscope, "burn (work.py:6)"), 0.96 * 20.0);

    let pyinstrument = bench.json(fixture("pyinstrument.json"), &[]);
    assert_eq!(pyinstrument["profile"], "pyinstrument");
    let train = of(&pyinstrument, "train (work.py:15)");
    assert!(train["with_calls_j"].as_f64().unwrap() > 30.0);

    let trace = bench.json(fixture("py-spy.trace.json"), &[]);
    assert_eq!(
        (&trace["profile"], &trace["aligned_by"]),
        (&json!("chrome_trace"), &json!("start_of_run"))
    );
    assert_eq!(of(&trace, "forward")["calls"], 4);
    close(
        joules(&trace, "burn"),
        of(&trace, "train")["with_calls_j"].as_f64().unwrap(),
    );

    let mprof = Bench::of(&Run {
        start: 1_795_124_403.0,
        ..run()
    });
    let found = mprof.json(fixture("mprof.dat"), &[]);
    assert_eq!(
        (&found["profile"], &found["aligned_by"]),
        (&json!("mprof"), &json!("epoch"))
    );
    assert_eq!(of(&found, "__main__.step")["calls"], 4);
    close(joules(&found, "__main__.step"), 10.0 * 1.8318);
}

#[test]
fn begin_and_end_events_nest_and_what_has_no_end_lasts_as_long_as_the_trace() {
    let bench = Bench::of(&run());
    let edge = |kind: &str, name: &str, seconds: f64| json!({ "ph": kind, "name": name, "pid": 1, "tid": 1, "ts": seconds * 1e6 });
    let events = [
        edge("B", "outer", 0.0),
        edge("B", "inner", 1.0),
        edge("E", "inner", 2.0),
        edge("E", "x", 4.0),
        edge("E", "stray", 4.5),
        edge("B", "open", 4.0),
        event("other", 4.5, 5.0, 2),
    ];
    // As a list that was cut off.
    let text = serde_json::to_string(&events).unwrap();
    bench.profile("trace.json", text.trim_end_matches(']'));
    let found = bench.json("trace.json", &[]);
    close(joules(&found, "outer"), 30.0);
    close(joules(&found, "inner"), 10.0);
    close(joules(&found, "open"), 7.5);
    let notes = found["notes"].to_string();
    assert!(
        notes.contains("1 span without an end") && notes.contains("left out: 1 span"),
        "{notes}"
    );
}

#[test]
fn spans_of_speedscope_have_times() {
    let bench = Bench::of(&run());
    let profile = json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "profiles": [{ "type": "evented", "name": "p", "unit": "milliseconds", "startValue": 0, "endValue": 9000, "events": [
            { "type": "O", "frame": 0, "at": 0 }, { "type": "O", "frame": 1, "at": 6000 },
            { "type": "C", "frame": 1, "at": 7000 }, { "type": "C", "frame": 0, "at": 8000 },
        ] }],
        "shared": { "frames": [{ "name": "a" }, { "name": "b", "file": "/x/y/z.rs", "line": 3 }] },
    });
    bench.profile("p.json", profile.to_string());
    let found = bench.json("p.json", &[]);
    close(joules(&found, "a"), 50.0 + 60.0);
    close(joules(&found, "b (y/z.rs:3)"), 30.0);
}

#[test]
fn what_is_no_profile_is_refused_with_advice() {
    let bench = Bench::of(&run());
    let deep = format!(
        "[{}",
        "{\"ph\":\"B\",\"name\":\"f\",\"pid\":1,\"tid\":1,\"ts\":0},".repeat(1_100_000)
    );
    let cases: [(&str, &[u8], &str); 8] = [
        ("gz", b"\x1f\x8b\x08", "is compressed"),
        (
            "text",
            b"hello\nworld\n",
            "is no profile in a format that impact reads",
        ),
        ("none", b"", "is no profile in a format that impact reads"),
        (
            "object",
            b"{\"a\": 1}",
            "is no profile in a format that impact reads",
        ),
        (
            "empty",
            b"{\"traceEvents\": []}",
            "has no span with a name and a time",
        ),
        (
            "cut",
            b"[{\"ph\": \"X\", \"name\"",
            "is damaged, or is no Chrome trace",
        ),
        (
            "pstats",
            b"{)\x03z\x01a",
            "is damaged, or is no cProfile dump",
        ),
        (
            "deep",
            deep.as_bytes(),
            "has more than 1048576 spans that begin before another ends",
        ),
    ];
    for (name, bytes, words) in cases {
        bench.profile(name, bytes);
        bench
            .command(name, &[])
            .assert()
            .code(1)
            .stderr(contains(words));
    }
    bench
        .command("missing", &[])
        .assert()
        .code(1)
        .stderr(contains("cannot read missing"));
    fs::create_dir(bench.folder.path().join("folder")).unwrap();
    bench.profile("x.csv", "name,start,end\n");
    impact()
        .current_dir(bench.folder.path())
        .args(["attribute", "folder", "--profile", "x.csv"])
        .assert()
        .code(1)
        .stderr(contains("folder is not the folder of a run"));
}

#[test]
fn times_that_are_none_are_left_out_and_nests_of_any_depth_are_read() {
    let bench = Bench::of(&run());
    let mut text = String::from("[");
    for (start, length) in [
        ("NaN", "1"),
        ("0", "-5"),
        ("1e400", "1"),
        ("\"0\"", "1"),
        ("null", "1"),
        ("0", ""),
    ] {
        let length = if length.is_empty() {
            String::new()
        } else {
            format!(",\"dur\":{length}")
        };
        text.push_str(&format!(
            "{{\"ph\":\"X\",\"name\":\"bad\",\"pid\":1,\"tid\":1,\"ts\":{start}{length}}},\n"
        ));
    }
    // Within each other, a hundred thousand of them.
    for depth in 0..100_000 {
        text.push_str(&format!(
            "{{\"ph\":\"X\",\"name\":\"f{}\",\"pid\":1,\"tid\":1,\"ts\":{depth},\"dur\":{}}},",
            depth % 10,
            10_000_000 - 2 * depth
        ));
    }
    bench.profile("trace.json", text.trim_end_matches(','));
    let found = bench.json("trace.json", &[]);
    assert!(
        found["notes"].to_string().contains("left out: 6 spans"),
        "{}",
        found["notes"]
    );
    close(of(&found, "f0")["with_calls_j"].as_f64().unwrap(), 200.0);
    assert!(same(found["coverage"].as_f64().unwrap(), 1.0));
}

#[test]
fn frames_of_pyinstrument_may_be_nested_deeper_than_a_parser_recurses() {
    let bench = Bench::of(&run());
    let mut frames = String::new();
    for depth in 0..20_000 {
        frames.push_str(&format!(
            "{{\"function\":\"f{}\",\"time\":5,\"children\":[",
            depth % 3
        ));
    }
    frames.push_str("{\"function\":\"[self]\",\"time\":4,\"children\":[]}");
    frames.push_str(&"]}".repeat(20_000));
    bench.profile(
        "p.json",
        format!("{{\"root_frame\":{frames},\"duration\":5}}"),
    );
    let found = bench.json("p.json", &[]);
    close(found["uncovered_j"].as_f64().unwrap(), 100.0);
    close(of(&found, "f0")["with_calls_j"].as_f64().unwrap(), 100.0);
}

#[test]
fn names_cannot_steer_a_terminal_or_run_as_a_formula() {
    let bench = Bench::of(&run());
    bench.profile(
        "spans.csv",
        "name,start,end\n\u{1b}[2Jx,0,1\n=cmd(),1,2\n\u{202e}<b>,2,3\n",
    );
    let text = |format: &str| {
        let output = bench
            .command("spans.csv", &["--format", format])
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    for format in ["text", "json", "csv"] {
        let shown = text(format);
        assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown}");
    }
    assert!(text("csv").contains("'=cmd()"));
}

#[test]
fn a_run_of_experiment_impact_tracker_is_divided_too() {
    let bench = Bench::of(&run());
    crate::support::LegacyRun::default().write(&bench.folder.path().join("old"));
    let noon = crate::support::NOON;
    bench.profile(
        "spans.csv",
        format!(
            "name,start,end,device\nf,{},{},cpu\ng,{noon},{},gpu\n",
            noon + 10.0,
            noon + 20.0,
            noon + 35.0
        ),
    );
    let output = impact()
        .current_dir(bench.folder.path())
        .args([
            "attribute",
            "old",
            "--profile",
            "spans.csv",
            "--format",
            "json",
        ])
        .output()
        .unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    close(joules(&found, "f"), 200.0);
    close(joules(&found, "g"), 3500.0);
    close(found["energy_j"].as_f64().unwrap(), 4250.0);
}

/// Every fixture, and the seeds of the fuzz target.
fn samples() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    for folder in ["tests/fixtures/profiles", "tests/fuzz/seeds/profile"] {
        let entries = fs::read_dir(root.join(folder)).unwrap();
        paths.extend(entries.map(|entry| entry.unwrap().path()));
    }
    paths.sort();
    assert!(paths.len() >= 8, "{paths:?}");
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

proptest! {
    #![proptest_config(Config::with_cases(200))]

    #[test]
    fn a_damaged_profile_adds_up_or_is_refused(
        which: Index, cut: Index, at: Index, byte: u8, more in proptest::collection::vec(any::<u8>(), 0..8)
    ) {
        let samples = samples();
        let mut bytes = samples[which.index(samples.len())].clone();
        bytes.truncate(1 + cut.index(2 * bytes.len()));
        let place = at.index(bytes.len());
        bytes[place] = byte;
        bytes.splice(place..place, more);
        let folder = TempDir::new().unwrap();
        let log = run().gpu("H100", "GPU-a", "550", 100.0).write(&folder.path().join("run"));
        let profile = folder.path().join("profile");
        fs::write(&profile, bytes).unwrap();
        let options = Options { over_time: true, ..Options::default() };
        if let Ok(attribution) = Attribution::of(&log, &profile, &options) {
            let of_spans: impact::Energy = attribution.rows.iter().map(|row| row.own).sum();
            prop_assert_eq!(of_spans + attribution.uncovered(), attribution.total());
            for picture in [Some(flame(&attribution)), Some(graph(&attribution)), bands(&attribution)] {
                prop_assert!(picture.is_none_or(|picture| picture.ends_with("</svg>\n")));
            }
        }
    }
}

#[test]
fn pictures_are_files_that_need_nothing_else_and_names_cannot_break_out_of_them() {
    let bench = Bench::of(&run().with("name", "<run> & \"quotes\""));
    let name = "</text><script>alert(1)</script>\u{1b}\" onload=\"x";
    bench.profile(
        "trace.json",
        trace(&[event(name, 0.0, 5.0, 1), event("a]]>b", 1.0, 2.0, 1)]),
    );
    let files = ["flame.svg", "graph.svg", "bands.svg"];
    let options: Vec<&str> = ["--flame", "--graph", "--bands"]
        .into_iter()
        .zip(files)
        .flat_map(|(a, b)| [a, b])
        .collect();
    bench.command("trace.json", &options).assert().success();
    for file in files {
        let text = fs::read_to_string(bench.folder.path().join(file)).unwrap();
        // Well-formed, as every browser demands.
        let document =
            roxmltree::Document::parse(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
        let elements = document.descendants().filter(roxmltree::Node::is_element);
        let scripts = elements
            .clone()
            .filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "script")));
        assert_eq!(scripts.count(), usize::from(file == "flame.svg"));
        let attributes = elements.clone().flat_map(|node| node.attributes());
        for attribute in attributes {
            let name = attribute.name();
            assert!(
                !name.starts_with("on") && name != "href" && name != "src",
                "{file}: {name}"
            );
        }
        assert!(!text.contains("url(") && !text.contains("@import") && !text.contains('\u{1b}'));
    }
    // Nothing is replaced unless that is asked for.
    bench
        .command("trace.json", &options)
        .assert()
        .code(1)
        .stderr(contains("flame.svg is already there"));
    bench
        .command("trace.json", &[&options[..], &["--force"]].concat())
        .assert()
        .success();
    bench
        .command("trace.json", &["--flame", "x.svg", "--graph", "x.svg"])
        .assert()
        .code(2)
        .stderr(contains("x.svg is given as the name of two files"));
    bench
        .command(fixture("py-spy.collapsed.txt"), &["--bands", "y.svg"])
        .assert()
        .code(1)
        .stderr(contains("does not say when its calls were"));
}

#[test]
fn the_width_of_a_frame_is_its_energy() {
    let bench = Bench::of(&run());
    bench.profile(
        "trace.json",
        trace(&[
            event("low", 0.0, 5.0, 1),
            event("high", 5.0, 10.0, 1),
            event("part", 6.0, 7.0, 1),
        ]),
    );
    bench
        .command("trace.json", &["--flame", "flame.svg"])
        .assert()
        .success();
    let text = fs::read_to_string(bench.folder.path().join("flame.svg")).unwrap();
    let document = roxmltree::Document::parse(&text).unwrap();
    let place = |name: &str| {
        let frame = document
            .descendants()
            .find(|node| node.attribute("data-name") == Some(name))
            .unwrap();
        ["x", "width", "data-level"].map(|attribute| frame.attribute(attribute).unwrap().to_owned())
    };
    assert_eq!(place("high"), ["0.0000%", "75.0000%", "1"]);
    assert_eq!(place("part"), ["0.0000%", "15.0000%", "2"]);
    assert_eq!(place("low"), ["75.0000%", "25.0000%", "1"]);
}

#[test]
fn the_page_of_a_run_shows_the_pictures_of_a_profile_in_its_folder() {
    let bench = Bench::of(&run());
    let folder = bench.folder.path();
    bench.profile("run/profile.csv", "name,start,end\ntrain,0,8\n");
    let site = folder.join("site");
    crate::support::site::appendix_of(&folder.join("run"), &site)
        .assert()
        .success();
    let pages = crate::support::site::pages(&site, "flame.svg");
    let (_, flame) = pages.first_key_value().expect("a flame graph");
    assert!(
        fs::read_to_string(flame)
            .unwrap()
            .contains("data-name=\"train\"")
    );
    let page = fs::read_to_string(flame.with_file_name("index.html")).unwrap();
    for file in ["flame.svg", "calls.svg", "bands.svg"] {
        assert!(
            page.contains(&format!("<a href=\"{file}\"><img src=\"{file}\"")),
            "{page}"
        );
        assert!(flame.with_file_name(file).exists());
    }
    crate::support::site::check(&site).assert().success();
    // A profile that cannot be read is noted, and its names are not published where the rest is redacted.
    bench.profile("run/profile.csv", "name,start,end,device\ntrain,0,8,tpu\n");
    for (options, note) in [
        (&[][..], "is no device such as"),
        (&["--redact"], "its names are not redacted"),
    ] {
        let mut again = crate::support::site::appendix_of(&folder.join("run"), &site);
        again.args(options).assert().success();
        let page = fs::read_to_string(flame.with_file_name("index.html")).unwrap();
        assert!(page.contains(note) && !page.contains("flame.svg"), "{page}");
    }
}

#[test]
fn a_job_is_started_under_cprofile_only_if_that_is_asked_for() {
    let machine = Machine::with_rapl();
    fs::create_dir(machine.path("mine")).unwrap();
    fs::write(machine.path("mine/sitecustomize.py"), "print('mine')\n").unwrap();
    let job = "import os, subprocess, sys\n\
        def burn():\n    return sum(i * i for i in range(200000))\n\
        burn()\n\
        print(os.environ['PYTHONPATH'], 'cProfile' in sys.modules, flush=True)\n\
        subprocess.run([sys.executable, '-c', 'import sys; print(\"cProfile\" in sys.modules)'], check=True)\n";
    fs::write(machine.path("job.py"), job).unwrap();
    let track = |out: &str, more: &[&str]| {
        let mut command = machine.impact();
        command
            .env("PYTHONPATH", "mine")
            .args(["track", "--out", out])
            .args(more);
        command.args(["--", "python3", "job.py"]).output().unwrap()
    };
    let output = track("plain", &[]);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "mine\nmine False\nmine\nFalse\n"
    );
    assert!(!machine.path("plain/profile.pstats").exists());

    let output = track("run", &["--profile", "python"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "mine\nmine True\nmine\nFalse\n",
        "{told}"
    );
    assert!(
        told.contains("impact attribute run --profile run/profile.pstats"),
        "{told}"
    );
    let found = machine
        .impact()
        .args([
            "attribute",
            "run",
            "--profile",
            "run/profile.pstats",
            "--format",
            "json",
        ])
        .output()
        .unwrap();
    let found: Value = serde_json::from_slice(&found.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&found.stderr)));
    let rows = found["names"].as_array().unwrap();
    let is_burn = |row: &&Value| {
        let name = row["name"].as_str().unwrap();
        name.starts_with("burn (") && name.ends_with("job.py:2)")
    };
    let burn: Vec<&Value> = rows.iter().filter(is_burn).collect();
    assert_eq!((burn.len(), &burn[0]["calls"]), (1, &json!(1)), "{found:#}");

    let mut command = machine.impact();
    let output = command
        .args([
            "track",
            "--out",
            "none",
            "--profile",
            "python",
            "--",
            "true",
        ])
        .output()
        .unwrap();
    assert!(
        String::from_utf8_lossy(&output.stderr)
            .contains("there is no profile: no Python has ended")
    );
}
