use std::sync::{Arc, Mutex, PoisonError};

/// What a board's sensor has just read.
///
/// The record of the same sample takes it from here, so that the driver is asked only once.
#[derive(Debug, Clone, Default)]
pub(super) struct LatestReading(Arc<Mutex<Option<f64>>>);

impl LatestReading {
    /// Keeps a reading, or forgets the one before if there is none.
    pub(super) fn set(&self, value: Option<f64>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = value;
    }

    /// The reading, once.
    pub(super) fn take(&self) -> Option<f64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
