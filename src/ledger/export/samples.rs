use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::PathBuf;

use super::row_writer::{Column, RowFormat, RowWriter};
use crate::log::{ReadError, Record, Row};
use crate::model::Component;
use crate::text::csv::Cell;
use crate::units::GramsPerKwh;

/// As many as a spreadsheet can open.
const MOST_COLUMNS: usize = 1 << 14;

/// Why samples cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// A log cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
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
        Column::new("cpu_power", "W", "power of the CPUs that is the run's"),
        Column::new("gpu_power", "W", "power of the GPUs that is the run's"),
        Column::new("gpu_utilization", "1", "average over the GPUs"),
        Column::new(
            "carbon_intensity",
            "g CO2eq/kWh",
            "as recorded with the sample",
        ),
    ];
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
) -> Result<Vec<Cell<'a>>, String> {
    let meters = row.meters()?;
    let mut cells = vec![
        path,
        Cell::number(Some(row.timestamp)),
        Cell::number(row.elapsed),
        Cell::number(row.cpu_watts),
        Cell::number(row.gpu_watts),
        Cell::number(row.gpu_utilization),
        Cell::number(row.carbon_intensity.known().map(GramsPerKwh::get)),
    ];
    for component in components {
        let meter = meters.get(component);
        cells.push(Cell::number(meter.and_then(|meter| meter.attributed_j)));
        cells.push(Cell::number(meter.and_then(|meter| meter.total_j)));
    }
    Ok(cells)
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
