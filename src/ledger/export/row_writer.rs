use std::borrow::Cow;
use std::io::{self, Write};

use crate::text::csv::{Cell, CsvWriter};
use crate::text::escape;
use crate::text::table::Table;

/// What a column of an exported table holds.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Column {
    /// Its name in the first line.
    pub name: String,
    /// The unit of its numbers, or nothing.
    pub unit: Cow<'static, str>,
    /// What its values mean.
    pub meaning: Cow<'static, str>,
}

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RowFormat {
    /// One line for each row, below a line with the names of the columns.
    Csv,
    /// One JSON object for each row.
    JsonLines,
}

/// Writes a table row by row, so that memory does not grow with its length.
#[derive(Debug)]
pub(super) struct RowWriter<W: Write> {
    columns: Vec<Column>,
    rows: Rows<W>,
}

#[derive(Debug)]
enum Rows<W: Write> {
    Csv(CsvWriter<W>),
    JsonLines(W),
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

    /// A table with one row for each column, to be kept beside the exported table.
    #[must_use]
    pub fn describe(columns: &[Self]) -> String {
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
    pub(super) fn new(format: RowFormat, columns: Vec<Column>, out: W) -> io::Result<Self> {
        let rows = match format {
            RowFormat::JsonLines => Rows::JsonLines(out),
            RowFormat::Csv => {
                let mut writer = CsvWriter::new(out);
                writer.row(columns.iter().map(|column| Cell::word(&column.name)))?;
                Rows::Csv(writer)
            }
        };
        Ok(Self { columns, rows })
    }

    /// Writes one row, with a cell for each column.
    pub(super) fn push(&mut self, cells: Vec<Cell>) -> io::Result<()> {
        match &mut self.rows {
            Rows::Csv(writer) => writer.row(cells),
            Rows::JsonLines(out) => {
                let mut line = String::from("{");
                for (column, cell) in self.columns.iter().zip(&cells) {
                    if line.len() > 1 {
                        line.push(',');
                    }
                    line.push_str(&json_string(&column.name)?);
                    line.push(':');
                    match cell {
                        Cell::Word(word) => line.push_str(&json_string(word)?),
                        Cell::Number(digits) => line.push_str(digits),
                        Cell::Empty => line.push_str("null"),
                    }
                }
                line.push_str("}\n");
                out.write_all(line.as_bytes())
            }
        }
    }

    /// Writes what is still in memory, and returns the columns.
    pub(super) fn finish(self) -> io::Result<Vec<Column>> {
        let mut out = match self.rows {
            Rows::Csv(writer) => writer.finish()?,
            Rows::JsonLines(out) => out,
        };
        out.flush()?;
        Ok(self.columns)
    }
}

fn json_string(text: &str) -> io::Result<String> {
    Ok(escape::json(&serde_json::to_string(text)?).into_owned())
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
            .push(vec![Cell::word("=\"a\""), Cell::number(Some(-1.5))])
            .unwrap();
        writer.push(vec![Cell::word("b"), Cell::Empty]).unwrap();
        writer.finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn an_unknown_value_is_empty_or_null_and_never_zero() {
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
