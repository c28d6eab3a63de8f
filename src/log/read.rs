use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use super::legacy::{LegacyInfo, LocalTimes};
use super::lines::{self, Line, Lines};
use super::pickle::PickleError;
use super::{
    DATA_FILE, FOLDER, INFO_FILE, ImplausibleSample, Row, checksum, legacy, pickle, schema_1,
};
use crate::files;
use crate::model::{Info, SCHEMA};

/// `info.json` holds a few kB, and some more where it lists Python packages or the runs that were merged.
const LARGEST_INFO: usize = 4 << 20;

/// One of these lines may be damaged and the log is still known to have checksums.
const FIRST_LINES: usize = 3;

/// One run's log, opened for reading.
#[derive(Debug)]
pub struct Record {
    /// What was run, where and when.
    pub info: Info,
    /// Start and end by a clock whose time zone was not recorded; only in foreign logs.
    pub local_times: LocalTimes,
    /// The info file has a checksum that is wrong.
    pub info_was_changed: bool,
    data: PathBuf,
    lines: Lines<File>,
}

/// What could not be read of a log that could be read otherwise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Damage {
    /// Lines that are no samples.
    pub bad_lines: u64,
    /// The last line was cut off.
    pub cut: bool,
}

impl Damage {
    /// Lines that are no samples, a last one that was cut off among them.
    #[must_use]
    pub fn all(self) -> u64 {
        self.bad_lines + u64::from(self.cut)
    }
}

/// Why a run's log cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// A file cannot be opened or read.
    #[error("cannot read {}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// A folder, a pipe or a device has the name of a log file.
    #[error("{} is not a regular file", .0.display())]
    NotAFile(PathBuf),
    /// The info file is larger than any.
    #[error("{} is larger than an info file can be", .0.display())]
    TooLarge(PathBuf),
    /// `info.pkl` cannot be read.
    #[error("{} is not a pickle we can read", .path.display())]
    Pickle {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: PickleError,
    },
    /// `info.json` is not one.
    #[error("{} is not an info file", .path.display())]
    Info {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: serde_path_to_error::Error<serde_json::Error>,
    },
    /// A newer version wrote the log.
    #[error("the log has schema {found}, this version reads up to {SCHEMA}: use a newer impact")]
    TooNew {
        /// The schema of the log.
        found: u32,
    },
    /// No line of the file is a sample.
    #[error("{} holds no sample", .0.display())]
    NoSamples(PathBuf),
    /// A sample has values that cannot be.
    #[error("sample {line} of {} does not make sense: {why}", .path.display())]
    Implausible {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: u64,
        /// What is wrong with it.
        why: ImplausibleSample,
    },
}

impl Record {
    /// Opens the log of the run in this folder.
    pub fn open(run: &Path) -> Result<Self, ReadError> {
        Self::open_with(run, None)
    }

    /// The same, where `info.json` has been read before.
    pub fn open_with(run: &Path, info: Option<Vec<u8>>) -> Result<Self, ReadError> {
        let folder = run.join(FOLDER);
        let data = folder.join(DATA_FILE);
        let lines = Lines::new(lines::open(&data).map_err(|error| not_opened(&data, error))?);
        let (LegacyInfo { info, local_times }, info_was_changed) = read_info(&folder, info)?;
        if info.schema > SCHEMA {
            return Err(ReadError::TooNew { found: info.schema });
        }
        Ok(Self {
            info,
            local_times,
            info_was_changed,
            data,
            lines,
        })
    }

    /// Shows every sample to `visit`, in order; what is no sample is counted and passed over.
    pub fn for_each_row(
        &mut self,
        mut visit: impl FnMut(&Row) -> Result<(), ImplausibleSample>,
    ) -> Result<Damage, ReadError> {
        let mut damage = Damage::default();
        let mut number = 0;
        let mut samples = 0;
        let path = &self.data;
        let failed = |source| ReadError::Io {
            path: path.clone(),
            source,
        };
        let first = self.lines.peek(FIRST_LINES).map_err(failed)?;
        let mut is_sealed = { first }.any(checksum::is_sealed);
        loop {
            let next = self.lines.next_line().map_err(failed)?;
            let Some(line) = next else { break };
            number += 1;
            let parsed = match line {
                Line::Whole(bytes) | Line::Cut(bytes) if bytes.trim_ascii().is_empty() => continue,
                Line::Whole(bytes) | Line::Cut(bytes) => {
                    let has_checksum = checksum::is_sealed(bytes);
                    is_sealed |= has_checksum;
                    // In a log with checksums a line without one has lost it.
                    Row::parse(bytes)
                        .ok()
                        .filter(|_| has_checksum || !is_sealed)
                }
                Line::TooLong => None,
            };
            let Some(row) = parsed else {
                match line {
                    Line::Cut(_) => damage.cut = true,
                    Line::Whole(_) | Line::TooLong => damage.bad_lines += 1,
                }
                continue;
            };
            if let Some(found) = row.schema.filter(|schema| *schema > SCHEMA) {
                return Err(ReadError::TooNew { found });
            }
            samples += 1;
            visit(&row).map_err(|why| ReadError::Implausible {
                path: self.data.clone(),
                line: number,
                why,
            })?;
        }
        if samples == 0 {
            return Err(ReadError::NoSamples(self.data.clone()));
        }
        Ok(damage)
    }
}

