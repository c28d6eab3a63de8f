//! Profiles of other tools, read as data: named spans of time, or times of call paths.

mod chrome;
mod clock;
mod collapsed;
mod json_stream;
mod lines;
mod mprof;
mod names;
mod pstats;
mod pyinstrument;
mod sorted_spans;
mod span_table;
mod speedscope;
mod threads;

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::{Path, PathBuf};

use super::paths::Paths;
use crate::files;
use json_stream::JsonStream;

pub(super) use clock::is_since_1970;
pub(super) use names::{Name, Names};
pub(super) use sorted_spans::{SortedSpans, Span};
pub(super) use threads::{Place, Threads};

/// So many spans are open at once at most.
pub(super) const MOST_OPEN: usize = 1 << 20;
/// So many call paths are told apart.
pub(super) const MOST_PATHS: usize = 1 << 18;

/// What a profile is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProfileFormat {
    /// Chrome's trace events.
    ChromeTrace,
    /// A table of spans.
    Csv,
    /// The statistics of Python's cProfile.
    Pstats,
    /// The JSON of pyinstrument.
    Pyinstrument,
    /// The JSON of speedscope.
    Speedscope,
    /// Stacks with a number of samples, one a line.
    Collapsed,
    /// The memory over time of mprof, with the functions it followed.
    Mprof,
}

impl fmt::Display for ProfileFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ChromeTrace => "Chrome trace",
            Self::Csv => "CSV table of spans",
            Self::Pstats => "cProfile dump",
            Self::Pyinstrument => "pyinstrument JSON",
            Self::Speedscope => "speedscope JSON",
            Self::Collapsed => "collapsed stacks",
            Self::Mprof => "mprof file",
        })
    }
}

/// A profile as it was read.
#[derive(Debug)]
pub(super) struct Profile {
    pub(super) format: ProfileFormat,
    pub(super) names: Names,
    pub(super) times: Times,
    /// Bytes of memory at times in ns since 1970.
    pub(super) memory: Vec<(i64, f64)>,
}

/// What a profile knows of time.
#[derive(Debug)]
pub(super) enum Times {
    /// When each span was.
    Timed(Timed),
    /// Only how much of the time each path took.
    Untimed(Untimed),
}

/// Spans with their times.
#[derive(Debug, Default)]
pub(super) struct Timed {
    pub(super) spans: SortedSpans,
    pub(super) threads: Threads,
    /// Time 0, in ns since 1970, where the profile says so.
    pub(super) base: Option<i64>,
    /// Spans without a time, or that end before they begin.
    pub(super) left_out: u64,
    /// Spans without an end.
    pub(super) unended: u64,
}

/// Own times of call paths.
#[derive(Debug)]
pub(super) struct Untimed {
    pub(super) paths: Paths,
    /// How much each path took itself.
    pub(super) own: Vec<u64>,
    /// How often each path was called, where that is counted.
    pub(super) calls: Option<Vec<u64>>,
    pub(super) unit: Unit,
    /// When the profile began, in ns since 1970, and how long it lasted.
    pub(super) window: Option<(i64, i64)>,
    /// How much each name took with what it called, by number; where the paths do not say it.
    pub(super) with_calls: Option<Vec<u64>>,
    /// How much a name took, with what it called, when another called it.
    pub(super) edges: Vec<(Name, Name, u64)>,
}

/// What own times are counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Nanoseconds,
    Samples,
}

impl Untimed {
    pub(super) fn new(unit: Unit) -> Self {
        Self {
            paths: Paths::with_space_for(MOST_PATHS),
            own: Vec::new(),
            calls: None,
            unit,
            window: None,
            with_calls: None,
            edges: Vec::new(),
        }
    }

    /// Adds to the own time of a path.
    fn add(&mut self, path: u32, own: u64) {
        let path = path as usize;
        if self.own.len() <= path {
            self.own.resize(path + 1, 0);
        }
        self.own[path] = self.own[path].saturating_add(own);
    }
}

/// Why a profile cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// The file, or a temporary one, cannot be read or written.
    #[error("cannot read {}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// It is compressed.
    #[error("{} is compressed", .0.display())]
    Compressed(PathBuf),
    /// It is in no format that is known.
    #[error("{} is no profile in a format that impact reads", .0.display())]
    Unknown(PathBuf),
    /// It breaks the rules of its format.
    #[error("{} is damaged, or is no {format}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What it looks like.
        format: ProfileFormat,
        /// Where, and what is wrong.
        source: Malformed,
    },
    /// It has more of something than can be kept.
    #[error("{} has more than {most} {what}", .path.display())]
    TooMany {
        /// The file.
        path: PathBuf,
        /// Of what.
        what: &'static str,
        /// How many there may be.
        most: usize,
    },
    /// It has no span.
    #[error("{} has no span with a name and a time", .0.display())]
    Empty(PathBuf),
}

/// Where a file breaks the rules of its format.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {why}")]
pub struct Malformed {
    place: String,
    why: String,
}

