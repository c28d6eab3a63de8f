use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use crate::ledger::phases::{Counts, Efficiency, Phase};
use crate::model::EnergyClass;
use crate::text::escape;
use crate::text::number::{self, counted};
use crate::text::quantity::{Quantity, digits};
use crate::units::SECONDS_PER_HOUR;

/// The phases of a run by name: energy of all counted devices, without PUE.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(super) struct PhaseReports(BTreeMap<String, PhaseReport>);

/// What a phase took.
#[derive(Debug, Serialize)]
struct PhaseReport {
    /// When it began first, in seconds since the start of the run.
    first_s: f64,
    repetitions: u64,
    /// How many of them have energies that are interpolated between samples.
    interpolated: u64,
    total_s: f64,
    total_j: f64,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    devices_j: BTreeMap<EnergyClass, f64>,
    mean_j: f64,
    /// None for a single repetition.
    standard_error_j: Option<f64>,
    mean_s: f64,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    work: BTreeMap<String, WorkReport>,
    #[serde(skip)]
    place: usize,
}

/// Work that was counted, and the energy for it.
#[derive(Debug, Serialize)]
pub(super) struct WorkReport {
    count: f64,
    joules_per_unit: f64,
    units_per_kwh: Option<f64>,
}

/// Energy for each unit of work.
pub(super) fn work(counts: &Counts, joules: f64) -> BTreeMap<String, WorkReport> {
    let counts = counts.iter();
    counts
        .filter_map(|(unit, count)| {
            let efficiency = Efficiency::of(joules, *count)?;
            let report = WorkReport {
                count: *count,
                joules_per_unit: efficiency.joules_per_unit,
                units_per_kwh: efficiency.units_per_kwh,
            };
            Some((unit.to_string(), report))
        })
        .collect()
}

/// A line for each unit of work.
pub(super) fn write_work(
    out: &mut String,
    indent: &str,
    remark: &str,
    work: &BTreeMap<String, WorkReport>,
) {
    for (unit, report) in work {
        let unit = escape::line(unit);
        let joules = Quantity::Joules.amount(report.joules_per_unit);
        let _ = write!(
            out,
            "{indent}{} {unit}: {joules} each",
            number::work(report.count)
        );
        if let Some(units) = report.units_per_kwh {
            let _ = write!(out, ", {} per kWh", digits(units));
        }
        out.push_str(remark);
        out.push('\n');
    }
}

fn seconds(seconds: f64) -> String {
    Quantity::Time.amount(seconds / SECONDS_PER_HOUR)
}

impl PhaseReports {
    pub(super) fn of(phases: &[Phase]) -> Self {
        let reports = phases.iter().enumerate();
        let reports =
            reports.map(|(place, phase)| (phase.name.to_string(), PhaseReport::of(phase, place)));
        Self(reports.collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A row for each phase, in order of time.
    pub(super) fn write_text(&self, out: &mut String) {
        let mut phases: Vec<(&String, &PhaseReport)> = self.0.iter().collect();
        phases.sort_by_key(|(_, phase)| phase.place);
        for (name, phase) in phases {
            phase.write_text(name, out);
        }
    }
}

impl PhaseReport {
    fn of(phase: &Phase, place: usize) -> Self {
        let classes = [EnergyClass::Cpu, EnergyClass::Gpu, EnergyClass::Dram];
        let joules = phase.total.joules();
        Self {
            first_s: phase.first_s,
            repetitions: phase.occurrences,
            interpolated: phase.interpolated,
            total_s: phase.total.seconds,
            total_j: joules,
            devices_j: classes
                .into_iter()
                .filter_map(|class| Some((class, phase.total.joules_of(class)?)))
                .collect(),
            mean_j: phase.mean_j(),
            standard_error_j: phase.standard_error_j(),
            mean_s: phase.mean_s(),
            work: work(&phase.counts, joules),
            place,
        }
    }

    fn write_text(&self, name: &str, out: &mut String) {
        let devices: Vec<String> = self
            .devices_j
            .iter()
            .map(|(class, joules)| format!("{} {}", class.name(), Quantity::Joules.amount(*joules)))
            .collect();
        let _ = write!(
            out,
            "  phase {}: {} ({}) in {}",
            escape::line(name),
            Quantity::Joules.amount(self.total_j),
            devices.join(", "),
            seconds(self.total_s),
        );
        if self.repetitions > 1 {
            let error = self.standard_error_j.unwrap_or_default();
            let scale = Quantity::Joules.scale(self.mean_j);
            let _ = write!(
                out,
                ", {} x {} ± {} {}, {} each",
                self.repetitions,
                scale.digits(self.mean_j),
                scale.digits(error),
                scale.unit,
                seconds(self.mean_s),
            );
        }
        match self.interpolated {
            0 => {}
            all if all == self.repetitions => out.push_str(" (interpolated)"),
            some => {
                let _ = write!(out, " ({} interpolated)", counted(some, "time"));
            }
        }
        out.push('\n');
        write_work(out, "    ", "", &self.work);
    }
}
