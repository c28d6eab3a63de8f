use std::time::Duration;

/// CPU time in user and system mode.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// In user mode.
    pub user: Duration,
    /// In the kernel.
    pub system: Duration,
}

/// The step in which /proc counts CPU time.
pub(crate) fn tick() -> Duration {
    let per_second = rustix::param::clock_ticks_per_second().max(1);
    Duration::from_secs(1) / per_second as u32
}

impl CpuTimes {
    /// Both together.
    #[must_use]
    pub fn total(self) -> Duration {
        self.user + self.system
    }

    /// The time since `before`; zero if the clock went back.
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            user: self.user.saturating_sub(before.user),
            system: self.system.saturating_sub(before.system),
        }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            user: self.user + other.user,
            system: self.system + other.system,
        }
    }
}
