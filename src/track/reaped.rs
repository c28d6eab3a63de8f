use std::time::Duration;

use super::tree::RunTime;

/// What the children this process has waited for have used, since it became a tracker.
///
/// The kernel's count outlives an exec: whoever became us may have waited for others before.
#[derive(Debug)]
pub(crate) struct Reaped {
    before: Usage,
}

#[derive(Debug, Clone, Copy)]
struct Usage {
    time: RunTime,
    /// Of the one that had most memory.
    largest: u64,
}

impl Reaped {
    pub(crate) fn from_now() -> Self {
        Self {
            before: Usage::of_children(),
        }
    }

    pub(crate) fn time(&self) -> RunTime {
        Usage::of_children().time.since(self.before.time)
    }

    /// Bytes of the largest; unknown while somebody before us had a larger one.
    pub(crate) fn largest(&self) -> Option<u64> {
        Some(Usage::of_children().largest).filter(|bytes| *bytes > self.before.largest)
    }
}

impl Usage {
    fn of_children() -> Self {
        let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: getrusage fills the structure it is given; all zeros are valid should it fail.
        let usage = unsafe {
            libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
            usage.assume_init()
        };
        let time = |t: libc::timeval| Duration::new(t.tv_sec as u64, t.tv_usec as u32 * 1000);
        Self {
            time: RunTime {
                user: time(usage.ru_utime),
                system: time(usage.ru_stime),
            },
            largest: usage.ru_maxrss as u64 * 1024,
        }
    }
}
