use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, Timespec, clock_gettime};

/// Gives a session its time.
///
/// Use [`SystemClock`] except in tests.
pub trait Clock: fmt::Debug + Send {
    /// The present time.
    fn now(&self) -> ClockReading;
    /// Waits.
    fn sleep(&self, time: Duration);
}

/// The clocks of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> ClockReading {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH);
        ClockReading {
            monotonic: duration(clock_gettime(ClockId::Monotonic)),
            since_boot: duration(clock_gettime(ClockId::Boottime)),
            wall: wall.unwrap_or_default().as_secs_f64(),
        }
    }

    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

/// One instant on three clocks.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ClockReading {
    /// Monotonic time, which stands still while the machine is suspended.
    pub monotonic: Duration,
    /// Monotonic time that also passes while the machine is suspended.
    pub since_boot: Duration,
    /// Seconds since 1970. Only a label: the wall clock may be set at any time.
    pub wall: f64,
}

impl ClockReading {
    /// The same instant moved back to an earlier monotonic time.
    pub(crate) fn back_at(self, monotonic: Duration) -> Self {
        let back = self.monotonic.saturating_sub(monotonic);
        Self {
            monotonic: self.monotonic.saturating_sub(back),
            since_boot: self.since_boot.saturating_sub(back),
            wall: self.wall - back.as_secs_f64(),
        }
    }

    /// How long the machine was suspended since an earlier instant.
    pub(crate) fn suspended_since(&self, earlier: &Self) -> Duration {
        let all = self.since_boot.saturating_sub(earlier.since_boot);
        all.saturating_sub(self.monotonic.saturating_sub(earlier.monotonic))
    }
}

/// CPU time of this process.
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
    fn only_a_suspend_separates_the_two_monotonic_clocks() {
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
        let suspended = ClockReading {
            monotonic: second * 11,
            since_boot: second * 46,
            wall: 1e9 + 31.0,
        };
        assert_eq!(stepped.suspended_since(&before), Duration::ZERO);
        assert_eq!(suspended.suspended_since(&before), second * 30);
    }
}
