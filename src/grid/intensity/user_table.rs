//! Intensities the user states: one figure, or a table for the user's own map.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{Intensity, Provenance, Shares, Source};
use crate::grid::user_file::{UnreadableFile, read_text};
use crate::grid::zone::ZoneId;
use crate::text::escape;
use crate::units::{GramsPerKwh, OutOfRange};

/// A figure the user states without further word.
#[must_use]
pub fn stated(value: GramsPerKwh) -> Intensity {
    Intensity {
        value,
        provenance: Provenance::of(Source::named("stated by the user")),
        shares: Shares::default(),
    }
}

/// The longest name of a source, in characters.
const LONGEST_SOURCE: usize = 200;

/// The user's own table of intensities.
#[derive(Debug, Clone, Default)]
pub struct UserTable {
    rows: BTreeMap<ZoneId, Vec<(Option<i32>, Intensity)>>,
}

/// A table of intensities that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BadTable {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] UnreadableFile),
    /// A row is not what is expected.
    #[error("line {line} of {} is not `zone,g_per_kwh[,year][,source]`: {why}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The line of the row.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
    /// A row has no usable zone.
    #[error("line {line} of {}: the zone `{}` is not a name such as US-CA", .path.display(), .zone.escape_debug())]
    Zone {
        /// The file.
        path: PathBuf,
        /// The line of the row.
        line: u64,
        /// The text of its zone.
        zone: String,
    },
    /// A row has an impossible intensity.
    #[error("line {line} of {}", .path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// The line of the row.
        line: u64,
        /// What is wrong with the intensity.
        source: OutOfRange,
    },
}

#[derive(Deserialize)]
struct Row {
    zone: String,
    #[serde(alias = "carbon_intensity", alias = "intensity")]
    g_per_kwh: f64,
    #[serde(default)]
    year: Option<i32>,
    #[serde(default)]
    source: Option<String>,
}

/// What is wrong with a row, with columns counted from 1.
fn in_words(error: &csv::DeserializeError) -> String {
    use csv::DeserializeErrorKind::{ParseFloat, ParseInt};
    match (error.kind(), error.field()) {
        (ParseFloat(_), Some(column)) => format!("column {} is not a number", column + 1),
        (ParseInt(_), Some(column)) => format!("column {} is not a whole number", column + 1),
        _ => error.to_string(),
    }
}

impl UserTable {
    /// Reads `zone,g_per_kwh[,year][,source]`, with a header.
    pub fn read(path: &Path) -> Result<Self, BadTable> {
        const LARGEST: u64 = 64 << 20;
        Self::parse(&read_text(path, LARGEST)?, path)
    }

    fn parse(text: &str, path: &Path) -> Result<Self, BadTable> {
        let mut reader = csv::ReaderBuilder::new()
            .trim(csv::Trim::All)
            .from_reader(text.as_bytes());
        let mut rows: BTreeMap<ZoneId, Vec<(Option<i32>, Intensity)>> = BTreeMap::new();
        for (line, row) in (2..).zip(reader.deserialize::<Row>()) {
            let path = path.to_owned();
            let row = match row {
                Ok(row) => row,
                Err(error) => {
                    let why = match error.kind() {
                        csv::ErrorKind::Deserialize { err, .. } => in_words(err),
                        _ => error.to_string(),
                    };
                    return Err(BadTable::Unreadable { path, line, why });
                }
            };
            let Ok(zone) = row.zone.parse::<ZoneId>() else {
                return Err(BadTable::Zone {
                    path,
                    line,
                    zone: row.zone,
                });
            };
            let value = match GramsPerKwh::new(row.g_per_kwh) {
                Ok(value) => value,
                Err(source) => return Err(BadTable::Value { path, line, source }),
            };
            let source = row.source.map_or_else(
                || path.display().to_string(),
                |name| escape::line(&name).chars().take(LONGEST_SOURCE).collect(),
            );
            let mut intensity = stated(value);
            intensity.provenance.source = Source::named(source);
            intensity.provenance.year = row.year;
            rows.entry(zone).or_default().push((row.year, intensity));
        }
        Ok(Self { rows })
    }

    /// The figure for a zone: that of the year if there is one, else the newest.
    #[must_use]
    pub fn of(&self, zone: &ZoneId, year: Option<i32>) -> Option<Intensity> {
        let rows = self.rows.get(zone)?;
        rows.iter()
            .find(|(of, _)| year.is_some() && *of == year)
            .or_else(|| rows.iter().max_by_key(|(of, _)| *of))
            .map(|(_, intensity)| intensity.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<UserTable, BadTable> {
        UserTable::parse(text, Path::new("mine.csv"))
    }

    #[test]
    fn the_year_asked_for_wins_and_then_the_newest() {
        let given = read("zone,g_per_kwh,year\nlab,10,2020\nlab,20,2022\n").unwrap();
        let of = |year| given.of(&"LAB".parse().unwrap(), year).unwrap().value.get();
        assert_eq!(
            (of(Some(2020)), of(None), of(Some(1999))),
            (10.0, 20.0, 20.0)
        );
        assert_eq!(given.of(&"XX".parse().unwrap(), None), None);
    }

    #[test]
    fn a_name_of_a_source_stays_in_its_line_and_ends() {
        let name = format!("a\u{1b}[2J{}", "b".repeat(500));
        let given = read(&format!("zone,g_per_kwh,source\nlab,10,{name}\n")).unwrap();
        let source = given
            .of(&"LAB".parse().unwrap(), None)
            .unwrap()
            .provenance
            .source
            .name;
        assert!(source.starts_with("a [2Jb"), "{source}");
        assert_eq!(source.chars().count(), LONGEST_SOURCE);
    }

    #[test]
    fn an_impossible_figure_names_its_line() {
        let error = read("zone,g_per_kwh\na1,5\nb2,-5\n").unwrap_err();
        assert_eq!(error.to_string(), "line 3 of mine.csv");
        assert!(read("zone,g_per_kwh\n../x,5\n").is_err());
        assert!(read("zone,g_per_kwh\nUS,much\n").is_err());
    }
}
