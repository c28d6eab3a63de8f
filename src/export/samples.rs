use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::PathBuf;

use super::{Cell, Column, Shape, Sheet};
use crate::log::{ReadError, Record, Row};
use crate::sensor::Component;
use crate::units::GramsPerKwh;

/// Why samples cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("cannot write the table")]
    Write(#[from] io::Error),
}

/// Writes one row a sample of every run, and says what the columns are.
///
/// Logs are read twice: their components make the columns.
pub fn samples(
    runs: &[PathBuf],
    shape: Shape,
    out: impl Write,
) -> Result<Vec<Column>, ExportError> {
    let mut components: BTreeSet<Component> = BTreeSet::new();
    for run in runs {
        Record::open(run)?.for_each_row(|row| {
            components.extend(row.meters()?.into_keys());
            Ok(())
        })?;
    }
    let mut sheet = Sheet::new(shape, columns(&components), out)?;
    for run in runs {
        let mut failed = None;
        Record::open(run)?.for_each_row(|row| {
            if failed.is_none() {
                let path = Cell::Word(run.display().to_string());
                failed = sheet.push(&cells(path, row, &components)?).err();
            }
            Ok(())
        })?;
        if let Some(error) = failed {
            return Err(error.into());
        }
    }
    Ok(sheet.finish()?)
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

fn cells(path: Cell, row: &Row, components: &BTreeSet<Component>) -> Result<Vec<Cell>, String> {
    let meters = row.meters()?;
    let mut cells = vec![
        path,
        Cell::from(Some(row.timestamp)),
        row.elapsed.into(),
        row.cpu_watts.into(),
        row.gpu_watts.into(),
        row.gpu_utilization.into(),
        row.carbon_intensity.known().map(GramsPerKwh::get).into(),
    ];
    for component in components {
        let meter = meters.get(component);
        cells.push(meter.and_then(|meter| meter.attributed_j).into());
        cells.push(meter.and_then(|meter| meter.total_j).into());
    }
    Ok(cells)
}
