//! How far the tracker's energy is from the truth, on counters that run along a known power profile.
//!
//! `cargo bench --bench track_accuracy`. The truth is what the profile gives between two instants that
//! the job itself takes, as its first act and as its last: what it draws while it is loaded and while
//! it exits is in the error. By how much the time it was tracked for is too long is shown beside it,
//! and for the short job also by how much it is when nobody tracks it: that is the machine's. The job
//! is a few lines of C, since loading a larger program takes a hundredth of half a second.

mod bounds;
#[path = "../tests/suite/support/mod.rs"]
mod support;

use std::io::Seek;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use bounds::Bounds;
use support::Machine;
use support::simulator::{Profile, Simulator};

/// A counter of 2^32 steps of 61 uJ.
const RANGE: u64 = 262_143_328_850;
const SHORT_JOBS: usize = 40;
const SHORT_SECONDS: f64 = 0.5;

fn main() -> ExitCode {
    let mut bounds = Bounds::default();
    let folder = tempfile::tempdir().expect("a folder can be made");
    let job = compile_job(folder.path());
    let constant: Profile = &[(0.0, 50.0)];
    let step: Profile = &[(0.0, 20.0), (5.0, 80.0)];
    for (name, profile, range) in [
        ("50 W", constant, RANGE),
        ("20 W, then 80 W", step, RANGE),
        ("50 W, wrapping every 3 s", constant, 150_000_000),
    ] {
        for interval in ["10s", "1s", "100ms"] {
            let outcome = track(&job, profile, range, interval, 11.0);
            row(
                &mut bounds,
                &format!("{name}, every {interval}"),
                &outcome,
                0.05,
            );
        }
    }
    let mut bare = Vec::new();
    let mut short = Vec::new();
    for _ in 0..SHORT_JOBS {
        bare.push(launch(&job, SHORT_SECONDS));
        short.push(track(&job, constant, RANGE, "1s", SHORT_SECONDS));
    }
    bare.sort_by(f64::total_cmp);
    short.sort_by(|a, b| a.error.abs().total_cmp(&b.error.abs()));
    for (name, index) in [("median", SHORT_JOBS / 2), ("worst", SHORT_JOBS - 1)] {
        let name = format!("half a second, {name}");
        row(&mut bounds, &name, &short[index], 0.5);
        let too_long = bare[index];
        println!("{:44} {too_long:>+10.3} %", "  too long when not tracked");
    }
    let within = short.iter().filter(|job| job.error.abs() < 0.5).count();
    let rest = short.iter().map(|job| (job.error - job.too_long).abs());
    let rest = rest.fold(0.0, f64::max);
    println!("half a second: {within} of {SHORT_JOBS} within the bound");
    println!("half a second: at most {rest:.3} % is not explained by the time it took");
    bench(&mut bounds, &job);
    bounds.end()
}

/// The means of `impact bench`: of a job of half a second, and of one that is so short that it runs many times in a sample.
///
/// How long the short job takes to load is a large part of it, so the truth of that one is its power.
fn bench(bounds: &mut Bounds, job: &Path) {
    const SAMPLES: usize = 10;
    const WATTS: f64 = 50.0;
    let profile: Profile = &[(0.0, WATTS)];
    let machine = Machine::bare();
    machine.domain("intel-rapl:0", "package-0", RANGE);
    std::fs::create_dir(machine.path("proc")).expect("a folder can be made");
    let simulator = Simulator::start(&machine.counter("intel-rapl:0"), profile, RANGE);
    for (name, seconds) in [("half a second", SHORT_SECONDS), ("10 ms", 0.01)] {
        let file = format!("{seconds}.json");
        let mut program = machine.impact();
        // Without /proc all energy is the command's.
        program.args([
            "bench",
            "--procfs-root",
            "proc",
            "--idle",
            "0",
            "--warmup",
            "1",
        ]);
        program.args([
            "--runs",
            &SAMPLES.to_string(),
            "--output",
            &file,
            "--show-output",
            "--",
        ]);
        let (stamps, _) = stamps(program.arg(job).arg(seconds.to_string()));
        let text = std::fs::read(machine.path(&file)).expect("the benchmark has an answer");
        let answer: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
        let command = &answer["commands"][0];
        let mean = |figure: &str| {
            let mean = &command["figures"][figure]["mean"];
            mean.as_f64().expect("every figure has a mean")
        };
        let runs = command["samples"][0]["runs"].as_u64().unwrap_or_default();
        // The first run is to warm up.
        let truths = stamps.chunks(2).skip(1);
        let truths = truths.map(|pair| simulator.truth(pair[0], pair[1]));
        let truth = truths.sum::<f64>() / (SAMPLES as u64 * runs) as f64;
        let error = if seconds < SHORT_SECONDS {
            mean("power") / WATTS - 1.0
        } else {
            mean("energy") / truth - 1.0
        };
        let name = format!("bench, {name}, {runs} runs a sample: error of the mean");
        bounds.at_most(&name, error.abs() * 100.0, 1.0, "%");
    }
}

