//! The phases of a run on its page: a table, and bands in its charts.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::chart::Band;
use super::table::{Cell, Column, Row, Table};
use crate::ledger::RunSummary;
use crate::ledger::phases::{Counts, Efficiency, Occurrence};
use crate::model::EnergyClass;
use crate::text::quantity::Quantity;
use crate::units::SECONDS_PER_HOUR;

/// So many occurrences are looked at for bands.
pub(super) const MOST_OCCURRENCES: usize = 50_000;
/// More bands cannot be told apart.
const MOST_BANDS: usize = 200;

/// The bands of the longest occurrences, in order of time.
pub(super) fn bands(mut occurrences: Vec<Occurrence>) -> Vec<Band> {
    occurrences.sort_by(|a, b| b.taken.seconds.total_cmp(&a.taken.seconds));
    occurrences.truncate(MOST_BANDS);
    occurrences.sort_by(|a, b| {
        a.from_s
            .total_cmp(&b.from_s)
            .then(b.to_s.total_cmp(&a.to_s))
    });
    let mut bands: Vec<Band> = Vec::new();
    for occurrence in occurrences {
        let around = bands
            .iter()
            .filter(|band| band.to > occurrence.from_s)
            .map(|band| band.level + 1);
        bands.push(Band {
            name: occurrence.name.to_string(),
            from: occurrence.from_s,
            to: occurrence.to_s,
            level: around.max().unwrap_or(0),
        });
    }
    bands
}

/// What each phase took; none if none was marked.
pub(super) fn phase_table(summary: &RunSummary) -> Option<Table> {
    if summary.phases.is_empty() {
        return None;
    }
    let classes: Vec<(EnergyClass, &str, &str)> = [
        (EnergyClass::Cpu, "cpu_j", "CPU energy"),
        (EnergyClass::Gpu, "gpu_j", "GPU energy"),
        (EnergyClass::Dram, "memory_j", "Memory energy"),
    ]
    .into_iter()
    .filter(|(class, ..)| summary.energy(*class).is_some())
    .collect();
    let units: Vec<Arc<str>> = summary
        .counts
        .keys()
        .filter(|unit| {
            let mut phases = summary.phases.iter();
            phases.any(|phase| phase.counts.contains_key(*unit))
        })
        .cloned()
        .collect();
    let mut columns = vec![
        Column::number("times", "Times", ""),
        Column::number("time_s", "Time", ""),
        Column::number("energy_j", "Energy", ""),
    ];
    columns.extend(
        classes
            .iter()
            .map(|(_, key, label)| Column::number(key, label, "")),
    );
    for unit in &units {
        columns.push(Column::number(unit, unit, ""));
        let per_unit = format!("{unit}: energy each");
        columns.push(Column::number(&format!("j_per_{unit}"), &per_unit, ""));
    }
    let some_interpolated = summary.phases.iter().any(|phase| phase.interpolated > 0);
    if some_interpolated {
        columns.push(Column::number("interpolated", "Interpolated", ""));
    }
    let rows = summary.phases.iter().map(|phase| {
        let joules = phase.total.joules();
        let mut cells = vec![
            Cell::count(phase.occurrences as usize),
            seconds(phase.total.seconds),
            joules_of(Some(joules)),
        ];
        cells.extend(
            classes
                .iter()
                .map(|(class, ..)| joules_of(phase.total.joules_of(*class))),
        );
        for unit in &units {
            cells.extend(work_cells(&phase.counts, unit, joules));
        }
        if some_interpolated {
            cells.push(Cell::count(phase.interpolated as usize));
        }
        Row::new(&*phase.name, cells)
    });
    Some(Table {
        id: "phases",
        caption: if some_interpolated {
            "What each phase took, without PUE. Interpolated: how often its energy lies between two samples."
        } else {
            "What each phase took, without PUE."
        }
        .to_owned(),
        head: "Phase",
        rows: rows.collect(),
        columns,
        foot: Vec::new(),
        sortable: true,
    })
}

fn seconds(seconds: f64) -> Cell {
    Cell::quantity(
        Quantity::Time,
        Some(seconds / SECONDS_PER_HOUR),
        Some(seconds),
    )
}

fn joules_of(joules: Option<f64>) -> Cell {
    Cell::quantity(Quantity::Joules, joules, joules)
}

fn work_cells(counts: &Counts, unit: &str, joules: f64) -> [Cell; 2] {
    let count = counts.get(unit).copied();
    let efficiency = count.and_then(|count| Efficiency::of(joules, count));
    [
        Cell::number(count),
        joules_of(efficiency.map(|efficiency| efficiency.joules_per_unit)),
    ]
}

/// The same for machines, in order of time.
pub(super) fn phases_json(summary: &RunSummary) -> Vec<Value> {
    let phases = summary.phases.iter();
    phases
        .map(|phase| {
            json!({
                "name": &*phase.name,
                "first_s": phase.first_s,
                "repetitions": phase.occurrences,
                "interpolated": phase.interpolated,
                "total_s": phase.total.seconds,
                "total_j": phase.total.joules(),
                "cpu_j": phase.total.joules_of(EnergyClass::Cpu),
                "gpu_j": phase.total.joules_of(EnergyClass::Gpu),
                "memory_j": phase.total.joules_of(EnergyClass::Dram),
                "counts": phase.counts.iter().map(|(unit, count)| (unit.to_string(), *count)).collect::<BTreeMap<_, _>>(),
            })
        })
        .collect()
}

/// Replaces what is not to be published in names of phases and units.
pub(super) fn publish(summary: &mut RunSummary, publish: &dyn Fn(&mut String)) {
    let published = |name: &str| -> Arc<str> {
        let mut name = name.to_owned();
        publish(&mut name);
        name.into()
    };
    let renamed = |counts: &Counts| -> Counts {
        let counts = counts.iter();
        counts
            .map(|(unit, count)| (published(unit), *count))
            .collect()
    };
    summary.counts = renamed(&summary.counts);
    for phase in &mut summary.phases {
        phase.name = published(&phase.name);
        phase.counts = renamed(&phase.counts);
    }
    for occurrence in &mut summary.occurrences {
        occurrence.name = published(&occurrence.name);
    }
}
