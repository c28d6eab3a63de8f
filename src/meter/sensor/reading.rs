use std::fmt;

use crate::model::{Component, Method};
use crate::units::Watts;

/// What one sensor says at one instant: raw, uninterpreted.
#[derive(Debug, Clone, PartialEq)]
pub enum Reading {
    /// Energy since some unknown moment.
    Counter { microjoules: u64, wraps: Wraps },
    /// Power at this instant.
    Gauge { watts: Watts },
}

/// Where a counter starts again at 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wraps {
    Never,
    /// After so many microjoules.
    After(u64),
    /// Somewhere; the kernel does not say.
    Unstated,
}

/// Why a sensor gave no reading, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// Keep the sensor and read it again at the next tick.
    #[error("{0}")]
    Again(String),
    /// Forget the sensor: the device has failed, and what it draws from here on is lost.
    #[error("{0}")]
    Lost(String),
}

/// Something that can be asked for energy or power.
pub trait PowerSource: Send {
    fn read(&mut self) -> Result<Reading, ReadError>;
}

/// A source of readings, and what they are readings of.
pub struct Sensor {
    pub component: Component,
    pub method: Method,
    /// The file or library it is read from.
    pub place: String,
    pub source: Box<dyn PowerSource>,
}

impl fmt::Debug for Sensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sensor")
            .field("component", &self.component)
            .field("method", &self.method)
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}
