use std::borrow::Cow;
use std::io::{self, Write};

use crate::text::escape;
use crate::text::table::Table;

/// One column: its name, its unit where it has one, and what it means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub unit: Cow<'static, str>,
    pub meaning: Cow<'static, str>,
}

/// One value; nothing where it is not known.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    Word(String),
    /// A number as its digits, so that exact sums stay exact.
    Number(String),
    Empty,
}

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowFormat {
    Csv,
    /// One JSON object a line.
    JsonLines,
}

/// A table that is written row by row, in memory that does not grow with it.
#[derive(Debug)]
pub struct RowWriter<W: Write> {
    columns: Vec<Column>,
    rows: Rows<W>,
}

#[derive(Debug)]
enum Rows<W: Write> {
    Csv(Box<csv::Writer<W>>),
    JsonLines(W),
}

/// What kept a row from being written; a reader that has gone away must be seen as such.
fn cannot_write(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        kind => io::Error::other(format!("{kind:?}")),
    }
}

impl Column {
    pub(super) fn new(
        name: impl Into<String>,
        unit: impl Into<Cow<'static, str>>,
        meaning: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            name: name.into(),
            unit: unit.into(),
            meaning: meaning.into(),
        }
    }

    /// The header file: a row for each column.
    pub fn describe(columns: &[Self]) -> Result<String, csv::Error> {
        let mut table = Table::new(&["column", "unit", "meaning"], &[]);
        for column in columns {
            table.push([
                column.name.clone(),
                column.unit.to_string(),
                column.meaning.to_string(),
            ]);
        }
        table.csv()
    }
}

impl<W: Write> RowWriter<W> {
    pub fn new(format: RowFormat, columns: Vec<Column>, out: W) -> io::Result<Self> {
        let rows = match format {
            RowFormat::JsonLines => Rows::JsonLines(out),
            RowFormat::Csv => {
                let mut writer = csv::Writer::from_writer(out);
                writer.write_record(
                    columns
                        .iter()
                        .map(|column| escape::csv(&column.name).into_owned()),
                )?;
                Rows::Csv(Box::new(writer))
            }
        };
        Ok(Self { columns, rows })
    }

    /// Writes one row; there is a cell for each column.
    pub fn push(&mut self, cells: &[Cell]) -> io::Result<()> {
        match &mut self.rows {
            Rows::Csv(writer) => {
                let cells = cells.iter().map(|cell| match cell {
                    Cell::Word(word) => escape::csv(word),
                    Cell::Number(digits) => Cow::Borrowed(digits.as_str()),
                    Cell::Empty => Cow::Borrowed(""),
                });
                writer
                    .write_record(cells.map(Cow::into_owned))
                    .map_err(cannot_write)?;
            }
            Rows::JsonLines(out) => {
                let mut line = String::from("{");
                for (column, cell) in self.columns.iter().zip(cells) {
                    if line.len() > 1 {
                        line.push(',');
                    }
                    line.push_str(&escape::json(&serde_json::to_string(&column.name)?));
                    line.push(':');
                    match cell {
                        Cell::Word(word) => {
                            line.push_str(&escape::json(&serde_json::to_string(word)?));
                        }
                        Cell::Number(digits) => line.push_str(digits),
                        Cell::Empty => line.push_str("null"),
                    }
                }
                line.push_str("}\n");
                out.write_all(line.as_bytes())?;
            }
        }
        Ok(())
    }

    pub fn finish(self) -> io::Result<Vec<Column>> {
        match self.rows {
            Rows::Csv(mut writer) => writer.flush()?,
            Rows::JsonLines(mut out) => out.flush()?,
        }
        Ok(self.columns)
    }
}

impl From<Option<String>> for Cell {
    fn from(word: Option<String>) -> Self {
        word.map_or(Self::Empty, Self::Word)
    }
}

/// A number that is not finite has no digits and is not known.
impl From<Option<f64>> for Cell {
    fn from(number: Option<f64>) -> Self {
        match number.filter(|number| number.is_finite()) {
            Some(number) => Self::Number(number.to_string()),
            None => Self::Empty,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(format: RowFormat) -> String {
        let columns = vec![
            Column::new("run", "", "its path"),
            Column::new("kWh", "kWh", "energy"),
        ];
        let mut out = Vec::new();
        let mut writer = RowWriter::new(format, columns, &mut out).unwrap();
        writer
            .push(&[Cell::Word("=\"a\"".into()), Cell::Number("-1.5".into())])
            .unwrap();
        writer.push(&[Cell::Word("b".into()), Cell::Empty]).unwrap();
        writer.finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_is_not_known_is_empty_or_null_and_never_nought() {
        assert_eq!(
            written(RowFormat::Csv),
            "run,kWh\n\"'=\"\"a\"\"\",-1.5\nb,\n"
        );
        assert_eq!(
            written(RowFormat::JsonLines),
            "{\"run\":\"=\\\"a\\\"\",\"kWh\":-1.5}\n{\"run\":\"b\",\"kWh\":null}\n"
        );
    }
}
