use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{CgroupCpuTime, KernelFile, Roots, tick};

/// A reading younger than this is used again; the kernel counts in steps of milliseconds.
const STILL_NEW: Duration = Duration::from_millis(1);

/// CPU time of the whole machine since boot, summed over all processors.
///
/// The file is expensive to read, so the load model and the attribution share one reading.
#[derive(Debug, Clone)]
pub(crate) struct MachineCpuTime {
    source: Arc<Source>,
    last: Arc<Mutex<Option<(Instant, Duration)>>>,
}

#[derive(Debug)]
enum Source {
    RootCgroup(CgroupCpuTime),
    Stat {
        path: PathBuf,
        file: KernelFile,
        tick: Duration,
    },
}

impl MachineCpuTime {
    /// Opens `cpu.stat` of the root control group or, where that is not visible, /proc/stat.
    ///
    /// For /proc/stat the kernel formats every processor and every interrupt, which takes longer than
    /// the rest of a sample, and much longer on a large machine.
    pub(crate) fn open(roots: &Roots) -> io::Result<Self> {
        let source = match CgroupCpuTime::of_machine(roots) {
            // With another root for /proc, that machine is meant.
            Some(clock) if roots.procfs == Roots::default().procfs => Source::RootCgroup(clock),
            _ => Source::stat(roots)?,
        };
        Ok(Self {
            source: Arc::new(source),
            last: Arc::default(),
        })
    }

    /// The file that is read.
    pub(crate) fn path(&self) -> &Path {
        match &*self.source {
            Source::RootCgroup(clock) => clock.path(),
            Source::Stat { path, .. } => path,
        }
    }

    pub(crate) fn read(&self) -> io::Result<Duration> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if let Some((at, busy)) = *last
            && now.duration_since(at) < STILL_NEW
        {
            return Ok(busy);
        }
        let busy = self.source.read()?;
        *last = Some((now, busy));
        Ok(busy)
    }
}

impl Source {
    fn stat(roots: &Roots) -> io::Result<Self> {
        let path = roots.proc("stat");
        Ok(Self::Stat {
            file: KernelFile::open(&path)?,
            path,
            tick: tick(),
        })
    }

    fn read(&self) -> io::Result<Duration> {
        match self {
            Self::RootCgroup(clock) => Ok(clock.read()?.total()),
            Self::Stat { file, tick, .. } => {
                let mut buffer = [0; 256];
                let ticks = parse(file.text(&mut buffer)?).ok_or_else(|| {
                    io::Error::new(io::ErrorKind::InvalidData, "no line of CPU times")
                })?;
                Ok(Duration::from_nanos(
                    ticks.saturating_mul(tick.as_nanos() as u64),
                ))
            }
        }
    }
}

/// The ticks in which a processor was neither idle, nor waiting for I/O, nor stolen.
fn parse(text: &str) -> Option<u64> {
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let mut fields = line.split_ascii_whitespace();
    let mut next = || -> Option<u64> { fields.next()?.parse().ok() };
    let (user, nice, system, _idle) = (next()?, next()?, next()?, next()?);
    let _waiting = next();
    let interrupts = next().unwrap_or(0).saturating_add(next().unwrap_or(0));
    let worked = [nice, system, interrupts];
    Some(worked.into_iter().fold(user, u64::saturating_add))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn idle_stolen_and_guest_time_are_no_work() {
        let line = "cpu  100 10 50 1000 40 3 2 999 77 7\ncpu0 1 2 3";
        assert_eq!(parse(line), Some(165));
    }

    #[test]
    fn old_kernels_with_four_columns_are_read() {
        assert_eq!(parse("cpu  1 1 1 7\n"), Some(3));
        assert_eq!(parse("cpu  1 1\n"), None);
    }

    #[test]
    fn the_root_group_is_read_unless_proc_was_moved() {
        let folder = tempfile::tempdir().unwrap();
        let group = folder.path().join("sys/fs/cgroup");
        let procfs = folder.path().join("proc");
        for made in [&group, &procfs] {
            fs::create_dir_all(made).unwrap();
        }
        fs::write(group.join("cpu.stat"), "user_usec 4\nsystem_usec 1\n").unwrap();
        fs::write(procfs.join("stat"), "cpu  1 0 0 0\n").unwrap();
        let here = Roots {
            sysfs: folder.path().join("sys"),
            ..Roots::default()
        };
        let clock = MachineCpuTime::open(&here).unwrap();
        assert_eq!(clock.read().unwrap(), Duration::from_micros(5));
        let elsewhere = Roots { procfs, ..here };
        let clock = MachineCpuTime::open(&elsewhere).unwrap();
        assert!(clock.path().ends_with("proc/stat"));
        assert!(clock.read().unwrap() > Duration::from_millis(1));
    }
}
