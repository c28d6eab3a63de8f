use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// A file of /sys or /proc that stays open and is read again from its start.
///
/// Reading an open file costs a seventh of opening, reading and closing it.
#[derive(Debug)]
pub struct KernelFile {
    file: File,
}

impl KernelFile {
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            file: File::open(path)?,
        })
    }

    /// As much of the file as fits into `buffer`.
    pub fn bytes<'b>(&self, buffer: &'b mut [u8]) -> io::Result<&'b [u8]> {
        let length = self.file.read_at(buffer, 0)?;
        Ok(&buffer[..length])
    }

    /// The same, as text.
    pub fn text<'b>(&self, buffer: &'b mut [u8]) -> io::Result<&'b str> {
        std::str::from_utf8(self.bytes(buffer)?)
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "the file is not text"))
    }

    /// The number the file consists of.
    pub fn number(&self) -> io::Result<u64> {
        let mut buffer = [0; 64];
        self.text(&mut buffer)?.trim().parse().map_err(|_| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                "the file does not hold a number",
            )
        })
    }
}

/// The trimmed text of a small file, or nothing if it cannot be read or is empty.
#[must_use]
pub fn line(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
