use std::sync::{Mutex, PoisonError};

/// The bytes of an `info.json` that was read for the identity of its run, kept until the whole log is read.
#[derive(Debug, Default)]
pub struct KeptInfo(Mutex<Option<Vec<u8>>>);

impl KeptInfo {
    /// Keeps these bytes.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(Mutex::new(Some(bytes)))
    }

    /// The bytes, once; none if they were not kept.
    pub fn take(&self) -> Option<Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