/// Whether two logs without an id are copies: the same samples and the same info, byte by byte.
#[must_use]
pub fn is_copy(one: &Path, other: &Path) -> bool {
    let exists = |run: &Path, name: &str| run.join(FOLDER).join(name).exists();
    same_file(one, other, DATA_FILE)
        && [INFO_FILE, legacy::INFO_FILE]
            .iter()
            .all(|name| same_file(one, other, name) || !(exists(one, name) || exists(other, name)))
}

fn same_file(one: &Path, other: &Path, name: &str) -> bool {
    let open = |run: &Path| lines::open(&run.join(FOLDER).join(name));
    let (Ok(one), Ok(other)) = (open(one), open(other)) else {
        return false;
    };
    let length = |file: &File| file.metadata().map(|about| about.len()).ok();
    length(&one) == length(&other) && {
        let (mut one, mut other) = (BufReader::new(one), BufReader::new(other));
        loop {
            let (Ok(a), Ok(b)) = (one.fill_buf(), other.fill_buf()) else {
                return false;
            };
            let both = a.len().min(b.len());
            if a[..both] != b[..both] {
                return false;
            }
            if both == 0 {
                return a.len() == b.len();
            }
            one.consume(both);
            other.consume(both);
        }
    }
}

/// The bytes of a log's `info.json`, or none where it has no such file, as in foreign logs.
pub fn info_bytes(folder: &Path) -> Result<Option<Vec<u8>>, ReadError> {
    read_small(&folder.join(INFO_FILE), LARGEST_INFO)
}

/// What `info.json` says, else what `info.pkl` says, else nothing: the samples alone give energy. And whether it was
/// changed after it was written.
fn read_info(folder: &Path, known: Option<Vec<u8>>) -> Result<(LegacyInfo, bool), ReadError> {
    let bytes = match known {
        Some(bytes) => Some(bytes),
        None => info_bytes(folder)?,
    };
    if let Some(bytes) = bytes {
        let mut info =
            serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_slice(&bytes))
                .map_err(|source| ReadError::Info {
                    path: folder.join(INFO_FILE),
                    source,
                })?;
        schema_1::upgrade(&mut info);
        let info = LegacyInfo {
            info,
            local_times: LocalTimes::default(),
        };
        let was_changed = !checksum::is_intact(bytes.trim_ascii_end());
        return Ok((info, was_changed));
    }
    let foreign = folder.join(legacy::INFO_FILE);
    let info = match read_small(&foreign, pickle::LARGEST_FILE)? {
        None => LegacyInfo::default(),
        Some(bytes) => LegacyInfo::from_pickle(&bytes).map_err(|source| ReadError::Pickle {
            path: foreign,
            source,
        })?,
    };
    Ok((info, false))
}

/// A whole file of bounded size, or none where there is no such file.
fn read_small(path: &Path, largest: usize) -> Result<Option<Vec<u8>>, ReadError> {
    match files::read(path, largest as u64) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(path, error)),
    }
}

fn not_opened(data: &Path, source: io::Error) -> ReadError {
    match source.kind() {
        // What is too large for an info file is not too large for samples.
        io::ErrorKind::FileTooLarge => ReadError::Io {
            path: data.to_owned(),
            source,
        },
        _ => unreadable(data, source),
    }
}

fn unreadable(path: &Path, source: io::Error) -> ReadError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::InvalidInput => ReadError::NotAFile(path),
        io::ErrorKind::FileTooLarge => ReadError::TooLarge(path),
        _ => ReadError::Io { path, source },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_info_file_larger_than_any_is_refused_and_a_missing_one_is_none() {
        let folder = tempfile::tempdir().unwrap();
        assert!(info_bytes(folder.path()).unwrap().is_none());
        let file = File::create(folder.path().join(INFO_FILE)).unwrap();
        file.set_len(LARGEST_INFO as u64 + 1).unwrap();
        assert!(matches!(
            info_bytes(folder.path()),
            Err(ReadError::TooLarge(_))
        ));
    }
}
