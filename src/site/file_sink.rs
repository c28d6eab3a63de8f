use std::fs::File;
use std::io;

use super::site_writer::WriteError;

/// Takes the files of a site as they are made, from several threads at once.
pub(super) trait FileSink: Sync {
    /// Takes a file; one that several pages share may come more than once.
    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), WriteError>;

    /// Lets `make` write a file that may be too large for memory and give it back, and returns its size.
    fn write_with(
        &self,
        name: &str,
        make: &dyn Fn(File) -> io::Result<File>,
    ) -> Result<u64, WriteError>;
}
