//! Adds carbon intensities to the samples of a log, and keeps every other byte of it.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;

use serde_json::value::RawValue;

use super::checksum;
use super::lines::{self, LONGEST_LINE, PassedOver};
use super::row::{Row, intensity_sources};
use crate::files::AtomicFile;
use crate::model::{Info, Provenance};
use crate::units::GramsPerKwh;

const INTENSITY: &str = "realtime_carbon_intensity";
const SOURCE: &str = "realtime_source";

/// What the samples of a log say about their carbon intensity.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Survey {
    /// Samples with an intensity.
    pub known: u64,
    /// Samples that may be given one.
    pub missing: u64,
    /// The times of the first and the last of those, in seconds since 1970.
    pub span: Option<(f64, f64)>,
}

/// How many samples were given an intensity, and how many found none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Filled {
    /// Samples that were given an intensity.
    pub filled: u64,
    /// Samples at a time whose intensity is not known.
    pub gaps: u64,
}

/// What to do with intensities the log already has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// They stay, unless they are averages over years.
    Keep,
    /// They are replaced.
    Replace,
}

impl Recorded {
    fn allows(self, row: &Row<'_>, averages: Averages) -> bool {
        self == Self::Replace || row.carbon_intensity.known().is_none() || averages.has(row)
    }
}

/// Which intensities are averages over years in samples that do not say who stated theirs.
///
/// Development versions of 0.1.0 wrote such averages into samples when no service answered.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Averages {
    /// None of them.
    #[default]
    None,
    /// Those with this value.
    Equal(GramsPerKwh),
    /// All of them.
    All,
}

impl Averages {
    /// What the info says about its samples.
    #[must_use]
    pub fn of(info: &Info) -> Self {
        let sources = &info.realtime_sources;
        let averages = sources.iter().filter(|source| source.year.is_some());
        let value = info
            .region
            .as_ref()
            .and_then(|region| region.carbon_intensity);
        match (averages.count(), value) {
            (0, _) => Self::None,
            (count, _) if count == sources.len() => Self::All,
            (_, Some(value)) => Self::Equal(value),
            (_, None) => Self::None,
        }
    }

    fn has(self, row: &Row<'_>) -> bool {
        let stated = row.intensity_source.and_then(intensity_sources);
        match (stated, self) {
            (Some(sources), _) => sources.iter().any(|source| source.year.is_some()),
            (None, Self::None) => false,
            (None, Self::Equal(value)) => row.carbon_intensity.known() == Some(value),
            (None, Self::All) => true,
        }
    }
}

/// The intensities of a time, and who states them.
#[derive(Debug)]
pub struct History<'a, F> {
    /// The intensity at a time in seconds since 1970.
    pub at: F,
    /// Who states them.
    pub sources: &'a [Provenance],
}

/// Counts the samples that may be given an intensity.
pub fn survey(data: &Path, recorded: Recorded, averages: Averages) -> io::Result<Survey> {
    let mut survey = Survey::default();
    let mut pieces = Pieces::new(BufReader::new(lines::open(data)?));
    while pieces.next_piece()? {
        let Some(row) = pieces.sample() else {
            continue;
        };
        if recorded.allows(&row, averages) {
            let (first, last) = survey.span.unwrap_or((row.timestamp, row.timestamp));
            survey.span = Some((first.min(row.timestamp), last.max(row.timestamp)));
            survey.missing += 1;
        } else {
            survey.known += 1;
        }
    }
    Ok(survey)
}

/// Gives samples the intensity of their time, in a new file that then replaces the log.
///
/// Lines that are no samples, and samples at a time without an intensity, stay as they are. A log that
/// a tracker has locked, or that changes meanwhile, is not replaced: the tracker would go on writing
/// into the old file.
pub fn fill(
    data: &Path,
    recorded: Recorded,
    averages: Averages,
    history: &History<'_, impl Fn(f64) -> Option<GramsPerKwh>>,
) -> io::Result<Filled> {
    let data = data.canonicalize()?;
    let _lock = lock(&data)?;
    let before = fs::metadata(&data)?;
    let mut to = BufWriter::new(AtomicFile::with_permissions(&data, before.permissions())?);
    let filled = copy(&data, &mut to, recorded, averages, history)?;
    let file = to.into_inner().map_err(io::IntoInnerError::into_error)?;
    // The log may grow while the disk writes.
    file.sync()?;
    let after = fs::metadata(&data)?;
    if (after.len(), after.modified()?) != (before.len(), before.modified()?) {
        return Err(still_being_written());
    }
    if filled.filled > 0 {
        file.replace()?;
    }
    Ok(filled)
}

