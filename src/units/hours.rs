use super::OutOfRange;
use super::sum::exact_sum;

pub(crate) const SECONDS_PER_HOUR: f64 = 3600.0;

exact_sum!(
    /// Time that is added up over runs, processes or devices, kept exactly in steps of 1e-18 h.
    Hours,
    "time"
);

impl Hours {
    /// Fails where it is negative, not finite or longer than any experiment.
    pub fn from_seconds(seconds: f64) -> Result<Self, OutOfRange> {
        Self::from_unit(seconds / SECONDS_PER_HOUR)
    }

    /// In seconds.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.in_unit() * SECONDS_PER_HOUR
    }

    /// In hours.
    #[must_use]
    pub fn hours(self) -> f64 {
        self.in_unit()
    }
}
