use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;

use chrono::TimeDelta;

use super::ExportError;
use super::row_writer::{Column, RowFormat, RowWriter};
use crate::ledger::Collection;
use crate::ledger::phases::{Efficiency, Occurrence};
use crate::ledger::summarise::summarise_with;
use crate::model::EnergyClass;
use crate::text::csv::Cell;
use crate::units::JOULES_PER_KWH;

/// As many rows as a spreadsheet can open.
const MOST_OCCURRENCES: usize = 1 << 20;
const CLASSES: [(EnergyClass, &str, &str); 3] = [
    (EnergyClass::Cpu, "cpu", "energy of the CPUs, without PUE"),
    (EnergyClass::Gpu, "gpu", "energy of the GPUs, without PUE"),
    (
        EnergyClass::Dram,
        "dram",
        "energy of the memory, without PUE",
    ),
];

/// Writes one row for each occurrence of a phase in each run, in order of time, and returns the columns.
///
/// Logs are read again for that: a collection keeps only the sums of phases.
pub fn phases(
    collection: &Collection,
    format: RowFormat,
    out: impl Write,
) -> Result<Vec<Column>, ExportError> {
    let units: BTreeSet<Arc<str>> = collection
        .runs
        .iter()
        .flat_map(|(_, run)| &run.phases)
        .flat_map(|phase| phase.counts.keys().cloned())
        .collect();
    let mut writer = RowWriter::new(format, columns(&units), out)?;
    for (path, run) in &collection.runs {
        if run.phases.is_empty() {
            continue;
        }
        let (run, _) = summarise_with(path, None, MOST_OCCURRENCES, |_| {})?;
        let all: u64 = run.phases.iter().map(|phase| phase.occurrences).sum();
        if all > run.occurrences.len() as u64 {
            return Err(ExportError::TooLong(path.clone()));
        }
        let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
        for occurrence in &run.occurrences {
            let number = seen.entry(&occurrence.name).or_default();
            *number += 1;
            let started = run.started.and_then(|started| {
                let offset = TimeDelta::try_milliseconds((occurrence.from_s * 1e3) as i64)?;
                started.checked_add_signed(offset)
            });
            let mut cells = vec![
                Cell::word(path.display().to_string()),
                Cell::word(&*occurrence.name),
                Cell::number(Some(*number as f64)),
                started.map_or(Cell::Empty, |time| {
                    Cell::word(time.format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string())
                }),
            ];
            cells.extend(amounts(occurrence, &units));
            writer.push(cells)?;
        }
    }
    Ok(writer.finish()?)
}

fn columns(units: &BTreeSet<Arc<str>>) -> Vec<Column> {
    let mut columns = vec![
        Column::new("path", "", "the folder of the run"),
        Column::new("phase", "", "the name of the phase"),
        Column::new("occurrence", "1", "its number among those of the phase"),
        Column::new("started", "UTC", "when it began"),
        Column::new("start", "s", "when it began, since the start of the run"),
        Column::new("end", "s", "when it ended, since the start of the run"),
        Column::new("seconds", "s", "how long it took"),
        Column::new("energy_j", "J", "energy of all devices, without PUE"),
        Column::new("energy_kwh", "kWh", "energy of all devices, without PUE"),
    ];
    for (_, name, meaning) in CLASSES {
        columns.push(Column::new(format!("{name}_j"), "J", meaning));
        columns.push(Column::new(format!("{name}_kwh"), "kWh", meaning));
    }
    columns.push(Column::new(
        "interpolated",
        "1",
        "1 if the energies are interpolated between samples",
    ));
    for unit in units {
        columns.push(Column::new(
            format!("count.{unit}"),
            "",
            "work that was counted",
        ));
        columns.push(Column::new(
            format!("j_per.{unit}"),
            "J",
            "energy for a unit of it, without PUE",
        ));
    }
    columns
}

fn amounts(occurrence: &Occurrence, units: &BTreeSet<Arc<str>>) -> Vec<Cell<'static>> {
    let in_both = |joules: Option<f64>| {
        [joules, joules.map(|joules| joules / JOULES_PER_KWH)].map(Cell::number)
    };
    let taken = &occurrence.taken;
    let mut cells = vec![
        Cell::number(Some(occurrence.from_s)),
        Cell::number(Some(occurrence.to_s)),
        Cell::number(Some(taken.seconds)),
    ];
    cells.extend(in_both(Some(taken.joules())));
    for (class, ..) in CLASSES {
        cells.extend(in_both(taken.joules_of(class)));
    }
    cells.push(Cell::number(Some(f64::from(u8::from(
        occurrence.interpolated,
    )))));
    for unit in units {
        let count = occurrence.counts.get(unit).copied();
        let efficiency = count.and_then(|count| Efficiency::of(taken.joules(), count));
        cells.push(Cell::number(count));
        cells.push(Cell::number(
            efficiency.map(|efficiency| efficiency.joules_per_unit),
        ));
    }
    cells
}
