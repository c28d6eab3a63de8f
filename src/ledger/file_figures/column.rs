use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read};

use serde_json::Value;

use crate::units::moments;
use crate::units::moments::Moments;

/// Larger files are refused; results of an evaluation are much smaller.
const MOST_VALUES: usize = 2_000_000;
const LARGEST_FILE: u64 = 64 << 20;

/// The numbers of one column of a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Column(pub(super) Vec<f64>);

/// The wanted columns of a file, by name.
pub(super) type Columns = BTreeMap<String, Column>;

/// The format of a file with columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    Csv,
    Tsv,
    Json,
    Jsonl,
}

/// Why the columns of a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ColumnError {
    #[error("it cannot be read")]
    Io(#[from] std::io::Error),
    #[error("it is not a table")]
    Csv(#[from] csv::Error),
    #[error("it is not JSON")]
    Json(#[from] serde_json::Error),
    #[error("it is neither a list of objects nor an object of lists or numbers")]
    Shape,
    #[error("it is larger than such a file can be")]
    TooLarge,
    #[error("it has no column `{0}`")]
    NoColumn(String),
    #[error("`{text}` in column `{column}` is not a number")]
    NotANumber { column: String, text: String },
}

impl Column {
    pub(super) fn mean(&self) -> Option<f64> {
        moments::mean(&self.0)
    }

    pub(super) fn median(&self) -> Option<f64> {
        moments::median(&self.0)
    }

    /// The standard deviation of a sample, with n - 1 in the denominator.
    pub(super) fn std(&self) -> Option<f64> {
        Moments::of(&self.0)?.standard_deviation()
    }
}

impl Format {
    /// The format that the extension of a file says; CSV if it says none.
    pub(super) fn of(name: &str) -> Self {
        let ending = name
            .rsplit_once('.')
            .map(|(_, ending)| ending.to_ascii_lowercase());
        match ending.as_deref() {
            Some("tsv" | "tab") => Self::Tsv,
            Some("json") => Self::Json,
            Some("jsonl" | "ndjson") => Self::Jsonl,
            _ => Self::Csv,
        }
    }

    /// Reads the wanted columns of a file after skipping `skip_rows` lines.
    pub(super) fn read(
        self,
        file: impl Read,
        skip_rows: usize,
        wanted: &BTreeSet<&str>,
    ) -> Result<Columns, ColumnError> {
        self.read_within(LARGEST_FILE, file, skip_rows, wanted)
    }

    fn read_within(
        self,
        largest: u64,
        file: impl Read,
        skip_rows: usize,
        wanted: &BTreeSet<&str>,
    ) -> Result<Columns, ColumnError> {
        let mut file = BufReader::new(file.take(largest + 1));
        for _ in 0..skip_rows {
            if file.skip_until(b'\n')? == 0 {
                break;
            }
        }
        let columns = self.columns(&mut file, wanted);
        // Checked first, because a file that was cut off can end within a number.
        if file.get_ref().limit() == 0 {
            return Err(ColumnError::TooLarge);
        }
        columns
    }

    fn columns(self, mut file: impl Read, wanted: &BTreeSet<&str>) -> Result<Columns, ColumnError> {
        match self {
            Self::Csv => table(file, b',', wanted),
            Self::Tsv => table(file, b'\t', wanted),
            Self::Json => {
                let mut bytes = Vec::new();
                file.read_to_end(&mut bytes)?;
                of_json(&serde_json::from_slice(&bytes)?, wanted)
            }
            Self::Jsonl => {
                let mut columns = Collected::new(wanted);
                for row in serde_json::Deserializer::from_reader(file).into_iter() {
                    columns.row(&row?)?;
                }
                columns.finish()
            }
        }
    }
}

fn table(file: impl Read, delimiter: u8, wanted: &BTreeSet<&str>) -> Result<Columns, ColumnError> {
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(file);
    let headers = reader.headers()?.clone();
    let places: Vec<(usize, &str)> = headers
        .iter()
        .enumerate()
        .filter(|(_, name)| wanted.contains(name))
        .collect();
    let mut columns = Collected::new(wanted);
    for (_, name) in &places {
        columns.seen(name);
    }
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record)? {
        for (place, name) in &places {
            if let Some(text) = record.get(*place) {
                columns.text(name, text)?;
            }
        }
    }
    columns.finish()
}

fn of_json(value: &Value, wanted: &BTreeSet<&str>) -> Result<Columns, ColumnError> {
    let mut columns = Collected::new(wanted);
    match value {
        Value::Array(rows) => {
            for row in rows {
                columns.row(row)?;
            }
        }
        Value::Object(object) => {
            for (name, value) in object {
                match value {
                    Value::Array(values) => {
                        columns.seen(name);
                        for value in values {
                            columns.value(name, value)?;
                        }
                    }
                    value => columns.value(name, value)?,
                }
            }
        }
        _ => return Err(ColumnError::Shape),
    }
    columns.finish()
}

struct Collected<'a> {
    wanted: &'a BTreeSet<&'a str>,
    columns: Columns,
    values: usize,
}

