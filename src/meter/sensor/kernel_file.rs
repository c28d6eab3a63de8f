use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// A file of /sys or /proc that stays open and is read again from its start.
///
/// This costs a seventh of opening, reading and closing it each time.
#[derive(Debug)]
pub(crate) struct KernelFile {
    file: File,
}

impl KernelFile {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            file: File::open(path)?,
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

/// The trimmed text of a small file; none if it cannot be read or is empty.
pub(crate) fn line(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
