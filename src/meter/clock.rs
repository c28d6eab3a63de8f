use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, Timespec, clock_gettime};

/// One instant on three clocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ClockReading {
    /// Goes on evenly while the machine is awake: the clock of all intervals.
    pub(crate) monotonic: Duration,
    /// The same, but going on while the machine sleeps.
    since_boot: Duration,
    /// Seconds since 1970; a label only, since it may be set at any time.
    pub(crate) wall: f64,
}

impl ClockReading {
    pub(crate) fn now() -> Self {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            monotonic: duration(clock_gettime(ClockId::Monotonic)),
            since_boot: duration(clock_gettime(ClockId::Boottime)),
            wall: wall.unwrap_or_default().as_secs_f64(),
        }
    }

    /// The same day, at an earlier time of the monotonic clock.
    pub(crate) fn back_at(self, monotonic: Duration) -> Self {
        let back = self.monotonic.saturating_sub(monotonic);
        Self {
            monotonic: self.monotonic.saturating_sub(back),
            since_boot: self.since_boot.saturating_sub(back),
            wall: self.wall - back.as_secs_f64(),
        }
    }

    /// How long the machine slept since an earlier moment.
    pub(crate) fn slept_since(&self, earlier: &Self) -> Duration {
        let all = self.since_boot.saturating_sub(earlier.since_boot);
        all.saturating_sub(self.monotonic.saturating_sub(earlier.monotonic))
    }
}

/// CPU time of this process itself, which is no part of the run.
pub(crate) fn own_cpu_time() -> Duration {
    duration(clock_gettime(ClockId::ProcessCPUTime))
}

/// CPU time of the calling thread.
pub(crate) fn thread_cpu_time() -> Duration {
    duration(clock_gettime(ClockId::ThreadCPUTime))
}

fn duration(time: Timespec) -> Duration {
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_sleeping_machine_pulls_the_clocks_apart() {
        let second = Duration::from_secs(1);
        let before = ClockReading {
            monotonic: second * 10,
            since_boot: second * 15,
            wall: 1e9,
        };
        let stepped = ClockReading {
            monotonic: second * 11,
            since_boot: second * 16,
            wall: 5.0,
        };
        let slept = ClockReading {
            monotonic: second * 11,
            since_boot: second * 46,
            wall: 1e9 + 31.0,
        };
        assert_eq!(stepped.slept_since(&before), Duration::ZERO);
        assert_eq!(slept.slept_since(&before), second * 30);
    }
}
