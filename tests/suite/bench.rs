//! `impact bench` on a counter that the measured commands move themselves, so that the answer is exact.
//!
//! How near the means come to a counter that runs along with time, `benches/track_accuracy.rs` measures.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Output, Stdio};

use impact::ledger::bench::order;
use serde_json::Value;

use crate::support::simulator::Simulator;
use crate::support::{Machine, same};

/// A machine without /proc, so that all energy is the command's, and a command `draw NAME MICROJOULES`.
///
/// The command waits until the session has seen that the counter is not updated all the time.
fn machine() -> Machine {
    let machine = Machine::bare();
    machine.domain("intel-rapl:0", "package-0", 262_143_328_850);
    let counter = machine.counter("intel-rapl:0");
    let script = format!(
        "sleep 0.06; read n < {0}; echo $((n + $2)) > {0}; echo $1 >> order",
        counter.display()
    );
    fs::write(machine.path("draw"), script).unwrap();
    fs::create_dir(machine.path("proc")).unwrap();
    machine
}

fn bench(machine: &Machine) -> Command {
    let mut command = machine.impact();
    command.args(["bench", "--procfs-root", "proc", "--idle", "0"]);
    command
}

fn output(machine: &Machine, arguments: &[&str]) -> Output {
    bench(machine).args(arguments).output().unwrap()
}

fn json(output: &Output) -> Value {
    let error = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|why| panic!("{why}: {error}"))
}

