use std::time::{Duration, Instant};

/// Limits how often something expensive is done: the longer it takes, the less often.
#[derive(Debug)]
pub(crate) struct Throttle {
    /// It may take one such part of the time.
    part: u32,
    shortest: Duration,
    due: Instant,
}

impl Throttle {
    /// Due at once, then no sooner than after the shortest pause.
    pub(crate) fn new(part: u32, shortest: Duration) -> Self {
        Self {
            part,
            shortest,
            due: Instant::now(),
        }
    }

    pub(crate) fn is_due(&self, now: Instant) -> bool {
        now >= self.due
    }

    /// It began at this time and has just been done.
    pub(crate) fn done(&mut self, began: Instant) {
        let took = began.elapsed().saturating_mul(self.part);
        self.due = began + took.max(self.shortest);
    }
}
