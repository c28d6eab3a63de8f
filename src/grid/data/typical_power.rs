//! What a part draws whose model is not known, with bounds and source.

use serde::Deserialize;

use super::TYPICAL_POWER;
use crate::units::Watts;

/// A part of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// A core of a board with a system on a chip.
    BoardCore,
    /// A core of a server with an ARM processor.
    ArmServerCore,
    /// A core of any other server.
    ServerCore,
    /// A core of a laptop.
    LaptopCore,
    /// A core of a desktop.
    DesktopCore,
    /// A memory module (DIMM).
    MemoryModule,
    /// A memory module of an ARM machine.
    ArmMemoryModule,
    /// A gigabyte of memory.
    MemoryGb,
}

impl Part {
    /// Every part.
    pub const ALL: [Self; 8] = [
        Self::BoardCore,
        Self::ArmServerCore,
        Self::ServerCore,
        Self::LaptopCore,
        Self::DesktopCore,
        Self::MemoryModule,
        Self::ArmMemoryModule,
        Self::MemoryGb,
    ];

    /// As the table has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::BoardCore => "core of a single-board computer",
            Self::ArmServerCore => "core of an ARM server",
            Self::ServerCore => "core of a server",
            Self::LaptopCore => "core of a laptop",
            Self::DesktopCore => "core of a desktop",
            Self::MemoryModule => "memory module",
            Self::ArmMemoryModule => "memory module of an ARM machine",
            Self::MemoryGb => "GB of memory",
        }
    }

    /// What it draws at full load.
    ///
    /// # Panics
    ///
    /// If the shipped table lacks the part, which a test excludes.
    #[must_use]
    pub fn power(self) -> TypicalPower {
        let rows = TYPICAL_POWER.rows::<Row>();
        let row = rows.into_iter().find(|row| row.of == self.name());
        let row = row.expect("the shipped table has every part");
        TypicalPower {
            watts: row.watts,
            bounds: row.least_w.zip(row.most_w),
            source: row.source,
        }
    }
}

/// The power of a part.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TypicalPower {
    /// The usual figure.
    pub watts: Watts,
    /// The least and the most, where known.
    pub bounds: Option<(Watts, Watts)>,
    /// Who says so.
    pub source: String,
}

#[derive(Deserialize)]
struct Row {
    of: String,
    watts: Watts,
    least_w: Option<Watts>,
    most_w: Option<Watts>,
    source: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_a_power_within_its_bounds_and_a_source() {
        for part in Part::ALL {
            let power = part.power();
            assert!(power.watts.get() > 0.0 && !power.source.is_empty());
            let is_within = |(least, most)| least < power.watts && power.watts < most;
            assert!(power.bounds.is_none_or(is_within), "{part:?}");
        }
        assert_eq!(TYPICAL_POWER.rows::<Row>().len(), Part::ALL.len());
    }
}
