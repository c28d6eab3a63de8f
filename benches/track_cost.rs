//! What tracking costs: CPU time and memory while a job runs, and time before and after it.
//!
//! `cargo bench --bench track_cost`; each figure with the bound it must keep. What a core spends on a
//! wake-up and a read of /proc differs by machine and by hour, so a bare loop that only sleeps, reads
//! three such files and appends a line runs beside each tracker, and the ratio of the two is printed
//! as well. A virtual machine that is held up charges that to whoever was running, so beside the
//! mean of a minute, which the bound is for, stands the best of its windows, each long enough for
//! everything a tracker does now and then.

mod bounds;

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use bounds::Bounds;

/// Set for a copy of this program: `stamp` for the tracked job, an interval for the bare loop.
const JOB: &str = "IMPACT_BENCH_JOB";
/// Memory is measured and the log is flushed once in this time.
const WINDOW: Duration = Duration::from_secs(10);
const WINDOWS: u32 = 6;
const RESIDENT_MB: f64 = 10.0;

fn main() -> ExitCode {
    match std::env::var(JOB).as_deref() {
        Err(_) => {}
        Ok("stamp") => {
            let started = monotonic();
            println!("{started} {}", monotonic());
            return ExitCode::SUCCESS;
        }
        Ok(interval) => bare_loop(interval.parse().expect("milliseconds")),
    }
    let mut bounds = Bounds::default();
    running(&mut bounds, "1 process, 1 Hz", 1, 1000, 0.03);
    running(&mut bounds, "50 processes, 1 Hz", 50, 1000, 0.1);
    running(&mut bounds, "1 process, 10 Hz", 1, 100, 0.3);
    for (name, options) in [("", &[][..]), (" (no cgroup)", &["--no-cgroup"])] {
        let (before, after) = around(options, 31);
        let what = format!("added before the command starts{name}");
        bounds.at_most(&what, before, 8.0, "ms");
        let what = format!("added after the command ends{name}");
        bounds.at_most(&what, after, 10.0, "ms");
    }
    bounds.end()
}

fn impact() -> Command {
    let folder = std::env::temp_dir().join(format!("impact-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder can be made");
    let mut command = Command::new(env!("CARGO_BIN_EXE_impact"));
    command.current_dir(folder);
    command
}

/// CPU time and memory of a tracker whose job sleeps.
fn running(bounds: &mut Bounds, name: &str, processes: u32, interval_ms: u64, percent: f64) {
    let script = format!(
        "i=1; while [ $i -lt {processes} ]; do sleep {0} & i=$((i+1)); done; exec sleep {0}",
        (WINDOW * WINDOWS).as_secs() + 3
    );
    let mut tracker = impact()
        .args([
            "track",
            "-q",
            "--interval",
            &format!("{interval_ms}ms"),
            "--",
            "sh",
            "-c",
            &script,
        ])
        .spawn()
        .expect("the tracker starts");
    // Between two ticks of the tracker: two cores that wake at the same time slow each other down.
    std::thread::sleep(Duration::from_millis(interval_ms / 2));
    let program = std::env::current_exe().expect("a program knows its file");
    let mut bare = Command::new(program)
        .env(JOB, interval_ms.to_string())
        .spawn()
        .expect("the bare loop starts");
    std::thread::sleep(Duration::from_millis(900 - interval_ms / 2));
    let (mut used, mut by_bare_loop) = (Parts::default(), Parts::default());
    for _ in 0..WINDOWS {
        let before = (cpu_time(&tracker), cpu_time(&bare));
        std::thread::sleep(WINDOW);
        used.add(cpu_time(&tracker).saturating_sub(before.0));
        by_bare_loop.add(cpu_time(&bare).saturating_sub(before.1));
    }
    let memory = resident(&tracker);
    end(&mut tracker);
    end(&mut bare);
    let what = format!("{name}: part of a core");
    bounds.at_most(&what, used.mean(), percent, "%");
    println!(
        "{:44} {:>7.3} %  (best {:.3} %, of the tracker {:.3} %; {:.2} times the bare loop)",
        "  the bare loop beside it",
        by_bare_loop.mean(),
        by_bare_loop.best(),
        used.best(),
        used.mean() / by_bare_loop.mean()
    );
    bounds.at_most(&format!("{name}: resident"), memory, RESIDENT_MB, "MB");
}

/// What part of a core a process used in each window, in percent.
#[derive(Default)]
struct Parts(Vec<f64>);

impl Parts {
    fn add(&mut self, used: Duration) {
        let part = used.as_secs_f64() / WINDOW.as_secs_f64();
        self.0.push(part * 100.0);
    }

    fn best(&self) -> f64 {
        self.0.iter().copied().fold(f64::MAX, f64::min)
    }

    fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }
}

/// The least that can be called tracking; runs until it is killed.
fn bare_loop(interval_ms: u64) -> ! {
    let files = ["stat", "meminfo", "loadavg"]
        .map(|name| File::open(format!("/proc/{name}")).expect("the kernel has it"));
    let mut log = tempfile::tempfile().expect("a temporary file");
    let mut buffer = [0; 256];
    loop {
        std::thread::sleep(Duration::from_millis(interval_ms));
        for file in &files {
            file.read_at(&mut buffer, 0).expect("read before");
        }
        log.write_all(&[b'x'; 600]).expect("room for a line");
    }
}

/// Asks a process, and with it the job it tracks, to end.
fn end(process: &mut Child) {
    // SAFETY: the process is our own child and has not been waited for.
    unsafe { libc::kill(process.id() as i32, libc::SIGTERM) };
    let _ = process.wait();
}

fn cpu_time(process: &Child) -> Duration {
    let clock = (!(process.id() as libc::clockid_t) << 3) | 2;
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: clock_gettime writes one timespec into the one it is given.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn resident(process: &Child) -> f64 {
    let status =
        std::fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib: f64 = line
        .and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or(0.0);
    kib * 1024.0 / 1e6
}

/// Milliseconds that tracking adds before and after a job that does nothing.
fn around(options: &[&str], rounds: usize) -> (f64, f64) {
    let program = std::env::current_exe().expect("a program knows its file");
    let mut tracked = Vec::new();
    let mut bare = Vec::new();
    for _ in 0..rounds {
        let mut command = impact();
        command
            .args(["track", "-q"])
            .args(options)
            .arg("--")
            .arg(&program);
        tracked.push(time(command));
        bare.push(time(Command::new(&program)));
    }
    let middle = |times: &[(f64, f64)], side: fn(&(f64, f64)) -> f64| {
        let mut times: Vec<f64> = times.iter().map(side).collect();
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let added = |side: fn(&(f64, f64)) -> f64| middle(&tracked, side) - middle(&bare, side);
    (added(|times| times.0), added(|times| times.1))
}

/// Milliseconds from the call to the job's first instruction, and from its last to the return.
fn time(mut command: Command) -> (f64, f64) {
    let called = monotonic();
    let output = command
        .env(JOB, "stamp")
        .stdout(Stdio::piped())
        .output()
        .expect("the job runs");
    let returned = monotonic();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut stamps = text
        .split_whitespace()
        .filter_map(|stamp| stamp.parse::<f64>().ok());
    let (started, ended) = (
        stamps.next().unwrap_or(called),
        stamps.next().unwrap_or(returned),
    );
    ((started - called) * 1e3, (returned - ended) * 1e3)
}

/// Seconds on the clock that all processes share.
fn monotonic() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: clock_gettime writes one timespec into the one it is given.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
