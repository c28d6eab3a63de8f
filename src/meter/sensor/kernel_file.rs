use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::files;

/// A file of /sys or /proc that stays open and is read again from its start.
///
/// This costs a seventh of opening, reading and closing it each time.
#[derive(Debug)]
pub(crate) struct KernelFile {
    file: File,
}

impl KernelFile {
    /// Does not wait for a pipe that somebody has put in its place under a moved root.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            file: files::open(path)?,
        })
    }

    /// As much of the file as fits into `buffer`.
    pub(crate) fn bytes<'b>(&self, buffer: &'b mut [u8]) -> io::Result<&'b [u8]> {
        let length = self.file.read_at(buffer, 0)?;
        Ok(&buffer[..length])
    }

    /// The same, as text.
    pub(crate) fn text<'b>(&self, buffer: &'b mut [u8]) -> io::Result<&'b str> {
        std::str::from_utf8(self.bytes(buffer)?)
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "the file is not text"))
    }

    /// The number that the file consists of.
    pub(crate) fn number(&self) -> io::Result<u64> {
        let mut buffer = [0; 64];
        let length = self.file.read_at(&mut buffer, 0)?;
        let text = buffer[..length].trim_ascii();
        let number = std::str::from_utf8(text)
            .ok()
            .and_then(|text| text.parse().ok());
        number.ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                "the file does not hold a number",
            )
        })
    }
}

/// Larger files hold more than one line.
const LARGEST_LINE: u64 = 4096;

/// The trimmed text of a small file; none if it cannot be read or is empty.
pub(crate) fn line(path: &Path) -> Option<String> {
    let text = files::read_text(path, LARGEST_LINE).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
