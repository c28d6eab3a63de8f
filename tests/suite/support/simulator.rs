//! A powercap counter that runs along a known power profile.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Watts from a second on.
pub type Profile = &'static [(f64, f64)];

/// Keeps a counter current until it is dropped.
pub struct Simulator {
    profile: Profile,
    started: Instant,
    is_over: Arc<AtomicBool>,
    writer: Option<JoinHandle<()>>,
}

impl Simulator {
    pub fn start(counter: &Path, profile: Profile, range: u64) -> Self {
        let file = OpenOptions::new().write(true).open(counter).unwrap();
        let is_over = Arc::new(AtomicBool::new(false));
        let started = Instant::now();
        show(&file, 0);
        let over = Arc::clone(&is_over);
        let writer = std::thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                let joules = joules(profile, started.elapsed().as_secs_f64());
                show(&file, (joules * 1e6) as u64 % range);
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        Self {
            profile,
            started,
            is_over,
            writer: Some(writer),
        }
    }

    /// What truly went by between two instants.
    pub fn truth(&self, from: Instant, to: Instant) -> f64 {
        let at = |instant: Instant| {
            joules(
                self.profile,
                instant.duration_since(self.started).as_secs_f64(),
            )
        };
        at(to) - at(from)
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.writer.take().unwrap().join().unwrap();
    }
}

fn show(file: &File, microjoules: u64) {
    file.write_all_at(format!("{microjoules:<19}\n").as_bytes(), 0)
        .unwrap();
}

fn joules(profile: Profile, seconds: f64) -> f64 {
    profile
        .iter()
        .enumerate()
        .map(|(i, (from, watts))| {
            let to = profile
                .get(i + 1)
                .map_or(seconds, |(next, _)| next.min(seconds));
            watts * (to - from).max(0.0)
        })
        .sum()
}