fn lines(machine: &Machine) -> Vec<String> {
    let text = fs::read_to_string(machine.path("order")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_sample_has_the_energy_of_its_runs_and_a_figure_that_of_one() {
    let machine = machine();
    let options = [
        "--runs",
        "3",
        "--repeat",
        "2",
        "--warmup",
        "1",
        "--per",
        "tokens=500",
        "--format",
        "json",
    ];
    let command = ["--", "sh", "draw", "a", "1500000"];
    let output = output(&machine, &[&options[..], &command].concat());
    let document = json(&output);
    assert_eq!(output.status.code(), Some(0));
    let of = &document["commands"][0];
    assert_eq!(of["samples"].as_array().unwrap().len(), 3);
    for sample in of["samples"].as_array().unwrap() {
        assert_eq!(sample["runs"], 2);
        assert!(same(sample["energy_j"].as_f64().unwrap(), 3.0), "{sample}");
    }
    let mean = |figure: &str| of["figures"][figure]["mean"].as_f64().unwrap();
    assert!(same(mean("energy"), 1.5), "{of}");
    assert!(same(mean("j_per_tokens"), 0.003));
    assert_eq!(of["measured_share"], 1.0);
    assert_eq!(of["devices"]["package-0"]["method"], "measured");
    // A run to warm up, and three samples of two runs.
    assert_eq!(of["warm_up_runs"], 1);
    assert_eq!(lines(&machine).len(), 7);
    let first = &of["samples"][0];
    let seconds = first["time_s"].as_f64().unwrap() / 2.0;
    let csv = bench(&machine)
        .args([
            "--runs", "1", "--warmup", "0", "--format", "csv", "--", "true",
        ])
        .output()
        .unwrap();
    assert!(text(&csv.stdout).starts_with("command,sample,place,runs,failed_runs,"));
    assert!(seconds > 0.06, "{first}");
}

#[test]
fn means_are_those_of_the_commands_and_the_verdict_comes_first() {
    let machine = machine();
    let options = [
        "--runs", "5", "--warmup", "0", "--name", "small", "--name", "large",
    ];
    let commands = [
        "--",
        "sh draw a 1000000",
        "--",
        "sh",
        "draw",
        "b",
        "1030000",
    ];
    let words = [&options[..], &commands].concat();
    let document = json(&output(
        &machine,
        &[&["--format", "json"], &words[..]].concat(),
    ));
    let mean = |index: usize| document["commands"][index]["figures"]["energy"]["mean"].as_f64();
    assert!(same(mean(0).unwrap(), 1.0) && same(mean(1).unwrap(), 1.03));
    let verdict = &document["comparison"]["energy"]["against_first"][0];
    assert_eq!(
        (&verdict["group"], &verdict["verdict"]),
        (&"large".into(), &"more".into())
    );
    let shown = text(&output(&machine, &words).stdout);
    assert!(
        shown.starts_with("large used 3 % more energy than small ("),
        "{shown}"
    );
    assert!(shown.contains("5 against 5 samples"), "{shown}");
    assert!(
        shown.contains("small: 5 samples of 1 run, after no warm-up."),
        "{shown}"
    );
}

#[test]
fn each_round_has_every_command_in_the_order_of_the_seed() {
    let machine = machine();
    let options = [
        "--runs", "4", "--warmup", "0", "--seed", "3", "--format", "json",
    ];
    let commands = [
        "--", "sh", "draw", "0", "100", "--", "sh", "draw", "1", "100", "--", "sh", "draw", "2",
        "100",
    ];
    let document = json(&output(&machine, &[&options[..], &commands].concat()));
    let wanted: Vec<String> = (0..4)
        .flat_map(|round| order(3, round, 3))
        .map(|index| index.to_string())
        .collect();
    assert_eq!(lines(&machine), wanted);
    let blocks: Vec<String> = [0, 1, 2]
        .iter()
        .flat_map(|n| vec![n.to_string(); 4])
        .collect();
    assert_ne!(wanted, blocks);
    for (index, command) in document["commands"].as_array().unwrap().iter().enumerate() {
        for sample in command["samples"].as_array().unwrap() {
            let place = sample["place"].as_u64().unwrap() as usize;
            assert_eq!(wanted[place - 1], index.to_string());
        }
    }
}

#[test]
fn the_baseline_is_shown_first_and_the_others_are_compared_with_it() {
    let machine = machine();
    let options = [
        "--runs",
        "4",
        "--warmup",
        "0",
        "--baseline",
        "2",
        "--format",
        "json",
    ];
    let commands = [
        "--", "sh", "draw", "a", "1000000", "--", "sh", "draw", "b", "2000000",
    ];
    let document = json(&output(&machine, &[&options[..], &commands].concat()));
    assert_eq!(document["commands"][0]["name"], "sh draw b 2000000");
    let verdict = document["verdict"][0].as_str().unwrap();
    assert!(
        verdict.starts_with("sh draw a 1000000 used 50 % less energy than"),
        "{verdict}"
    );
}

#[test]
fn commands_have_no_input_and_their_output_is_shown_only_on_demand() {
    let machine = machine();
    let run = |more: &[&str]| {
        let mut command = bench(&machine);
        command.args(["--runs", "1", "--warmup", "0"]).args(more);
        // `cat` would wait for ever on an input that is open.
        command.args(["--", "echo seen; echo told >&2; cat"]);
        command.stdin(Stdio::piped()).output().unwrap()
    };
    let hidden = run(&[]);
    assert_eq!(hidden.status.code(), Some(0));
    assert!(!text(&hidden.stdout).starts_with("seen\n"));
    assert!(!text(&hidden.stderr).contains("told"));
    let shown = run(&["--show-output"]);
    assert!(
        text(&shown.stdout).starts_with("seen\n"),
        "{}",
        text(&shown.stdout)
    );
    assert!(text(&shown.stderr).contains("told"));
}

#[test]
fn a_command_that_fails_ends_the_benchmark_unless_that_is_ignored() {
    let machine = machine();
    let failed = output(&machine, &["--runs", "3", "--warmup", "0", "--", "exit 7"]);
    // A shell's builtin without a shell is no program.
    assert_eq!(failed.status.code(), Some(1), "{}", text(&failed.stderr));
    assert!(text(&failed.stderr).contains("`exit 7` ended with exit code 7"));
    assert_eq!(text(&failed.stdout), "");
    let options = [
        "--runs",
        "3",
        "--warmup",
        "0",
        "--ignore-failure",
        "--",
        "exit 7",
    ];
    let ignored = output(&machine, &options);
    assert_eq!(ignored.status.code(), Some(0));
    assert!(text(&ignored.stdout).contains("exit 7: 3 runs did not succeed."));
    let missing = output(&machine, &["--", "no-such-program"]);
    assert_eq!(missing.status.code(), Some(127));
    assert!(text(&missing.stderr).contains("`no-such-program` cannot be started"));
}

#[test]
fn what_prepares_a_sample_runs_before_each_and_is_not_measured() {
    let machine = machine();
    let options = ["--runs", "3", "--warmup", "2", "--format", "json"];
    let words = [
        "--prepare",
        "sh draw p 50000000",
        "--",
        "sh",
        "draw",
        "a",
        "1000000",
    ];
    let document = json(&output(&machine, &[&options[..], &words].concat()));
    let samples = document["commands"][0]["samples"].as_array().unwrap();
    assert_eq!(samples.len(), 3);
    for sample in samples {
        assert_eq!(sample["runs"], 1);
        assert!(same(sample["energy_j"].as_f64().unwrap(), 1.0), "{sample}");
    }
    assert_eq!(lines(&machine), ["p", "a"].repeat(5));
    let failed = output(&machine, &["--prepare", "false", "--", "true"]);
    assert_eq!(failed.status.code(), Some(1));
    assert!(text(&failed.stderr).contains("--prepare ended with exit code 1"));
}

#[test]
fn a_file_that_is_there_is_refused_before_anything_runs() {
    let machine = machine();
    fs::write(machine.path("there"), "mine").unwrap();
    for option in ["--output", "--svg"] {
        let words = [
            option, "there", "--format", "text", "--runs", "1", "--", "sh", "draw", "a", "1",
        ];
        let refused = output(&machine, &words);
        assert_eq!(refused.status.code(), Some(1));
        assert!(text(&refused.stderr).contains("there is already there"));
    }
    assert_eq!(fs::read_to_string(machine.path("there")).unwrap(), "mine");
    assert_eq!(lines(&machine), [""; 0]);
}

#[test]
fn pictures_and_pages_need_nothing_but_themselves() {
    let machine = machine();
    let options = [
        "--runs", "2", "--warmup", "0", "--svg", "a.svg", "--output", "a.html", "--name", "<b>",
    ];
    let done = output(
        &machine,
        &[&options[..], &["--", "sh", "draw", "a", "1000000"]].concat(),
    );
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let page = fs::read_to_string(machine.path("a.html")).unwrap();
    assert!(
        page.contains("&lt;b&gt; used 1 J a run") && !page.contains("<b>"),
        "{page}"
    );
    assert!(!page.contains("src=") && !page.contains("http-equiv=\"refresh"));
    let picture = fs::read_to_string(machine.path("a.svg")).unwrap();
    assert!(
        picture.starts_with("<svg") && picture.contains("energy of a run (J)"),
        "{picture}"
    );
    assert_eq!(picture.matches("<circle").count(), 2 * 5);
}

#[test]
fn what_makes_figures_doubtful_is_a_warning() {
    let machine = machine();
    let write = |path: &str, text: &str| {
        let path = machine.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("sys/devices/system/cpu/online", "0-1\n");
    write(
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
        "powersave\n",
    );
    write("sys/devices/system/cpu/cpufreq/boost", "1\n");
    let throttled = "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count";
    write(throttled, "5\n");
    write("proc/loadavg", "1.5 1.0 1.0 2/100 7\n");
    write("sys/class/power_supply/BAT0/type", "Battery\n");
    write("sys/class/power_supply/BAT0/status", "Discharging\n");
    let hot = format!("echo 6 > {throttled}; sleep 0.01");
    let document = json(&output(
        &machine,
        &[
            "--runs", "1", "--warmup", "0", "--format", "json", "--", &hot,
        ],
    ));
    let warnings = document["warnings"].to_string();
    for part in [
        "load average 1.5 on 2",
        "governor is powersave",
        "turbo",
        "battery",
        "too hot",
    ] {
        assert!(warnings.contains(part), "{part}: {warnings}");
    }
}

#[test]
fn the_energy_of_the_idle_machine_is_shown_and_subtracted_on_demand() {
    let machine = machine();
    let mut command = machine.impact();
    command.args([
        "bench",
        "--procfs-root",
        "proc",
        "--idle",
        "0.3",
        "--subtract-idle",
    ]);
    command.args(["--runs", "2", "--warmup", "0", "--format", "json"]);
    let document = json(
        &command
            .args(["--", "sh", "draw", "a", "1000000"])
            .output()
            .unwrap(),
    );
    // Nothing moves the counter while the machine is idle.
    assert_eq!(document["idle"]["watts"], 0.0, "{document}");
    let figures = &document["commands"][0]["figures"];
    assert_eq!(
        figures["marginal_energy"]["mean"],
        figures["energy"]["mean"]
    );
    let refused = output(&machine, &["--subtract-idle", "--", "true"]);
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn a_signal_ends_the_command_and_what_was_measured_is_shown() {
    let machine = machine();
    let mut command = bench(&machine);
    command.args(["--runs", "1000", "--warmup", "0", "--format", "json"]);
    command.args([
        "--show-output",
        "--",
        "sh draw a 1000000; echo $$ > pid; echo ended; exec sleep 0.05",
    ]);
    let mut running = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(running.stdout.take().unwrap()).lines();
    for _ in 0..3 {
        assert_eq!(lines.next().unwrap().unwrap(), "ended");
    }
    let id = running.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(running.wait().unwrap().code(), Some(130));
    let at = rest.iter().position(|line| line == "{").unwrap();
    let document: Value = serde_json::from_str(&rest[at..].join("\n")).unwrap();
    assert_eq!(document["interrupted"], true);
    let samples = document["commands"][0]["samples"].as_array().unwrap();
    assert!(samples.len() >= 2, "{document}");
    let pid = fs::read_to_string(machine.path("pid")).unwrap();
    assert!(
        !std::path::Path::new("/proc").join(pid.trim()).exists(),
        "the command still runs"
    );
}

#[test]
fn commands_are_measured_for_at_least_the_time_that_is_asked_for() {
    let machine = machine();
    let options = ["--min-time", "0.2s", "--warmup", "0", "--format", "json"];
    let commands = ["--", "sh", "draw", "a", "1000000", "--", "true"];
    let document = json(&output(&machine, &[&options[..], &commands].concat()));
    let samples = |index: usize| document["commands"][index]["samples"].as_array().unwrap();
    assert_eq!(samples(0).len(), samples(1).len());
    for index in [0, 1] {
        let lasted = samples(index)
            .iter()
            .map(|sample| sample["time_s"].as_f64().unwrap());
        assert!(lasted.sum::<f64>() >= 0.2, "{document}");
    }
    let both = output(&machine, &["--min-time", "1s", "--runs", "3", "--", "true"]);
    assert_eq!(both.status.code(), Some(2));
}

#[test]
fn a_command_shorter_than_the_counter_is_late_runs_many_times_in_a_sample() {
    let machine = machine();
    let counter = machine.counter("intel-rapl:0");
    let _running = Simulator::start(&counter, &[(0.0, 50.0)], 262_143_328_850);
    let options = [
        "--runs", "2", "--warmup", "1", "--format", "json", "--", "true",
    ];
    let document = json(&output(&machine, &options));
    let of = &document["commands"][0];
    let runs = of["samples"][0]["runs"].as_u64().unwrap();
    // `true` takes some milliseconds at most, and 250 updates half a second at least.
    assert!(runs > 10, "{of}");
    assert!(of["warm_up_runs"].as_u64().unwrap() > 10, "{of}");
    let energy = of["samples"][0]["energy_j"].as_f64().unwrap();
    let mean = of["figures"]["energy"]["least"].as_f64().unwrap();
    assert!(mean <= energy / runs as f64 + 1e-9, "{of}");
    let shown = text(&output(&machine, &["--runs", "2", "--warmup", "1", "--", "true"]).stdout);
    assert!(shown.contains("runs each"), "{shown}");
}

#[test]
fn a_board_is_read_anew_for_each_sample() {
    let machine = machine();
    let tests = std::env::current_exe().unwrap();
    let stub = tests.parent().unwrap().join("libnvml_stub.so");
    let play = "n=$((n + 42000)); echo $n > n; \
        printf 'board uuid=GPU-1 name=Stub power=150 energy=%s\\nprocess pid=%s sm=80 time=5\\n' $n $$ > next; \
        mv next scenario";
    fs::write(machine.path("n"), "1000\n").unwrap();
    fs::write(machine.path("play"), format!("read n < n; {play}")).unwrap();
    fs::write(
        machine.path("scenario"),
        "board uuid=GPU-1 name=Stub power=150 energy=1000\n",
    )
    .unwrap();
    let mut command = bench(&machine);
    command.env("IMPACT_NVML_LIB", stub);
    command.env("IMPACT_STUB_SCENARIO", machine.path("scenario"));
    command.args([
        "--runs", "3", "--warmup", "1", "--repeat", "2", "--format", "json",
    ]);
    let document = json(&command.args(["--", "sh", "play"]).output().unwrap());
    let of = &document["commands"][0];
    assert_eq!(
        of["devices"]["gpu:GPU-1"]["method"], "measured",
        "{document}"
    );
    assert!(
        same(
            of["devices"]["gpu:GPU-1"]["energy_j"].as_f64().unwrap(),
            252.0
        ),
        "{of}"
    );
    assert!(
        same(of["figures"]["energy"]["mean"].as_f64().unwrap(), 42.0),
        "{of}"
    );
}
