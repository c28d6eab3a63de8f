use std::fmt;

use super::{BenchSample, WorkOfRun};
use crate::ledger::work::ENERGY_OF_WORK;
use crate::text::quantity::{Quantity, Scale};
use crate::units::SECONDS_PER_HOUR;

/// A figure of one run of a command; of a sample of several runs, the mean.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BenchFigure {
    /// The energy attributed to the run.
    Energy,
    /// The energy less what the idle machine would have drawn.
    MarginalEnergy,
    /// How long a run took.
    Time,
    /// Energy divided by time.
    Power,
    /// Energy times time.
    Edp,
    /// Energy times the square of time.
    Ed2p,
    /// The energy for a unit of work, by its name in JSON.
    Work(String),
}

impl BenchFigure {
    /// The energy for a unit of this work.
    pub(super) fn of_work(work: &WorkOfRun) -> Self {
        Self::Work(format!("{ENERGY_OF_WORK}{}", work.unit))
    }

    /// The figure of a sample; none where its energy is not known.
    #[must_use]
    pub fn of(&self, sample: &BenchSample, work: Option<&WorkOfRun>) -> Option<f64> {
        let runs = f64::from(sample.runs);
        let seconds = sample.duration.as_secs_f64() / runs;
        let energy = || Some(sample.energy?.joules() / runs);
        match self {
            Self::Energy => energy(),
            Self::MarginalEnergy => Some(energy()? - sample.idle?.joules() / runs),
            Self::Time => Some(seconds),
            Self::Power => Some(energy()? / seconds),
            Self::Edp => Some(energy()? * seconds),
            Self::Ed2p => Some(energy()? * seconds.powi(2)),
            Self::Work(_) => Some(energy()? / work?.amount),
        }
    }

    /// The key in JSON and CSV.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Energy => "energy",
            Self::MarginalEnergy => "marginal_energy",
            Self::Time => "time",
            Self::Power => "power",
            Self::Edp => "edp",
            Self::Ed2p => "ed2p",
            Self::Work(name) => name,
        }
    }

    /// The unit in JSON and CSV.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        match self {
            Self::Energy | Self::MarginalEnergy | Self::Work(_) => "J",
            Self::Time => "s",
            Self::Power => "W",
            Self::Edp => "J s",
            Self::Ed2p => "J s^2",
        }
    }

    /// The unit for people that fits a value.
    pub(crate) fn scale(&self, value: f64) -> Scale {
        let quantity = match self {
            Self::Energy | Self::MarginalEnergy | Self::Work(_) => Quantity::Joules,
            Self::Power => Quantity::Power,
            Self::Edp => Quantity::EnergyDelay,
            Self::Ed2p => Quantity::EnergyDelaySquared,
            Self::Time => {
                let Scale { unit, factor } = Quantity::Time.scale(value / SECONDS_PER_HOUR);
                return Scale {
                    unit,
                    factor: factor / SECONDS_PER_HOUR,
                };
            }
        };
        quantity.scale(value)
    }

    /// What it is, in a few words.
    #[must_use]
    pub fn meaning(&self) -> String {
        match self {
            Self::Energy => "energy of a run".to_owned(),
            Self::MarginalEnergy => "energy of a run beyond that of the idle machine".to_owned(),
            Self::Time => "time of a run".to_owned(),
            Self::Power => "mean power".to_owned(),
            Self::Edp => "energy-delay product (EDP)".to_owned(),
            Self::Ed2p => "energy-delay-squared product (ED2P)".to_owned(),
            Self::Work(name) => {
                let unit = name.strip_prefix(ENERGY_OF_WORK).unwrap_or(name);
                format!("energy for a unit of work ({unit})")
            }
        }
    }
}

/// What it is called within a sentence.
impl fmt::Display for BenchFigure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Energy => "energy",
            Self::MarginalEnergy => "marginal energy",
            Self::Time => "time",
            Self::Power => "mean power",
            Self::Edp => "EDP",
            Self::Ed2p => "ED2P",
            Self::Work(name) => {
                let unit = name.strip_prefix(ENERGY_OF_WORK).unwrap_or(name);
                return write!(f, "energy for the same number of {unit}");
            }
        })
    }
}