impl<'a> Collected<'a> {
    fn new(wanted: &'a BTreeSet<&'a str>) -> Self {
        Self {
            wanted,
            columns: Columns::new(),
            values: 0,
        }
    }

    fn seen(&mut self, name: &str) {
        if self.wanted.contains(name) && !self.columns.contains_key(name) {
            self.columns.insert(name.to_owned(), Column::default());
        }
    }

    fn row(&mut self, row: &Value) -> Result<(), ColumnError> {
        for (name, value) in row.as_object().ok_or(ColumnError::Shape)? {
            self.value(name, value)?;
        }
        Ok(())
    }

    fn value(&mut self, name: &str, value: &Value) -> Result<(), ColumnError> {
        match value {
            Value::Null => Ok(()),
            Value::Number(number) => self.push(name, number.as_f64()),
            Value::String(text) => self.text(name, text),
            other => self.text(name, &other.to_string()),
        }
    }

    fn text(&mut self, name: &str, text: &str) -> Result<(), ColumnError> {
        if !self.wanted.contains(name) {
            return Ok(());
        }
        match text.parse::<f64>() {
            Ok(number) => self.push(name, Some(number)),
            Err(_) if text.is_empty() || matches!(text, "NA" | "n/a" | "null" | "None") => Ok(()),
            Err(_) => Err(ColumnError::NotANumber {
                column: name.to_owned(),
                text: text.chars().take(40).collect(),
            }),
        }
    }

    /// Numbers that are not finite are left out.
    fn push(&mut self, name: &str, number: Option<f64>) -> Result<(), ColumnError> {
        if !self.wanted.contains(name) {
            return Ok(());
        }
        self.seen(name);
        if let Some(number) = number.filter(|number| number.is_finite()) {
            self.values += 1;
            if self.values > MOST_VALUES {
                return Err(ColumnError::TooLarge);
            }
            self.columns
                .entry(name.to_owned())
                .or_default()
                .0
                .push(number);
        }
        Ok(())
    }

    fn finish(self) -> Result<Columns, ColumnError> {
        match self
            .wanted
            .iter()
            .find(|name| !self.columns.contains_key(**name))
        {
            Some(missing) => Err(ColumnError::NoColumn((*missing).to_owned())),
            None => Ok(self.columns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(format: Format, skip_rows: usize, text: &str) -> Result<Columns, ColumnError> {
        format.read(text.as_bytes(), skip_rows, &BTreeSet::from(["a", "b"]))
    }

    #[test]
    fn the_same_numbers_come_out_of_every_format() {
        let wanted = read(Format::Csv, 0, "a,b,c\n1,2,x\n3,,y\n").unwrap();
        assert_eq!(wanted["a"].0, [1.0, 3.0]);
        assert_eq!(wanted["b"].0, [2.0]);
        let skipped = "{\"first\": \"a, \\\"line\\\"\"}\na\tb\n1\t2\n3\tnan\n";
        assert_eq!(read(Format::Tsv, 1, skipped).unwrap(), wanted);
        assert_eq!(
            read(Format::Json, 0, r#"[{"a":1,"b":2},{"a":3,"b":null}]"#).unwrap(),
            wanted
        );
        assert_eq!(
            read(Format::Json, 0, r#"{"a":[1,3],"b":2,"c":"x"}"#).unwrap(),
            wanted
        );
        assert_eq!(
            read(Format::Jsonl, 0, "{\"a\":1,\"b\":2}\n{\"a\":\"3\"}\n").unwrap(),
            wanted
        );
    }

    #[test]
    fn a_file_that_does_not_fit_is_refused_and_not_cut() {
        for (format, text) in [
            (Format::Csv, "a,b\n1,2\n3,400\n"),
            (Format::Tsv, "a\tb\n1\t2\n3\t400\n"),
            (Format::Json, "[{\"a\":1,\"b\":2}] "),
            (Format::Jsonl, "{\"a\":1,\"b\":2}\n"),
        ] {
            let wanted = BTreeSet::from(["a", "b"]);
            let read = |largest| format.read_within(largest, text.as_bytes(), 0, &wanted);
            let size = text.len() as u64;
            assert!(read(size).is_ok(), "{format:?}");
            for largest in [size - 1, size - 2] {
                assert!(
                    matches!(read(largest), Err(ColumnError::TooLarge)),
                    "{format:?}"
                );
            }
        }
    }

    #[test]
    fn rows_to_skip_end_with_the_file() {
        let error = read(Format::Csv, usize::MAX, "a,b\n1,2\n").unwrap_err();
        assert!(matches!(error, ColumnError::NoColumn(_)));
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said() {
        let error = |text: &str| read(Format::Csv, 0, text).unwrap_err().to_string();
        assert!(error("a,c\n1,2\n").contains("no column `b`"));
        assert!(error("a,b\n1,high\n").contains("`high` in column `b`"));
        assert!(
            read(Format::Json, 0, "[1]")
                .unwrap_err()
                .to_string()
                .contains("neither")
        );
    }
}
