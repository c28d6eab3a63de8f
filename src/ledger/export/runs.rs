use std::collections::BTreeSet;
use std::io::{self, Write};

use super::row_writer::{Column, RowFormat, RowWriter};
use crate::grid::zone::ZoneId;
use crate::ledger::figure::Amount;
use crate::ledger::{Assumptions, Collection, Figure};
use crate::text::csv::Cell;

/// Writes one row for each run, and returns the columns.
pub fn runs(
    collection: &Collection,
    assumptions: &Assumptions,
    format: RowFormat,
    out: impl Write,
) -> io::Result<Vec<Column>> {
    let tags: BTreeSet<&String> = collection
        .runs
        .iter()
        .flat_map(|(_, run)| run.tags.keys())
        .collect();
    let mut columns = vec![
        Column::new("path", "", "the folder of the run"),
        Column::new("name", "", "what the run was called"),
        Column::new("host", "", "the machine it ran on"),
        Column::new("started", "UTC", "when it started"),
        Column::new("zone", "", "zone of the electricity map"),
        Column::new("intensity_source", "", "where the carbon intensity is from"),
        Column::new("pue", "1", "power usage effectiveness"),
    ];
    columns.extend(
        tags.iter()
            .map(|tag| Column::new(format!("tag.{tag}"), "", "a tag")),
    );
    columns.extend(Figure::ALL.map(|f| Column::new(f.name(), f.unit(), f.meaning())));
    let mut writer = RowWriter::new(format, columns, out)?;
    for accounted in collection.accounted(assumptions) {
        let (run, footprint) = (accounted.run, &accounted.footprint);
        let carbon = footprint.carbon.as_ref();
        let zone = carbon
            .and_then(|carbon| carbon.zone.as_ref())
            .or(run.region.as_ref().map(|region| &region.zone));
        let mut cells = vec![
            Cell::word(accounted.path.display().to_string()),
            word(run.name.as_deref()),
            word(run.host.as_deref()),
            run.started.map_or(Cell::Empty, |time| {
                Cell::word(time.format("%Y-%m-%dT%H:%M:%SZ").to_string())
            }),
            word(zone.map(ZoneId::as_str)),
            carbon.map_or(Cell::Empty, |carbon| Cell::word(carbon.origin.to_string())),
            Cell::Number(footprint.pue.to_string().into()),
        ];
        cells.extend(
            tags.iter()
                .map(|tag| word(run.tags.get(*tag).map(String::as_str))),
        );
        let figures = accounted.figures();
        cells.extend(Figure::ALL.map(|figure| match figures[figure.name()] {
            Some(Amount::Sum(exact)) => Cell::Number(exact.to_string().into()),
            Some(Amount::Ratio(ratio)) => Cell::number(Some(ratio)),
            None => Cell::Empty,
        }));
        writer.push(cells)?;
    }
    writer.finish()
}

fn word(text: Option<&str>) -> Cell<'_> {
    text.map_or(Cell::Empty, Cell::word)
}