/// What [`fill`] would do, without doing it.
pub fn preview(
    data: &Path,
    recorded: Recorded,
    averages: Averages,
    history: &History<'_, impl Fn(f64) -> Option<GramsPerKwh>>,
) -> io::Result<Filled> {
    let _lock = lock(data)?;
    copy(data, &mut io::sink(), recorded, averages, history)
}

/// Locks a log until the file is closed; an error if a tracker has locked it.
///
/// A tracker locks the samples' file from its start to its end. Some file systems have no locks; there,
/// only a change of the file shows that a tracker is running.
fn lock(data: &Path) -> io::Result<File> {
    // Opening a pipe for reading and writing would succeed; a pipe is no log.
    let for_reading = lines::open(data)?;
    // Locks of network file systems need a file that is open for writing.
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(data)
        .unwrap_or(for_reading);
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(still_being_written()),
        _ => Ok(file),
    }
}

fn still_being_written() -> io::Error {
    io::Error::other("it is still being written")
}

fn copy(
    data: &Path,
    to: &mut impl Write,
    recorded: Recorded,
    averages: Averages,
    history: &History<'_, impl Fn(f64) -> Option<GramsPerKwh>>,
) -> io::Result<Filled> {
    let mut counts = Filled::default();
    let sources = serde_json::to_string(history.sources)?;
    let mut pieces = Pieces::new(BufReader::new(lines::open(data)?));
    while pieces.next_piece()? {
        let missing = pieces.sample().filter(|row| recorded.allows(row, averages));
        let known = missing.as_ref().and_then(|row| (history.at)(row.timestamp));
        // With its source in the same line, a value cannot be taken for one of another source.
        let filled = known.and_then(|value| {
            let value = value.get().to_string();
            with_fields(&pieces.bytes, &[(INTENSITY, &value), (SOURCE, &sources)])
        });
        counts.filled += u64::from(filled.is_some());
        counts.gaps += u64::from(missing.is_some() && filled.is_none());
        to.write_all(filled.as_deref().unwrap_or(&pieces.bytes))?;
    }
    Ok(counts)
}

/// Every byte of a file in bounded memory: lines with their line feeds, one too long for a sample in parts.
struct Pieces<R> {
    file: R,
    bytes: Vec<u8>,
    is_part: bool,
    goes_on: bool,
    passed_over: PassedOver,
}

impl<R: BufRead> Pieces<R> {
    fn new(file: R) -> Self {
        Self {
            file,
            bytes: Vec::new(),
            is_part: false,
            goes_on: false,
            passed_over: PassedOver::default(),
        }
    }

    /// Reads the next piece, if there is one.
    fn next_piece(&mut self) -> io::Result<bool> {
        self.bytes.clear();
        let read = (&mut self.file)
            .take(LONGEST_LINE as u64)
            .read_until(b'\n', &mut self.bytes)?;
        let went_on = self.goes_on;
        self.goes_on = read == LONGEST_LINE && !self.bytes.ends_with(b"\n");
        self.is_part = went_on || self.goes_on;
        if self.is_part {
            self.passed_over.add(read)?;
        }
        Ok(read > 0)
    }

    /// The sample, if the piece is one.
    fn sample(&self) -> Option<Row<'_>> {
        if self.is_part {
            return None;
        }
        Row::parse(self.bytes.trim_ascii_end()).ok()
    }
}

/// A JSON object with these fields set, all its other bytes unchanged; none if it is no object. Its checksum, if it has
/// one, is made anew.
#[must_use]
pub fn with_fields(object: &[u8], fields: &[(&str, &str)]) -> Option<Vec<u8>> {
    let set = |object: &[u8]| {
        fields
            .iter()
            .try_fold(object.to_vec(), |object, (name, value)| {
                with_field(&object, name, value)
            })
    };
    let text = object.trim_ascii_end();
    let Some(unsealed) = checksum::unsealed(text) else {
        return set(object);
    };
    let mut filled = set(&unsealed)?;
    checksum::seal(&mut filled);
    filled.extend_from_slice(&object[text.len()..]);
    Some(filled)
}

