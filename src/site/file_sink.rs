use std::io;
use std::path::Path;

use super::site_writer::WriteError;

/// Where the files of a site go as they are made, from several threads at once.
pub(super) trait FileSink: Sync {
    /// Takes a file of the site; one that several pages share counts once.
    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), WriteError>;

    /// Lets `make` write a file too large for memory by its path, and gives the size it tells.
    fn write_with(
        &self,
        name: &str,
        make: &dyn Fn(&Path) -> io::Result<u64>,
    ) -> Result<u64, WriteError>;
}
