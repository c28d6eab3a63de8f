use serde::Serialize;

use super::label;
use super::statistic::Statistic;
use crate::ledger::Figure;
use crate::text::csv;
use crate::text::number::{self, percent};
use crate::text::quantity::Quantity;

/// A table of a page, which can also be downloaded as CSV.
#[derive(Debug, Serialize)]
pub(super) struct Table {
    /// Unique on the page; also the name of the CSV file.
    pub(super) id: &'static str,
    pub(super) caption: String,
    /// The title of the first column.
    pub(super) head: &'static str,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Row>,
    /// Rows about all rows.
    pub(super) foot: Vec<Row>,
    pub(super) sortable: bool,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct Column {
    /// Its name in CSV and JSON.
    pub(super) key: String,
    pub(super) label: String,
    pub(super) unit: String,
    pub(super) meaning: String,
    pub(super) numeric: bool,
    /// `ascending` or `descending` if the rows are sorted by it.
    pub(super) sorted: Option<&'static str>,
    /// Its cells have standard errors.
    pub(super) spread: bool,
    /// It is in the CSV only, because the cells of the page have their units.
    pub(super) csv_only: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct Row {
    pub(super) name: String,
    /// Its name in CSV, where that is another.
    pub(super) key: Option<String>,
    pub(super) href: Option<String>,
    /// A text that is shown under the pointer.
    pub(super) hint: Option<String>,
    pub(super) best: bool,
    pub(super) cells: Vec<Cell>,
}

/// One cell: the text that is shown, and the exact value.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) error: Option<String>,
    /// Of the text and its error; empty where the column has it.
    pub(super) unit: String,
    pub(super) value: Option<f64>,
    pub(super) stderr: Option<f64>,
}

impl Column {
    pub(super) fn text(key: &str, label: &str) -> Self {
        Self {
            key: key.to_owned(),
            label: label.to_owned(),
            unit: String::new(),
            meaning: String::new(),
            numeric: false,
            sorted: None,
            spread: false,
            csv_only: false,
        }
    }

    pub(super) fn number(key: &str, label: &str, unit: &str) -> Self {
        Self {
            unit: unit.to_owned(),
            numeric: true,
            ..Self::text(key, label)
        }
    }
}

impl Row {
    pub(super) fn new(name: impl Into<String>, cells: Vec<Cell>) -> Self {
        Self {
            name: name.into(),
            key: None,
            href: None,
            hint: None,
            best: false,
            cells,
        }
    }
}

impl Cell {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// A plain number.
    pub(super) fn number(value: Option<f64>) -> Self {
        value.map_or_else(
            || Self::text("–"),
            |value| Self {
                text: number::typeset(value),
                value: Some(value),
                ..Self::default()
            },
        )
    }

    /// A quantity in the unit that fits it; the exact value is in the unit of the column's key.
    pub(super) fn quantity(quantity: Quantity, amount: Option<f64>, value: Option<f64>) -> Self {
        let Some(amount) = amount else {
            return Self::text("–");
        };
        let scale = quantity.scale(amount);
        Self {
            text: scale.digits(amount),
            unit: scale.unit.to_owned(),
            value,
            ..Self::default()
        }
    }

    /// A figure in the unit that fits it.
    pub(super) fn figure(name: &str, value: Option<f64>) -> Self {
        let Some(value) = value else {
            return Self::text("–");
        };
        if name == Figure::MeasuredShare.name() {
            return Self::share(Some(value));
        }
        let shown = label::scale(name, value);
        Self {
            text: shown.digits(value),
            unit: label::cell_unit(name, shown),
            value: Some(value),
            ..Self::default()
        }
    }

    /// The cell in a column of different figures, whose title can have no unit.
    pub(super) fn with_unit_of(mut self, name: &str) -> Self {
        if let Some(value) = self.value {
            self.unit = label::scale(name, value).full_unit(name);
        }
        self
    }

