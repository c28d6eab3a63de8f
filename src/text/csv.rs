//! CSV that can be opened in a spreadsheet and printed to a terminal: no cell runs as a formula.

use std::borrow::Cow;
use std::io::{self, Write};

use super::escape;

/// One value of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cell<'a> {
    /// Text, which is escaped.
    Word(Cow<'a, str>),
    /// The digits of a number, written as they are so that exact sums stay exact.
    Number(Cow<'a, str>),
    /// A value that is not known.
    Empty,
}

/// Writes rows of cells.
#[derive(Debug)]
pub(crate) struct CsvWriter<W: Write>(Box<::csv::Writer<W>>);

/// Rows in memory; all have the same number of cells.
pub(crate) fn csv<'a, R: IntoIterator<Item = Cell<'a>>>(
    rows: impl IntoIterator<Item = R>,
) -> String {
    let mut writer = CsvWriter::new(Vec::new());
    let written = rows.into_iter().try_for_each(|row| writer.row(row));
    let bytes = written.and_then(|()| writer.finish());
    String::from_utf8(bytes.expect("memory can be written to")).expect("cells are UTF-8")
}

impl<'a> Cell<'a> {
    pub(crate) fn word(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Word(text.into())
    }

    /// A number that is not known, or not finite, is an empty cell.
    pub(crate) fn number(value: Option<f64>) -> Self {
        match value.filter(|value| value.is_finite()) {
            Some(value) => Self::Number(value.to_string().into()),
            None => Self::Empty,
        }
    }
}

impl<W: Write> CsvWriter<W> {
    pub(crate) fn new(out: W) -> Self {
        Self(Box::new(::csv::Writer::from_writer(out)))
    }

    pub(crate) fn row<'a>(&mut self, cells: impl IntoIterator<Item = Cell<'a>>) -> io::Result<()> {
        for cell in cells {
            match cell {
                Cell::Word(word) => self.0.write_field(&*escape::csv(&word)),
                Cell::Number(digits) => self.0.write_field(&*digits),
                Cell::Empty => self.0.write_field(""),
            }
            .map_err(io_error)?;
        }
        self.0.write_record(None::<&[u8]>).map_err(io_error)
    }

    pub(crate) fn finish(self) -> io::Result<W> {
        self.0
            .into_inner()
            .map_err(::csv::IntoInnerError::into_error)
    }
}

/// The I/O error inside, so that a closed pipe can be told from other failures.
fn io_error(error: ::csv::Error) -> io::Error {
    match error.into_kind() {
        ::csv::ErrorKind::Io(error) => error,
        kind => io::Error::other(format!("{kind:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_is_a_formula_and_numbers_keep_their_sign() {
        let row = [
            Cell::word("=cmd()"),
            Cell::word("@x, \"y\""),
            Cell::number(Some(-1.5)),
            Cell::number(Some(f64::NAN)),
            Cell::Empty,
        ];
        assert_eq!(csv([row]), "'=cmd(),\"'@x, \"\"y\"\"\",-1.5,,\n");
    }
}