/// Why a reader gives up.
#[derive(Debug)]
enum Broken {
    Io(io::Error),
    Malformed(Malformed),
    TooMany(&'static str, usize),
}

impl Broken {
    fn at_byte(position: u64, why: &str) -> Self {
        Self::Malformed(Malformed {
            place: format!("byte {position}"),
            why: why.to_owned(),
        })
    }

    fn at_line(line: u64, why: impl Into<String>) -> Self {
        Self::Malformed(Malformed {
            place: format!("line {line}"),
            why: why.into(),
        })
    }
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Reads a profile in any of the formats.
pub(super) fn read(path: &Path) -> Result<Profile, ProfileError> {
    let failed = |source| ProfileError::Io {
        path: path.to_owned(),
        source,
    };
    let mut file = files::open(path).map_err(failed)?;
    let mut head = Vec::new();
    (&file)
        .take(1 << 14)
        .read_to_end(&mut head)
        .map_err(failed)?;
    file.rewind().map_err(failed)?;
    if is_compressed(&head) {
        return Err(ProfileError::Compressed(path.to_owned()));
    }
    let format = format_of(&head, &file)
        .map_err(failed)?
        .ok_or_else(|| ProfileError::Unknown(path.to_owned()))?;
    file.rewind().map_err(failed)?;
    let profile = read_as(format, file).map_err(|broken| {
        let path = path.to_owned();
        match broken {
            Broken::Io(source) => ProfileError::Io { path, source },
            Broken::TooMany(what, most) => ProfileError::TooMany { path, what, most },
            Broken::Malformed(source) => ProfileError::Malformed {
                path,
                format,
                source,
            },
        }
    })?;
    let is_empty = match &profile.times {
        Times::Timed(timed) => timed.spans.count() == 0 && profile.memory.is_empty(),
        Times::Untimed(untimed) => untimed.own.iter().all(|own| *own == 0),
    };
    if is_empty {
        return Err(ProfileError::Empty(path.to_owned()));
    }
    Ok(profile)
}

fn read_as(format: ProfileFormat, file: File) -> Result<Profile, Broken> {
    let mut memory = Vec::new();
    let with_times = |(timed, names)| (Times::Timed(timed), names);
    let without = |(untimed, names)| (Times::Untimed(untimed), names);
    let (read, names) = match format {
        ProfileFormat::ChromeTrace => with_times(chrome::read(file)?),
        ProfileFormat::Csv => with_times(span_table::read(file)?),
        ProfileFormat::Mprof => with_times(mprof::read(file, &mut memory)?),
        ProfileFormat::Pstats => without(pstats::read(file)?),
        ProfileFormat::Pyinstrument => without(pyinstrument::read(file)?),
        ProfileFormat::Collapsed => without(collapsed::read(file)?),
        ProfileFormat::Speedscope => speedscope::read(file)?,
    };
    Ok(Profile {
        format,
        names,
        times: read,
        memory,
    })
}

fn is_compressed(head: &[u8]) -> bool {
    let magics: [&[u8]; 5] = [
        b"\x1f\x8b",
        b"\x28\xb5\x2f\xfd",
        b"PK\x03\x04",
        b"BZh",
        b"\xfd7zXZ",
    ];
    magics.iter().any(|magic| head.starts_with(magic))
}

/// The format of a file, by how it begins.
fn format_of(head: &[u8], file: &File) -> io::Result<Option<ProfileFormat>> {
    if pstats::is_dump(head) {
        return Ok(Some(ProfileFormat::Pstats));
    }
    match head.trim_ascii_start().first() {
        Some(b'[') => return Ok(Some(ProfileFormat::ChromeTrace)),
        Some(b'{') => return json_format(file),
        _ => {}
    }
    let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if mprof::is_line(first) {
        return Ok(Some(ProfileFormat::Mprof));
    }
    if span_table::is_header(first) {
        return Ok(Some(ProfileFormat::Csv));
    }
    let mut lines = head
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    let is_stack = lines.next().is_some_and(collapsed::is_line);
    Ok(is_stack.then_some(ProfileFormat::Collapsed))
}

/// The format of a JSON object, by its members.
fn json_format(file: &File) -> io::Result<Option<ProfileFormat>> {
    const LONGEST_KEY: usize = 64;
    let mut stream = JsonStream::new(file);
    let mut before = b'{';
    let mut next = || -> Result<Option<Option<ProfileFormat>>, Broken> {
        stream.expect(before)?;
        before = b',';
        stream.peek()?;
        let key = stream.string(LONGEST_KEY)?;
        stream.expect(b':')?;
        let format = match &key[..] {
            b"root_frame" => ProfileFormat::Pyinstrument,
            b"profiles" | b"shared" => ProfileFormat::Speedscope,
            key if chrome::is_list_of_events(key) => ProfileFormat::ChromeTrace,
            _ => {
                stream.pass_over()?;
                let goes_on = stream.peek()? == Some(b',');
                return Ok(goes_on.then_some(None));
            }
        };
        Ok(Some(Some(format)))
    };
    loop {
        match next() {
            Ok(Some(None)) => {}
            Ok(Some(format)) => return Ok(format),
            Err(Broken::Io(error)) => return Err(error),
            Ok(None) | Err(_) => return Ok(None),
        }
    }
}
