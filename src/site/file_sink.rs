use std::io;
use std::path::Path;

use super::site_writer::WriteError;

/// Takes the files of a site as they are made, from several threads at once.
pub(super) trait FileSink: Sync {
    /// Takes a file; one that several pages share may come more than once.
    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), WriteError>;

    /// Lets `make` write a file that may be too large for memory, and returns its size.
    fn write_with(
        &self,
        name: &str,
        make: &dyn Fn(&Path) -> io::Result<u64>,
    ) -> Result<u64, WriteError>;
}
