//! How much power devices may draw: of NVIDIA boards, where it can be changed, and of processors.

mod board;
mod package;

use std::fmt;

use serde::{Deserialize, Serialize};

pub(crate) use board::{CapBoard, boards};
pub(crate) use package::{PackageLimit, package_limits};

use crate::units::Watts;

/// A limit of power as NVML has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Milliwatts(pub u32);

impl Milliwatts {
    /// The nearest whole number of milliwatts; none where NVML has no number for it.
    #[must_use]
    pub fn of(watts: Watts) -> Option<Self> {
        let milliwatts = (watts.get() * 1e3).round();
        (milliwatts <= f64::from(u32::MAX)).then_some(Self(milliwatts as u32))
    }

    /// The same in watts.
    #[must_use]
    pub fn watts(self) -> f64 {
        f64::from(self.0) / 1e3
    }
}

impl fmt::Display for Milliwatts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} W", self.watts())
    }
}

/// Why a power cap cannot be set, or not be taken back. Boards are named for people, without their ids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum CapError {
    /// There is nothing to cap.
    #[error("there is no NVIDIA board that this job could see")]
    NoBoard,
    /// A number that no board has.
    #[error("there is no GPU {index}; this machine has {count} NVIDIA boards, numbered from 0")]
    NoSuchBoard {
        /// The number asked for.
        index: u32,
        /// How many boards there are.
        count: usize,
    },
    /// The library of the driver fails, in its own words.
    #[error("{0}")]
    Driver(String),
    /// The driver or another `impact` takes too long.
    #[error("the driver, or another impact that changes caps, did not answer within {seconds} s")]
    NoAnswer {
        /// How long it was waited for.
        seconds: u64,
    },
    /// The driver refuses the user.
    #[error("this user may not set the power limit of {board}")]
    NotAllowed {
        /// The board.
        board: String,
    },
    /// The board has no limit that can be set.
    #[error("{board} has no power limit that can be set")]
    NotSupported {
        /// The board.
        board: String,
    },
    /// The board allows other caps.
    #[error("{board} allows {least} to {most}, not {cap}")]
    OutOfRange {
        /// The board.
        board: String,
        /// The cap asked for.
        cap: Milliwatts,
        /// The smallest limit it allows.
        least: Milliwatts,
        /// The largest limit it allows.
        most: Milliwatts,
    },
    /// A run that goes on needs another cap.
    #[error("another run holds {board} at {cap}")]
    Held {
        /// The board.
        board: String,
        /// The cap of that run.
        cap: Milliwatts,
    },
    /// The driver fails for one board, in its own words.
    #[error("{board}: {why}")]
    Board {
        /// The board.
        board: String,
        /// The words.
        why: String,
    },
    /// The limit shown after it was set is another one.
    #[error("{board} shows {shown} after it was set to {cap}")]
    NotTaken {
        /// The board.
        board: String,
        /// What was set.
        cap: Milliwatts,
        /// What is shown.
        shown: Milliwatts,
    },
    /// Without a record of the former limit nothing is changed.
    #[error("the former limit cannot be recorded: {0}")]
    Record(String),
    /// Whoever asked has gone, so nothing more is changed.
    #[error("the tracker has ended")]
    Abandoned,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cap_is_a_whole_number_of_milliwatts() {
        let of = |watts| Milliwatts::of(Watts::new(watts).unwrap());
        assert_eq!(of(180.0).unwrap().to_string(), "180 W");
        assert_eq!(of(180.0005).unwrap().to_string(), "180.001 W");
        assert_eq!(of(5e6), None);
    }
}
