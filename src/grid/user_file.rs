use std::io;
use std::path::{Path, PathBuf};

use crate::files;

/// A file the user named that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {}", .path.display())]
#[non_exhaustive]
pub struct UnreadableFile {
    /// The file.
    pub path: PathBuf,
    /// Why: missing, not readable, not a regular file, too large or not UTF-8.
    pub source: io::Error,
}

/// The text of a file of at most this many bytes.
pub(super) fn read_text(path: &Path, largest: u64) -> Result<String, UnreadableFile> {
    files::read_text(path, largest).map_err(|source| UnreadableFile {
        path: path.to_owned(),
        source,
    })
}
