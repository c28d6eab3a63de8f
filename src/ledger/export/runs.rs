use std::collections::BTreeSet;
use std::io::{self, Write};

use super::{Cell, Column, RowFormat, RowWriter};
use crate::ledger::figure::Amount;
use crate::ledger::{Assumptions, Collection, Figure, Footprint};

/// Writes one row a run, and says what the columns are.
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
    for (path, run) in &collection.runs {
        let footprint = Footprint::of(run, assumptions);
        let carbon = footprint.carbon.as_ref();
        let zone = carbon
            .and_then(|carbon| carbon.zone.as_ref())
            .or(run.region.as_ref().map(|region| &region.zone));
        let mut cells = vec![
            Cell::Word(path.display().to_string()),
            run.name.clone().into(),
            run.host.clone().into(),
            run.started
                .map(|time| time.format("%Y-%m-%dT%H:%M:%SZ").to_string())
                .into(),
            zone.map(ToString::to_string).into(),
            carbon.map(|carbon| carbon.source.clone()).into(),
            Cell::Number(footprint.pue.to_string()),
        ];
        cells.extend(
            tags.iter()
                .map(|tag| Cell::from(run.tags.get(*tag).cloned())),
        );
        let figures = Figure::all_of_run(run, &footprint);
        cells.extend(Figure::ALL.map(|figure| match figures[figure.name()] {
            Some(Amount::Sum(exact)) => Cell::Number(exact.to_string()),
            Some(Amount::Ratio(ratio)) => Cell::from(Some(ratio)),
            None => Cell::Empty,
        }));
        writer.push(&cells)?;
    }
    writer.finish()
}
