use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::{Footprint, RunSummary, Tally};
use crate::sensor::Group;
use crate::units::{Exact, Hours, Joules};

/// The figures of a run, by the names that reports, tables and site specs know them by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Figure {
    TotalPower,
    KwHrCpu,
    KwHrGpu,
    KwHrDram,
    EstimatedCarbonImpactKg,
    ExpLenHours,
    CpuHours,
    GpuHours,
    AverageRealtimeCarbonIntensity,
    MeasuredShare,
}

impl Figure {
    pub const ALL: [Self; 10] = [
        Self::TotalPower,
        Self::KwHrCpu,
        Self::KwHrGpu,
        Self::KwHrDram,
        Self::EstimatedCarbonImpactKg,
        Self::ExpLenHours,
        Self::CpuHours,
        Self::GpuHours,
        Self::AverageRealtimeCarbonIntensity,
        Self::MeasuredShare,
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::TotalPower => "total_power",
            Self::KwHrCpu => "kw_hr_cpu",
            Self::KwHrGpu => "kw_hr_gpu",
            Self::KwHrDram => "kw_hr_dram",
            Self::EstimatedCarbonImpactKg => "estimated_carbon_impact_kg",
            Self::ExpLenHours => "exp_len_hours",
            Self::CpuHours => "cpu_hours",
            Self::GpuHours => "gpu_hours",
            Self::AverageRealtimeCarbonIntensity => "average_realtime_carbon_intensity",
            Self::MeasuredShare => "measured_share",
        }
    }

    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::TotalPower | Self::KwHrCpu | Self::KwHrGpu | Self::KwHrDram => "kWh",
            Self::EstimatedCarbonImpactKg => "kg CO2eq",
            Self::ExpLenHours | Self::CpuHours | Self::GpuHours => "h",
            Self::AverageRealtimeCarbonIntensity => "g CO2eq/kWh",
            Self::MeasuredShare => "1",
        }
    }

    /// What the figure means, in a few words.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::TotalPower => "energy, PUE included",
            Self::KwHrCpu => "energy of the CPUs, without PUE",
            Self::KwHrGpu => "energy of the GPUs, without PUE",
            Self::KwHrDram => "energy of the memory, without PUE",
            Self::EstimatedCarbonImpactKg => "CO2eq, PUE included",
            Self::ExpLenHours => "wall-clock time",
            Self::CpuHours => "CPU time of all processes",
            Self::GpuHours => "GPU time, weighted by utilisation",
            Self::AverageRealtimeCarbonIntensity => "carbon intensity of the electricity",
            Self::MeasuredShare => "share of the energy that a sensor stands behind",
        }
    }

    /// The figure of one run, or none where the log does not tell.
    #[must_use]
    pub fn of_run(self, run: &RunSummary, footprint: &Footprint) -> Option<f64> {
        match self {
            Self::AverageRealtimeCarbonIntensity => footprint
                .carbon
                .as_ref()
                .map(|carbon| carbon.intensity.get()),
            _ => self.of_tally(&Tally::of(run, footprint)),
        }
    }

    /// The figure of many runs together, or none where no log tells.
    #[must_use]
    pub fn of_tally(self, tally: &Tally) -> Option<f64> {
        self.amount(tally).map(Amount::value)
    }

    /// The figure of many runs together, to the last digit; the intensity is then mass per energy.
    #[must_use]
    pub fn amount(self, tally: &Tally) -> Option<Amount> {
        let kwh = |energy: Joules| Amount::Sum(energy.exact());
        let hours = |time: Hours| Amount::Sum(time.exact());
        match self {
            Self::TotalPower => Some(kwh(tally.energy)),
            Self::KwHrCpu => tally.group(Group::Cpu).map(kwh),
            Self::KwHrGpu => tally.group(Group::Gpu).map(kwh),
            Self::KwHrDram => tally.group(Group::Dram).map(kwh),
            Self::EstimatedCarbonImpactKg => tally.mass().map(|mass| Amount::Sum(mass.exact())),
            Self::ExpLenHours => Some(hours(tally.duration)),
            Self::CpuHours => tally.cpu_time.map(hours),
            Self::GpuHours => tally.gpu_time.map(hours),
            Self::AverageRealtimeCarbonIntensity => tally.intensity().map(Amount::Ratio),
            Self::MeasuredShare => tally.measured_share().map(Amount::Ratio),
        }
    }
}

/// A figure of many runs: a sum, which is exact, or a ratio of sums.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Amount {
    Sum(Exact),
    Ratio(f64),
}

impl Amount {
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
