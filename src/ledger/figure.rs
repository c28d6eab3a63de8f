use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::Tally;
use crate::model::EnergyClass;
use crate::text::number::{counted, percent};
use crate::text::quantity::{Quantity, digits};
use crate::units::{Energy, Exact, Hours};

/// Declares the figures, one row each.
macro_rules! figures {
    ($($figure:ident, $name:literal, $label:literal, $unit:literal, $meaning:literal;)*) => {
        /// The figures of a run, by the names that reports, tables and site specs know them by.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Figure {
            $(#[doc = $meaning] $figure,)*
        }

        impl Figure {
            /// Every figure, in the order reports list them.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$figure),*];

            /// The key in JSON, CSV and site specs.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$figure => $name,)*
                }
            }

            /// The name for people.
            #[must_use]
            pub fn label(self) -> &'static str {
                match self {
                    $(Self::$figure => $label,)*
                }
            }

            /// The unit in JSON and CSV; 1 for a share.
            #[must_use]
            pub fn unit(self) -> &'static str {
                match self {
                    $(Self::$figure => $unit,)*
                }
            }

            /// What the figure means, in a few words.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self {
                    $(Self::$figure => $meaning,)*
                }
            }
        }
    };
}

figures! {
    Energy, "total_power", "energy incl. PUE", "kWh", "energy, PUE included";
    CpuEnergy, "kw_hr_cpu", "CPU energy excl. PUE", "kWh", "energy of the CPUs, without PUE";
    GpuEnergy, "kw_hr_gpu", "GPU energy excl. PUE", "kWh", "energy of the GPUs, without PUE";
    MemoryEnergy, "kw_hr_dram", "memory energy excl. PUE", "kWh", "energy of the memory, without PUE";
    Emissions, "estimated_carbon_impact_kg", "CO2eq incl. PUE", "kg CO2eq", "CO2eq, PUE included";
    Duration, "exp_len_hours", "wall-clock time", "h", "wall-clock time";
    CpuHours, "cpu_hours", "CPU time", "h", "CPU time of all processes";
    GpuHours, "gpu_hours", "GPU time", "h", "GPU time, weighted by utilisation";
    CarbonIntensity, "average_realtime_carbon_intensity", "carbon intensity", "g CO2eq/kWh",
        "carbon intensity of the electricity";
    MeasuredShare, "measured_share", "measured share", "1",
        "share of the energy that a sensor stands behind";
}

/// Every figure by its name; those not known are there as nothing.
pub type Figures = BTreeMap<&'static str, Option<Amount>>;

impl Figure {
    /// Whether figures of several runs may be added.
    #[must_use]
    pub fn adds_up(self) -> bool {
        !matches!(self, Self::CarbonIntensity | Self::MeasuredShare)
    }

    /// What its numbers are amounts of; none for a ratio.
    #[must_use]
    pub(crate) fn quantity(self) -> Option<Quantity> {
        match self {
            Self::Energy | Self::CpuEnergy | Self::GpuEnergy | Self::MemoryEnergy => {
                Some(Quantity::Electricity)
            }
            Self::Emissions => Some(Quantity::Mass),
            Self::Duration | Self::CpuHours | Self::GpuHours => Some(Quantity::Time),
            Self::CarbonIntensity | Self::MeasuredShare => None,
        }
    }

    /// One of its numbers for people, with a unit: `20.08 kWh`, `326 g/kWh`, `100 %`.
    #[must_use]
    pub(crate) fn shown(self, value: f64) -> String {
        match (self, self.quantity()) {
            (_, Some(quantity)) => quantity.amount(value),
            (Self::MeasuredShare, None) => percent(value),
            (_, None) => format!("{} g/kWh", digits(value)),
        }
    }

    /// The figure of many runs together, for people. A mass that leaves out runs is a lower bound.
    #[must_use]
    pub(crate) fn total(self, tally: &Tally) -> Option<String> {
        let shown = self.shown(self.amount(tally)?.value());
        Some(match self {
            Self::Emissions if tally.runs_without_intensity() > 0 => format!("at least {shown}"),
            _ => shown,
        })
    }

    /// All figures of many runs together.
    #[must_use]
    pub fn all(tally: &Tally) -> Figures {
        Self::ALL
            .into_iter()
            .map(|figure| (figure.name(), figure.amount(tally)))
            .collect()
    }

    /// The figure of many runs together, to the last digit; the intensity is then mass per energy.
    #[must_use]
    pub fn amount(self, tally: &Tally) -> Option<Amount> {
        let kwh = |energy: Energy| Amount::Sum(energy.exact());
        let hours = |time: Hours| Amount::Sum(time.exact());
        match self {
            Self::Energy => Some(kwh(tally.energy)),
            Self::CpuEnergy => tally.group(EnergyClass::Cpu).map(kwh),
            Self::GpuEnergy => tally.group(EnergyClass::Gpu).map(kwh),
            Self::MemoryEnergy => tally.group(EnergyClass::Dram).map(kwh),
            Self::Emissions => tally.mass().map(|mass| Amount::Sum(mass.exact())),
            Self::Duration => Some(hours(tally.duration)),
            Self::CpuHours => tally.cpu_time.map(hours),
            Self::GpuHours => tally.gpu_time.map(hours),
            Self::CarbonIntensity => tally.intensity().map(Amount::Ratio),
            Self::MeasuredShare => tally.measured_share().map(Amount::Ratio),
        }
    }
}

/// Why a mass is a lower bound: `1 of 2 runs has no intensity`.
pub(crate) fn without_intensity(unknown: u64, runs: u64) -> String {
    let has = if unknown == 1 { "has" } else { "have" };
    format!("{unknown} of {} {has} no intensity", counted(runs, "run"))
}

/// A figure of many runs: a sum, which is exact, or a ratio of sums.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Amount {
    /// A sum, to the last digit.
    Sum(Exact),
    /// A ratio of sums.
    Ratio(f64),
}

impl Amount {
    /// The nearest number.
    #[must_use]
    pub fn value(self) -> f64 {
        match self {
            Self::Sum(exact) => exact.value(),
            Self::Ratio(ratio) => ratio,
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no figure's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a figure", .0.escape_debug())]
pub struct NoSuchFigure(String);

impl FromStr for Figure {
    type Err = NoSuchFigure;
    fn from_str(text: &str) -> Result<Self, NoSuchFigure> {
        Self::ALL
            .into_iter()
            .find(|figure| figure.name() == text)
            .ok_or_else(|| NoSuchFigure(text.to_owned()))
    }
}
