use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::{Component, Method};
use crate::units::Watts;

/// One raw value of a sensor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Reading {
    /// An energy counter.
    Counter {
        /// Energy since an unknown time in the past.
        microjoules: u64,
        /// Where the counter starts again at 0.
        wraps: Wraps,
    },
    /// A power sensor.
    Gauge {
        /// Power at this instant.
        watts: Watts,
    },
}

impl Reading {
    /// An energy counter that never wraps.
    pub(crate) fn of_joules(joules: f64) -> Self {
        Self::Counter {
            microjoules: (joules * 1e6) as u64,
            wraps: Wraps::Never,
        }
    }
}

/// Where a counter starts again at 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Wraps {
    /// The counter is wide enough never to wrap.
    Never,
    /// After this many microjoules.
    After(u64),
    /// It wraps, but the kernel does not say where.
    Unstated,
}

/// Why a sensor gave no reading, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ReadError {
    /// Keep the sensor and read it again later.
    #[error("{0}")]
    Again(String),
    /// Drop the sensor: the device has failed.
    #[error("{0}")]
    Lost(String),
}

/// A device that can be read for energy or power.
pub trait PowerSource: Send {
    /// Reads the device once.
    ///
    /// # Errors
    ///
    /// [`ReadError`] says whether another attempt can succeed.
    fn read(&mut self) -> Result<Reading, ReadError>;
}

/// A power source, and the component that it meters.
pub struct Sensor {
    /// What is metered.
    pub component: Component,
    /// How good the figures are.
    pub method: Method,
    /// The file or library that is read.
    pub place: String,
    /// The reading that was taken when the sensor was found.
    pub first: Reading,
    /// Gives the readings that follow.
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
