use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::legacy::{LegacyInfo, LocalTimes};
use super::lines::{Line, Lines};
use super::pickle::PickleError;
use super::{DATA_FILE, FOLDER, INFO_FILE, Row, legacy, pickle, schema_1};
use crate::files;
use crate::model::{Info, SCHEMA};

/// `info.json` holds a few kB, and some more where it lists Python packages.
const LARGEST_INFO: usize = 16 << 20;

/// One run's log, opened for reading.
#[derive(Debug)]
pub struct Record {
    /// What was run, where and when.
    pub info: Info,
    /// Start and end by a clock whose time zone was not recorded; only in foreign logs.
    pub local_times: LocalTimes,
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
    Nonsense {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
}

impl Record {
    /// Opens the log of the run in this folder.
    pub fn open(run: &Path) -> Result<Self, ReadError> {
        let folder = run.join(FOLDER);
        let data = folder.join(DATA_FILE);
        let lines = Lines::new(open_file(&data)?);
        let LegacyInfo { info, local_times } = read_info(&folder)?;
        if info.schema > SCHEMA {
            return Err(ReadError::TooNew { found: info.schema });
        }
        Ok(Self {
            info,
            local_times,
            data,
            lines,
        })
    }

    /// Shows every sample to `visit`, in order; what is no sample is counted and passed over.
    pub fn for_each_row(
        &mut self,
        mut visit: impl FnMut(&Row) -> Result<(), String>,
    ) -> Result<Damage, ReadError> {
        let mut damage = Damage::default();
        let mut number = 0;
        let mut samples = 0;
        loop {
            let next = self.lines.next_line().map_err(|source| ReadError::Io {
                path: self.data.clone(),
                source,
            })?;
            let Some(line) = next else { break };
            number += 1;
            let parsed = match line {
                Line::Whole(bytes) | Line::Cut(bytes) if bytes.trim_ascii().is_empty() => continue,
                Line::Whole(bytes) | Line::Cut(bytes) => Row::parse(bytes).ok(),
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
            visit(&row).map_err(|why| ReadError::Nonsense {
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

/// The bytes of a log's `info.json`, or none where it has no such file, as in foreign logs.
pub fn info_bytes(folder: &Path) -> Result<Option<Vec<u8>>, ReadError> {
    read_small(&folder.join(INFO_FILE), LARGEST_INFO)
}

/// What `info.json` says, else what `info.pkl` says, else nothing: the samples alone give energy.
fn read_info(folder: &Path) -> Result<LegacyInfo, ReadError> {
    if let Some(bytes) = info_bytes(folder)? {
        let mut info =
            serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_slice(&bytes))
                .map_err(|source| ReadError::Info {
                    path: folder.join(INFO_FILE),
                    source,
                })?;
        schema_1::upgrade(&mut info);
        return Ok(LegacyInfo {
            info,
            local_times: LocalTimes::default(),
        });
    }
    let foreign = folder.join(legacy::INFO_FILE);
    match read_small(&foreign, pickle::LARGEST_FILE)? {
        None => Ok(LegacyInfo::default()),
        Some(bytes) => LegacyInfo::from_pickle(&bytes).map_err(|source| ReadError::Pickle {
            path: foreign,
            source,
        }),
    }
}

/// A whole file of bounded size, or none where there is no such file.
fn read_small(path: &Path, largest: usize) -> Result<Option<Vec<u8>>, ReadError> {
    match files::read(path, largest as u64) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(path, error)),
    }
}

fn open_file(path: &Path) -> Result<File, ReadError> {
    files::open(path).map_err(|error| unreadable(path, error))
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