/// A JSON object with one field set, all its other bytes unchanged; none if it is no object.
fn with_field(object: &[u8], name: &str, value: &str) -> Option<Vec<u8>> {
    let fields: BTreeMap<String, &RawValue> = serde_json::from_slice(object).ok()?;
    let (start, end, text) = if let Some(old) = fields.get(name) {
        // The value is a part of the object, so the distance of their addresses is its place.
        let start = old.get().as_ptr() as usize - object.as_ptr() as usize;
        (start, start + old.get().len(), value.to_owned())
    } else {
        let end = object.iter().rposition(|byte| *byte == b'}')?;
        let at = object[..end].trim_ascii_end().len();
        let comma = if fields.is_empty() { "" } else { "," };
        (at, at, format!("{comma}\"{name}\":{value}"))
    };
    Some([&object[..start], text.as_bytes(), &object[end..]].concat())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::Source;

    fn set(object: &str) -> Option<String> {
        with_field(object.as_bytes(), INTENSITY, "5.5")
            .map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn a_field_is_set_and_every_other_byte_kept() {
        assert_eq!(
            set("{ \"timestamp\" : 1.50 }\r\n").unwrap(),
            "{ \"timestamp\" : 1.50,\"realtime_carbon_intensity\":5.5 }\r\n"
        );
        assert_eq!(
            set(
                "{\"realtime_carbon_intensity\": \"n/a\", \"x\":{\"realtime_carbon_intensity\":1}}"
            )
            .unwrap(),
            "{\"realtime_carbon_intensity\": 5.5, \"x\":{\"realtime_carbon_intensity\":1}}"
        );
        assert_eq!(set("{}").unwrap(), "{\"realtime_carbon_intensity\":5.5}");
        assert_eq!(set("[1]"), None);
        assert_eq!(set("{\"timestamp\":"), None);
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_given_a_field(object in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = with_field(&object, INTENSITY, "1");
        }

        #[test]
        fn other_fields_stay_what_they_were(
            others in proptest::collection::btree_map(".{0,6}", any::<i64>(), 0..5),
            had in any::<bool>(),
        ) {
            let mut fields: BTreeMap<String, serde_json::Value> = others
                .into_iter()
                .map(|(name, value)| (name, value.into()))
                .collect();
            if had {
                fields.insert(INTENSITY.into(), "n/a".into());
            }
            let before = serde_json::to_vec(&fields).unwrap();
            let after = with_field(&before, INTENSITY, "1.5").unwrap();
            fields.insert(INTENSITY.into(), 1.5.into());
            let read: BTreeMap<String, serde_json::Value> = serde_json::from_slice(&after).unwrap();
            prop_assert_eq!(read, fields);
        }
    }

    fn log(text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data.json");
        fs::write(&data, text).unwrap();
        (folder, data)
    }

    const LOG: &str = concat!(
        "{\"timestamp\":10,\"a\":1.10}\n",
        "{\"timestamp\":20,\"realtime_carbon_intensity\":\"n/a\"}\n",
        "not a sample\n",
        "{\"timestamp\":30,\"realtime_carbon_intensity\":7}\n",
        "{\"timestamp\":40}\n",
        "{\"timestamp\":50"
    );

    #[test]
    fn a_filled_line_has_a_checksum_that_is_right_if_it_had_one() {
        let mut line = br#"{"timestamp":10,"realtime_carbon_intensity":7}"#.to_vec();
        checksum::seal(&mut line);
        line.push(b'\n');
        let filled = with_fields(&line, &[(INTENSITY, "9")]).unwrap();
        assert!(filled.ends_with(b"\"}\n"));
        let row = Row::parse(filled.trim_ascii_end()).unwrap();
        assert_eq!(row.carbon_intensity.known(), GramsPerKwh::new(9.0).ok());
    }

    fn until_thirty(at: f64) -> Option<GramsPerKwh> {
        GramsPerKwh::new(at * 2.0).ok().filter(|_| at <= 30.0)
    }

    fn fill_by(
        data: &Path,
        recorded: Recorded,
        at: impl Fn(f64) -> Option<GramsPerKwh>,
    ) -> io::Result<Filled> {
        let sources = [Provenance::of(Source::named("a test"))];
        let history = History {
            at,
            sources: &sources,
        };
        fill(data, recorded, Averages::None, &history)
    }

    fn preview_by(
        data: &Path,
        recorded: Recorded,
        at: impl Fn(f64) -> Option<GramsPerKwh>,
    ) -> io::Result<Filled> {
        let history = History { at, sources: &[] };
        preview(data, recorded, Averages::None, &history)
    }

    const BY: &str = ",\"realtime_source\":[{\"source\":\"a test\"}]";

    #[test]
    fn samples_without_an_intensity_are_filled_and_the_rest_of_the_file_is_kept() {
        let (folder, data) = log(LOG);
        let survey = survey(&data, Recorded::Keep, Averages::None).unwrap();
        assert_eq!((survey.known, survey.missing), (1, 3));
        assert_eq!(survey.span, Some((10.0, 40.0)));
        let filled = fill_by(&data, Recorded::Keep, until_thirty).unwrap();
        assert_eq!(filled, Filled { filled: 2, gaps: 1 });
        assert_eq!(
            fs::read_to_string(&data).unwrap(),
            LOG.replace(
                "1.10}",
                &format!("1.10,\"realtime_carbon_intensity\":20{BY}}}")
            )
            .replace("\"n/a\"", &format!("40{BY}"))
        );
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_line_too_long_for_a_sample_is_kept_and_no_part_of_it_is_one() {
        let sample = "{\"timestamp\":10}\n";
        let long = " ".repeat(LONGEST_LINE) + sample;
        let (_folder, data) = log(&format!("{long}{sample}"));
        assert_eq!(
            survey(&data, Recorded::Keep, Averages::None)
                .unwrap()
                .missing,
            1
        );
        let filled = fill_by(&data, Recorded::Keep, until_thirty).unwrap();
        assert_eq!(filled, Filled { filled: 1, gaps: 0 });
        let text = fs::read_to_string(&data).unwrap();
        assert!(text.starts_with(&long));
        assert_eq!(
            &text[long.len()..],
            format!("{{\"timestamp\":10,\"realtime_carbon_intensity\":20{BY}}}\n")
        );
    }

    #[test]
    fn no_more_than_the_longest_line_is_held_at_once() {
        let endless = io::repeat(b'x').take(3 * LONGEST_LINE as u64);
        let mut pieces = Pieces::new(BufReader::new(endless));
        let mut seen = Vec::new();
        while pieces.next_piece().unwrap() {
            seen.push(pieces.bytes.len());
        }
        assert_eq!(seen, [LONGEST_LINE; 3]);
    }

    #[test]
    fn recorded_intensities_are_replaced_only_when_told_to() {
        let (_folder, data) = log(LOG);
        fill_by(&data, Recorded::Replace, until_thirty).unwrap();
        let text = fs::read_to_string(&data).unwrap();
        assert!(text.contains("{\"timestamp\":30,\"realtime_carbon_intensity\":60,"));
    }

    #[test]
    fn a_log_that_nothing_is_known_for_is_left_alone() {
        let (folder, data) = log(LOG);
        let filled = fill_by(&data, Recorded::Keep, |_| None).unwrap();
        assert_eq!(filled, Filled { filled: 0, gaps: 3 });
        assert_eq!(fs::read_to_string(&data).unwrap(), LOG);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_log_that_a_tracker_holds_is_left_alone_until_it_lets_go() {
        let (folder, data) = log(LOG);
        let tracker = OpenOptions::new().append(true).open(&data).unwrap();
        tracker.lock_shared().unwrap();
        for refused in [fill_by, preview_by].map(|fill| fill(&data, Recorded::Keep, until_thirty)) {
            let error = refused.unwrap_err();
            assert_eq!(error.to_string(), "it is still being written");
        }
        assert_eq!(fs::read_to_string(&data).unwrap(), LOG);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        drop(tracker);
        assert_eq!(
            fill_by(&data, Recorded::Keep, until_thirty).unwrap().filled,
            2
        );
    }

    #[test]
    fn a_log_that_grows_meanwhile_is_left_alone() {
        let (folder, data) = log(LOG);
        let grow = |_| {
            fs::write(&data, format!("{LOG}}}\n")).unwrap();
            GramsPerKwh::new(1.0).ok()
        };
        assert!(fill_by(&data, Recorded::Keep, grow).is_err());
        assert_eq!(fs::read_to_string(&data).unwrap(), format!("{LOG}}}\n"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
