use super::RunLine;
use crate::ledger::Figure;
use crate::text::table::{Table, UNKNOWN};

const COLUMNS: [(&str, Figure); 5] = [
    ("energy", Figure::Energy),
    ("CO2eq", Figure::Emissions),
    ("time", Figure::Duration),
    ("intensity", Figure::CarbonIntensity),
    ("measured", Figure::MeasuredShare),
];

/// The runs of a statement, a row each.
pub(super) fn table(runs: &[RunLine]) -> Table {
    let mut table = Table::new(&["run"], &COLUMNS.map(|(title, _)| title));
    for run in runs {
        let figures = COLUMNS.map(|(_, figure)| {
            run.figures[figure.name()]
                .map_or_else(|| UNKNOWN.to_owned(), |amount| figure.shown(amount.value()))
        });
        table.push(std::iter::once(run.path.display().to_string()).chain(figures));
    }
    table
}