    /// The sum of a figure over so many runs; a mass that leaves out some is a lower bound.
    pub(super) fn sum(name: &str, statistic: Option<&Statistic>, runs: usize) -> Self {
        let mut cell = Self::figure(name, statistic.map(|statistic| statistic.sum));
        if statistic.is_some_and(|statistic| label::is_lower_bound(name, statistic, runs)) {
            cell.text = format!("≥ {}", cell.text);
        }
        cell
    }

    /// A whole number.
    pub(super) fn count(count: usize) -> Self {
        Self {
            text: count.to_string(),
            value: Some(count as f64),
            ..Self::default()
        }
    }

    /// A share, shown in percent.
    pub(super) fn share(value: Option<f64>) -> Self {
        match value {
            Some(value) => {
                let shown = percent(value);
                let (text, unit) = shown.split_once(' ').unwrap_or((&shown, ""));
                Self {
                    text: text.to_owned(),
                    unit: unit.to_owned(),
                    value: Some(value),
                    ..Self::default()
                }
            }
            None => Self::text("–"),
        }
    }

    /// The mean of a figure with its error, both in the unit that fits the mean.
    pub(super) fn statistic(name: &str, statistic: Option<&Statistic>) -> Self {
        let Some(statistic) = statistic else {
            return Self::text("–");
        };
        let shown = label::scale(name, statistic.mean);
        let error = statistic.stderr.map(|error| error * shown.factor);
        let (text, error) = match error {
            Some(_) => number::typeset_mean(statistic.mean * shown.factor, error),
            None => (shown.digits(statistic.mean), None),
        };
        Self {
            text,
            error,
            unit: label::cell_unit(name, shown),
            value: Some(statistic.mean),
            stderr: statistic.stderr,
        }
    }
}

impl Table {
    /// The rows as CSV with all their digits.
    pub(super) fn csv(&self) -> String {
        let mut head = vec![csv::Cell::word(self.head.to_lowercase())];
        for column in &self.columns {
            head.push(csv::Cell::word(&column.key));
            if column.spread {
                head.push(csv::Cell::word(format!("{}_stderr", column.key)));
            }
        }
        let rows = self.rows.iter().chain(&self.foot);
        csv::csv(std::iter::once(head).chain(rows.map(|row| self.csv_row(row))))
    }

    fn csv_row<'a>(&self, row: &'a Row) -> Vec<csv::Cell<'a>> {
        let mut cells = vec![csv::Cell::word(row.key.as_ref().unwrap_or(&row.name))];
        for (column, cell) in self.columns.iter().zip(&row.cells) {
            cells.push(if column.numeric {
                csv::Cell::number(cell.value)
            } else {
                csv::Cell::word(&cell.text)
            });
            if column.spread {
                cells.push(csv::Cell::number(cell.stderr));
            }
        }
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn almost_all_is_not_shown_as_all() {
        let shown = |share| {
            let cell = Cell::share(Some(share));
            format!("{} {}", cell.text, cell.unit)
        };
        assert_eq!(shown(0.9996), ">99.9 %");
        assert_eq!(shown(1.0), "100 %");
        assert_eq!(shown(0.125), "12.5 %");
        assert_eq!(Cell::share(None).text, "–");
    }

    #[test]
    fn csv_has_full_digits_and_no_formulas() {
        let spread = Column {
            spread: true,
            ..Column::number("total_power", "Energy", "kWh")
        };
        let statistic = Statistic {
            mean: 0.1 + 0.2,
            stderr: Some(0.5),
            sum: 1.0,
            n: 2,
        };
        let table = Table {
            id: "t",
            caption: String::new(),
            head: "Run",
            columns: vec![spread, Column::text("note", "Note")],
            rows: vec![Row::new(
                "=cmd()",
                vec![
                    Cell::statistic("total_power", Some(&statistic)),
                    Cell::text("@x, \"y\""),
                ],
            )],
            foot: Vec::new(),
            sortable: false,
        };
        assert_eq!(
            table.csv(),
            "run,total_power,total_power_stderr,note\n'=cmd(),0.30000000000000004,0.5,\"'@x, \"\"y\"\"\"\n"
        );
    }
}
