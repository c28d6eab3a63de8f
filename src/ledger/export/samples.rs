use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::PathBuf;

use super::row_writer::{Column, RowFormat, RowWriter};
use crate::ledger::summarise::SummaryError;
use crate::log::{Gauge, ImplausibleSample, ReadError, Record, Row};
use crate::model::{Component, Edge, Mark};
use crate::text::csv::Cell;

/// As many as a spreadsheet can open.
const MOST_COLUMNS: usize = 1 << 14;

const GAUGES: [(Gauge, &str, &str, &str); 10] = [
    (
        Gauge::CpuPower,
        "cpu_power",
        "W",
        "power of the CPUs that is the run's",
    ),
    (
        Gauge::GpuPower,
        "gpu_power",
        "W",
        "power of the GPUs that is the run's",
    ),
    (
        Gauge::MachineCpuPower,
        "machine_cpu_power",
        "W",
        "power of the CPUs, whoever uses them",
    ),
    (
        Gauge::MachineGpuPower,
        "machine_gpu_power",
        "W",
        "power of the GPUs, whoever uses them",
    ),
    (
        Gauge::CpuUtilization,
        "cpu_utilization",
        "CPUs",
        "CPUs kept busy by the run",
    ),
    (
        Gauge::GpuUtilization,
        "gpu_utilization",
        "1",
        "average over the GPUs",
    ),
    (Gauge::Memory, "memory", "bytes", "memory of the run"),
    (
        Gauge::CpuTemperature,
        "cpu_temperature",
        "°C",
        "of the hottest CPU",
    ),
    (
        Gauge::GpuTemperature,
        "gpu_temperature",
        "°C",
        "of the hottest GPU",
    ),
    (
        Gauge::CarbonIntensity,
        "carbon_intensity",
        "g CO2eq/kWh",
        "as recorded with the sample",
    ),
];

/// Why samples cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// A log cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The log of a run has no figures.
    #[error(transparent)]
    Summary(#[from] SummaryError),
    /// A run has more phases than a spreadsheet can have rows.
    #[error("{} has more occurrences of phases than a spreadsheet can have rows", .0.display())]
    TooLong(PathBuf),
    /// The table would have more columns than a spreadsheet can open.
    #[error(
        "the runs name so many components that the table would have more than {MOST_COLUMNS} columns: export fewer runs at a time"
    )]
    TooWide,
    /// The table cannot be written.
    #[error("cannot write the table")]
    Write(#[from] io::Error),
}

/// Writes one row for each sample of each run, and returns the columns.
///
/// Logs are read twice, because each component in any of them has its own columns.
pub fn samples(
    runs: &[PathBuf],
    format: RowFormat,
    out: impl Write,
) -> Result<Vec<Column>, ExportError> {
    let mut components: BTreeSet<Component> = BTreeSet::new();
    for run in runs {
        Record::open(run)?.for_each_row(|row| {
            if components.len() <= MOST_COLUMNS {
                components.extend(row.meters()?.into_keys());
            }
            Ok(())
        })?;
        if columns(&components).len() > MOST_COLUMNS {
            return Err(ExportError::TooWide);
        }
    }
    let mut writer = RowWriter::new(format, columns(&components), out)?;
    for run in runs {
        let mut failed = None;
        Record::open(run)?.for_each_row(|row| {
            if failed.is_none() {
                let path = Cell::word(run.display().to_string());
                failed = writer.push(cells(path, row, &components)?).err();
            }
            Ok(())
        })?;
        if let Some(error) = failed {
            return Err(error.into());
        }
    }
    Ok(writer.finish()?)
}

fn columns(components: &BTreeSet<Component>) -> Vec<Column> {
    let mut columns = vec![
        Column::new("path", "", "the folder of the run"),
        Column::new("timestamp", "s", "wall clock, since 1970"),
        Column::new("elapsed", "s", "since the start of the run"),
        Column::new("marks", "", "marks since the sample before"),
    ];
    columns.extend(GAUGES.map(|(_, name, unit, meaning)| Column::new(name, unit, meaning)));
    for component in components {
        columns.push(Column::new(
            format!("attributed.{component}"),
            "J",
            "energy since the start that is the run's",
        ));
        columns.push(Column::new(
            format!("machine.{component}"),
            "J",
            "energy since the start of the whole machine",
        ));
    }
    columns
}

fn cells<'a>(
    path: Cell<'a>,
    row: &Row,
    components: &BTreeSet<Component>,
) -> Result<Vec<Cell<'a>>, ImplausibleSample> {
    let meters = row.meters()?;
    let mut cells = vec![
        path,
        Cell::number(Some(row.timestamp)),
        Cell::number(row.elapsed),
        Some(marks(row))
            .filter(|marks| !marks.is_empty())
            .map_or(Cell::Empty, Cell::word),
    ];
    cells.extend(GAUGES.map(|(gauge, ..)| Cell::number(row.gauge(gauge))));
    for component in components {
        let meter = meters.get(component);
        cells.push(Cell::number(meter.and_then(|meter| meter.attributed_j)));
        cells.push(Cell::number(meter.and_then(|meter| meter.total_j)));
    }
    Ok(cells)
}

/// The marks of a sample: `start train; point epoch 1`.
fn marks(row: &Row) -> String {
    let one = row
        .mark
        .and_then(|text| serde_json::from_slice::<Mark>(text).ok());
    let several = row
        .marks
        .and_then(|text| serde_json::from_slice::<Vec<Mark>>(text).ok());
    let marks = one.into_iter().chain(several.into_iter().flatten());
    let words: Vec<String> = marks.map(|mark| words(&mark)).collect();
    words.join("; ")
}

fn words(mark: &Mark) -> String {
    let edge = match mark.edge {
        Edge::Start => "start",
        Edge::End => "end",
        Edge::Point => "point",
        Edge::Count => "count",
    };
    let counts = mark.count.iter();
    let counts = counts.map(|(unit, count)| format!("{unit}={count}"));
    let words = [edge.to_owned(), mark.name.clone()]
        .into_iter()
        .chain(counts);
    let words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::{DATA_FILE, FOLDER};

    #[test]
    fn runs_with_more_components_than_a_table_may_have_columns_are_refused() {
        let run = tempfile::tempdir().unwrap();
        std::fs::create_dir(run.path().join(FOLDER)).unwrap();
        let write = |components: usize| {
            let meters: Vec<String> = (0..components)
                .map(|n| format!(r#""gpu:{n}":{{"attributed_j":1,"method":"measured"}}"#))
                .collect();
            let row = format!(
                "{{\"schema\":1,\"timestamp\":1,\"energy\":{{{}}}}}\n",
                meters.join(",")
            );
            std::fs::write(run.path().join(FOLDER).join(DATA_FILE), row).unwrap();
            samples(&[run.path().to_owned()], RowFormat::Csv, io::sink())
        };
        let fixed = columns(&BTreeSet::new()).len();
        let most = (MOST_COLUMNS - fixed) / 2;
        assert_eq!(write(most).unwrap().len(), fixed + 2 * most);
        assert!(matches!(write(most + 1), Err(ExportError::TooWide)));
    }
}
