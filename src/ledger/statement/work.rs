use serde::Serialize;

use crate::ledger::Tally;
use crate::text::escape;
use crate::text::number;
use crate::text::quantity::Quantity;
use crate::units::Exact;

/// More units are no part of a paragraph; JSON has all.
const MOST_UNITS: usize = 5;

/// Work that was counted, and the energy for it with PUE.
#[derive(Debug, Serialize)]
pub(super) struct WorkEntry {
    unit: String,
    count: Exact,
    /// The runs that counted it.
    runs: u64,
    joules_per_unit: f64,
    units_per_kwh: Option<f64>,
}

/// The work of all runs.
pub(super) fn entries(tally: &Tally) -> Vec<WorkEntry> {
    let work = tally.work.iter();
    work.filter_map(|(unit, done)| {
        let efficiency = done.efficiency()?;
        Some(WorkEntry {
            unit: unit.to_owned(),
            count: done.count.exact(),
            runs: done.runs,
            joules_per_unit: efficiency.joules_per_unit,
            units_per_kwh: efficiency.units_per_kwh,
        })
    })
    .collect()
}

/// A sentence on the work of all runs; none if none was counted.
pub(super) fn words(tally: &Tally) -> Option<String> {
    let entries = entries(tally);
    let words: Vec<String> = entries
        .iter()
        .take(MOST_UNITS)
        .map(|entry| {
            let some = if entry.runs < tally.runs {
                format!(" in {} of the runs", entry.runs)
            } else {
                String::new()
            };
            format!(
                "{} {}{some} ({} each)",
                number::work(entry.count.value()),
                escape::line(&entry.unit),
                Quantity::Joules.amount(entry.joules_per_unit)
            )
        })
        .collect();
    (!words.is_empty()).then(|| format!("Work counted, with its energy: {}.", words.join("; ")))
}