/// How far off the tracker was, in percent of the truth.
struct Outcome {
    error: f64,
    /// What it saw of the job before its first act and after its last: the loader, the exit.
    too_long: f64,
}

fn row(bounds: &mut Bounds, name: &str, outcome: &Outcome, bound: f64) {
    bounds.at_most(&format!("{name}: error"), outcome.error.abs(), bound, "%");
    println!("{:44} {:>+10.3} %", "  too long", outcome.too_long);
}

/// Compiles the job with the compiler that Rust links with, as one file where that can be done.
fn compile_job(folder: &Path) -> PathBuf {
    let job = folder.join("job");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/job.c");
    let compile = |options: &[&str]| {
        let mut compiler = Command::new("cc");
        compiler.arg("-O2").args(options).arg("-o");
        let outcome = compiler.arg(&job).arg(source).output();
        outcome.is_ok_and(|output| output.status.success())
    };
    assert!(compile(&["-static"]) || compile(&[]), "{source}");
    job
}

/// Runs the job by itself, and says by how many percent that took longer than the job knows.
fn launch(job: &Path, seconds: f64) -> f64 {
    let times = run(&mut Command::new(job), seconds);
    times.too_long(times.command)
}

/// Tracks a sleeping job beside a running counter.
fn track(job: &Path, profile: Profile, range: u64, interval: &str, seconds: f64) -> Outcome {
    let machine = Machine::bare();
    machine.domain("intel-rapl:0", "package-0", range);
    let simulator = Simulator::start(&machine.counter("intel-rapl:0"), profile, range);
    let mut tracker = machine.impact();
    tracker
        .args(["track", "-q", "--out", "log", "--interval", interval, "--"])
        .arg(job);
    let times = run(&mut tracker, seconds);
    let log = machine.log();
    let elapsed = log.last()["elapsed"].as_f64().expect("every sample has it");
    let truth = simulator.truth(times.first, times.last);
    Outcome {
        error: (log.total("package-0") / truth - 1.0) * 100.0,
        too_long: times.too_long(Duration::from_secs_f64(elapsed)),
    }
}

/// When the job began and ended by its own account, and how long its command took.
struct Times {
    first: Instant,
    last: Instant,
    command: Duration,
}

impl Times {
    /// By how many percent this is longer than the job knows.
    fn too_long(&self, duration: Duration) -> f64 {
        let known = (self.last - self.first).as_secs_f64();
        (duration.as_secs_f64() / known - 1.0) * 100.0
    }
}

/// Runs a command whose last word is the job's.
fn run(command: &mut Command, seconds: f64) -> Times {
    let (stamps, command) = stamps(command.arg(seconds.to_string()));
    Times {
        first: stamps[0],
        last: stamps[1],
        command,
    }
}

/// Runs a command, and gives the times that its jobs have written, and how long it took.
///
/// They write to a file: a pipe would wake us up at the very moment that is measured.
fn stamps(command: &mut Command) -> (Vec<Instant>, Duration) {
    let mut stamps = tempfile::tempfile().expect("a file can be made");
    let writer = stamps.try_clone().expect("a file can be shared");
    command.stdout(writer);
    let began = Instant::now();
    command.status().expect("the command runs");
    let took = began.elapsed();
    stamps.rewind().expect("a file can be read again");
    let stamps = std::io::read_to_string(stamps).expect("the job writes text");
    let stamps = stamps
        .split_whitespace()
        .map(|stamp| instant(stamp.parse().expect("nanoseconds")));
    (stamps.collect(), took)
}

/// Nanoseconds on the clock that all processes share.
fn monotonic() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// That clock's time as this process writes it.
fn instant(nanoseconds: u64) -> Instant {
    let ago = Duration::from_nanos(monotonic() - nanoseconds);
    Instant::now()
        .checked_sub(ago)
        .expect("the clock of both began when the machine did")
}
