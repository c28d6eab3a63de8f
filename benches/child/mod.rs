//! Time and memory of a program.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[allow(dead_code, reason = "each benchmark uses a part of it")]
pub fn time(command: &mut Command) -> Duration {
    let start = Instant::now();
    let status = command
        .stdout(Stdio::null())
        .status()
        .expect("the program runs");
    let elapsed = start.elapsed();
    assert!(status.success(), "{command:?}");
    elapsed
}

/// The high-water mark the kernel kept of the program's memory; the program may fail.
pub fn peak_memory_mb(command: &Command) -> f64 {
    let output = Command::new("sh")
        .args([
            "-c",
            "\"$@\" > /dev/null & while grep -h VmHWM /proc/$!/status; do sleep 0.01; done; wait",
            "sh",
        ])
        .arg(command.get_program())
        .args(command.get_args())
        .stderr(Stdio::null())
        .output()
        .expect("sh runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let kib = |line: &str| line.split_whitespace().nth(1)?.parse::<f64>().ok();
    let most = text.lines().filter_map(kib).fold(0.0, f64::max);
    assert!(most > 0.0, "{command:?} ended before it was looked at");
    most * 1024.0 / 1e6
}
