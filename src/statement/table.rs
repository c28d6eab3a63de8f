use super::RunLine;
use super::number::human;
use crate::account::Figure;

/// The runs of a statement as rows of words, whatever format they end up in.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) head: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

const COLUMNS: [(&str, Figure); 5] = [
    ("kWh", Figure::TotalPower),
    ("kg CO2eq", Figure::EstimatedCarbonImpactKg),
    ("h", Figure::ExpLenHours),
    ("g/kWh", Figure::AverageRealtimeCarbonIntensity),
    ("measured", Figure::MeasuredShare),
];
/// What stands where nothing is known.
const UNKNOWN: &str = "unknown";

impl Table {
    pub(super) fn of(runs: &[RunLine]) -> Self {
        let head = std::iter::once("run".to_owned())
            .chain(COLUMNS.map(|(title, _)| title.to_owned()))
            .collect();
        let cell = |run: &RunLine, figure: Figure| {
            figure
                .of_tally(&run.tally)
                .map_or_else(|| UNKNOWN.to_owned(), human)
        };
        let rows = runs
            .iter()
            .map(|run| {
                std::iter::once(run.path.display().to_string())
                    .chain(COLUMNS.map(|(_, figure)| cell(run, figure)))
                    .collect()
            })
            .collect();
        Self { head, rows }
    }

    /// Columns padded with spaces: names to the left, numbers to the right.
    pub(super) fn aligned(&self) -> String {
        let lines = || std::iter::once(&self.head).chain(&self.rows);
        let width = |column: usize| {
            lines()
                .map(|line| line[column].chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
        let mut out = String::new();
        for line in lines() {
            for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
                if column == 0 {
                    out.push_str(&format!("{cell:<width$}"));
                } else {
                    out.push_str(&format!("  {cell:>width$}"));
                }
            }
            out.push('\n');
        }
        out
    }
}
