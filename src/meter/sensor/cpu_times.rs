use std::time::Duration;

/// CPU time that was used, as the kernel splits it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuTimes {
    pub user: Duration,
    pub system: Duration,
}

/// The step in which /proc counts CPU time.
pub(crate) fn tick() -> Duration {
    let per_second = rustix::param::clock_ticks_per_second().max(1);
    Duration::from_secs(1) / per_second as u32
}

impl CpuTimes {
    #[must_use]
    pub fn total(self) -> Duration {
        self.user + self.system
    }

    /// What went by since `before`; a clock that steps back counts as nothing.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            user: self.user.saturating_sub(before.user),
            system: self.system.saturating_sub(before.system),
        }
    }

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            user: self.user + other.user,
            system: self.system + other.system,
        }
    }
}
