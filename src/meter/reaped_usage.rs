use super::sensor::CpuTimes;

/// The resources used by children that this process has waited for, with their own ended children.
#[derive(Debug, Default)]
pub(crate) struct ReapedUsage {
    /// Children that this process had before the session; they are not part of the run.
    not_counted: Vec<u32>,
    time: CpuTimes,
    /// The largest resident size of one of them, in bytes.
    largest: Option<u64>,
}

impl ReapedUsage {
    pub(crate) fn without(not_counted: Vec<u32>) -> Self {
        Self {
            not_counted,
            ..Self::default()
        }
    }

    pub(crate) fn time(&self) -> CpuTimes {
        self.time
    }

    pub(crate) fn largest(&self) -> Option<u64> {
        self.largest
    }

    pub(crate) fn is_not_counted(&self, pid: u32) -> bool {
        self.not_counted.contains(&pid)
    }

    pub(crate) fn add(&mut self, pid: u32, time: CpuTimes, max_resident: u64) {
        if let Some(at) = self.not_counted.iter().position(|other| *other == pid) {
            // The kernel may give the id to a process of the run.
            self.not_counted.swap_remove(at);
            return;
        }
        self.time = self.time.plus(time);
        self.largest = self.largest.max(Some(max_resident));
    }
}
