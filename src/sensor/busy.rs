use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{KernelFile, Roots};

/// The time all processors together have worked and rested since boot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuTimes {
    pub busy: Duration,
    pub idle: Duration,
}

impl CpuTimes {
    /// What went by since `before`; counters that step back count as nothing.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            busy: self.busy.saturating_sub(before.busy),
            idle: self.idle.saturating_sub(before.idle),
        }
    }

    /// The fraction of the time that was work.
    #[must_use]
    pub fn utilisation(self) -> Option<f64> {
        let all = (self.busy + self.idle).as_secs_f64();
        (all > 0.0).then(|| self.busy.as_secs_f64() / all)
    }
}

/// A reading this old is as good as a new one: the kernel itself counts in steps of 10 ms.
const STILL_NEW: Duration = Duration::from_millis(1);

/// The machine's CPU times, from the first line of /proc/stat.
///
/// The file is dear to read, so whoever needs the times within one tick shares one clock.
#[derive(Debug, Clone)]
pub struct BusyClock {
    file: Arc<KernelFile>,
    tick: Duration,
    last: Arc<Mutex<Option<(Instant, CpuTimes)>>>,
}

impl BusyClock {
    pub fn open(roots: &Roots) -> io::Result<Self> {
        let per_second = rustix::param::clock_ticks_per_second().max(1);
        Ok(Self {
            file: Arc::new(KernelFile::open(&roots.proc("stat"))?),
            tick: Duration::from_secs(1) / per_second as u32,
            last: Arc::default(),
        })
    }

    pub fn read(&self) -> io::Result<CpuTimes> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if let Some((at, times)) = *last
            && now.duration_since(at) < STILL_NEW
        {
            return Ok(times);
        }
        let mut buffer = [0; 256];
        let times = parse(self.file.text(&mut buffer)?, self.tick)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no line of CPU times"))?;
        *last = Some((now, times));
        Ok(times)
    }
}

fn parse(text: &str, tick: Duration) -> Option<CpuTimes> {
    let mut fields = text
        .lines()
        .next()?
        .strip_prefix("cpu ")?
        .split_ascii_whitespace();
    let mut next = || -> Option<u64> { fields.next()?.parse().ok() };
    let (user, nice, system, idle) = (next()?, next()?, next()?, next()?);
    let io_wait = next().unwrap_or(0);
    let interrupts = next().unwrap_or(0) + next().unwrap_or(0);
    let ticks = |count: u64| Duration::from_nanos(count.saturating_mul(tick.as_nanos() as u64));
    Some(CpuTimes {
        busy: ticks(user + nice + system + interrupts),
        idle: ticks(idle + io_wait),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stolen_and_guest_time_are_no_work_of_this_machine_twice() {
        let line = "cpu  100 10 50 1000 40 3 2 999 77 7\ncpu0 1 2 3";
        let times = parse(line, Duration::from_millis(10)).unwrap();
        assert_eq!(times.busy, Duration::from_millis(1650));
        assert_eq!(times.idle, Duration::from_millis(10_400));
    }

    #[test]
    fn old_kernels_with_four_columns_are_read() {
        let times = parse("cpu  1 1 1 7\n", Duration::from_millis(10)).unwrap();
        assert_eq!(times.utilisation(), Some(0.3));
    }
}
