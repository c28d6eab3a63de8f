use std::fs::File;
use std::io;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Why a file the user named cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnreadableFile {
    /// The system cannot read it.
    #[error("cannot read {}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is not UTF-8.
    #[error("cannot read {}", .path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// Where the text breaks off.
        source: std::string::FromUtf8Error,
    },
    /// It is larger than any sensible file of its kind.
    #[error("{} is larger than {megabytes} MB", .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit.
        megabytes: u64,
    },
}

/// The text of a file of at most this many bytes.
pub(super) fn read_text(path: &Path, largest: u64) -> Result<String, UnreadableFile> {
    let path = path.to_owned();
    let mut bytes = Vec::new();
    // The size of the file is not asked for: a pipe or device has none.
    let read = File::open(&path).and_then(|file| file.take(largest + 1).read_to_end(&mut bytes));
    if let Err(source) = read {
        return Err(UnreadableFile::Io { path, source });
    }
    if bytes.len() as u64 > largest {
        let megabytes = largest >> 20;
        return Err(UnreadableFile::TooLarge { path, megabytes });
    }
    String::from_utf8(bytes).map_err(|source| UnreadableFile::NotText { path, source })
}
