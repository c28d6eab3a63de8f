use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::machine_state::{MachineState, Memory};
use super::sensor::{KernelFile, Roots};
use super::throttle::Throttle;

/// Measuring memory may take one such part of the time; walking large page tables is slow.
const PART_OF_THE_TIME: u32 = 20_000;
/// Memory is measured no more often than this.
const SHORTEST_PAUSE: Duration = Duration::from_secs(10);

/// The memory that the run uses: its proportional set size, measured from time to time.
#[derive(Debug)]
pub(crate) struct MemoryUse {
    folder: PathBuf,
    held: Option<Held>,
    throttle: Throttle,
}

/// The run's part of the memory, both measured at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) bytes: u64,
    pub(crate) of: Memory,
}

impl MemoryUse {
    pub(crate) fn of(roots: &Roots) -> Self {
        Self {
            folder: roots.processes().to_owned(),
            held: None,
            throttle: Throttle::new(PART_OF_THE_TIME, SHORTEST_PAUSE),
        }
    }

    /// The memory of these processes, measured again if that is due.
    ///
    /// When none is left, it is the last measured value or, for a run too short for that, the largest
    /// resident size of an ended process.
    pub(crate) fn held(
        &mut self,
        processes: &[u32],
        largest_ended: Option<u64>,
        machine: &MachineState,
    ) -> Option<Held> {
        let now = Instant::now();
        if !processes.is_empty() && self.throttle.is_due(now) {
            let bytes = processes.iter().filter_map(|pid| self.size_of(*pid)).sum();
            self.held = held(bytes, machine).or(self.held);
            self.throttle.done(now);
        } else if processes.is_empty() && self.held.is_none() {
            return held(largest_ended?, machine);
        }
        self.held
    }

    fn size_of(&self, pid: u32) -> Option<u64> {
        let path = self.folder.join(format!("{pid}/smaps_rollup"));
        // The needed line is one of the first.
        let mut buffer = [0; 512];
        let text = KernelFile::open(&path).ok()?.text(&mut buffer).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
        let kib: u64 = line.split_ascii_whitespace().next()?.parse().ok()?;
        Some(kib * 1024)
    }
}

fn held(bytes: u64, machine: &MachineState) -> Option<Held> {
    let of = machine.memory().filter(|_| bytes > 0)?;
    Some(Held { bytes, of })
}
