use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::reaped::Reaped;
use crate::sensor::Roots;

/// Measuring memory may take this part of the time; walking large page tables is slow.
const PART_OF_THE_TIME: u32 = 20_000;
/// Nor is it measured more often than this.
const SHORTEST_PAUSE: Duration = Duration::from_secs(10);

/// How much memory the run stands on: its proportional set size, measured now and then.
#[derive(Debug)]
pub(crate) struct Footing {
    folder: PathBuf,
    reaped: Reaped,
    bytes: Option<u64>,
    due: Instant,
}

impl Footing {
    pub(crate) fn of(roots: &Roots) -> Self {
        Self {
            folder: roots.processes().to_owned(),
            reaped: Reaped::from_now(),
            bytes: None,
            due: Instant::now(),
        }
    }

    /// The size as last measured, measured again if it is time.
    pub(crate) fn bytes(&mut self, processes: &[u32]) -> Option<u64> {
        let now = Instant::now();
        if now >= self.due && !processes.is_empty() {
            let sizes = processes.iter().filter_map(|pid| self.size_of(*pid));
            self.bytes = Some(sizes.sum()).filter(|sum| *sum > 0).or(self.bytes);
            self.due = now + (now.elapsed() * PART_OF_THE_TIME).max(SHORTEST_PAUSE);
        }
        self.bytes
    }

    /// The size from the largest the run's dead ever had, when none was measured alive.
    pub(crate) fn or_largest(&self) -> Option<u64> {
        self.bytes.or_else(|| self.reaped.largest())
    }

    fn size_of(&self, pid: u32) -> Option<u64> {
        let path = self.folder.join(format!("{pid}/smaps_rollup"));
        let text = std::fs::read_to_string(path).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
        let kib: u64 = line.split_ascii_whitespace().next()?.parse().ok()?;
        Some(kib * 1024)
    }
}
