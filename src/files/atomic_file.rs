//! A file that takes the place of another once it is complete, and not before.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Names that are taken already, as by a tracker that was killed, before we give up.
const MOST_NAMES: u32 = 1000;

/// A file in the making, beside the one whose place it will take; gone unless it is finished.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    beside: PathBuf,
    file: File,
    mode: Option<u32>,
    is_placed: bool,
}

impl AtomicFile {
    /// A file that everybody may read whom the process lets.
    pub fn of(path: &Path) -> io::Result<Self> {
        Self::create(path, None)
    }

    /// A file with these permissions.
    pub fn with_mode(path: &Path, mode: u32) -> io::Result<Self> {
        Self::create(path, Some(mode))
    }

    /// A file that may be read by whom the old one could, if there is one.
    pub fn with_mode_of_old(path: &Path) -> io::Result<Self> {
        let old = fs::metadata(path).ok().filter(Metadata::is_file);
        Self::create(path, old.map(|old| old.permissions().mode() & 0o7777))
    }

    fn create(path: &Path, mode: Option<u32>) -> io::Result<Self> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        if path.file_name().is_none() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the path has no file name",
            ));
        }
        // Never one that is there: it could be a link that somebody planted.
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        if mode.is_some() {
            // Closed until it has the mode it shall have.
            options.mode(0o600);
        }
        let mut tries = 0;
        loop {
            let beside = folder.join(new_name());
            match options.open(&beside) {
                Ok(file) => {
                    return Ok(Self {
                        path: path.to_owned(),
                        beside,
                        file,
                        mode,
                        is_placed: false,
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    tries += 1;
                    if tries == MOST_NAMES {
                        return Err(error);
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Waits until what was written is on the disk.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Puts the file into its place, after its bytes are on the disk.
    pub fn finish(mut self) -> io::Result<()> {
        if let Some(mode) = self.mode {
            self.file.set_permissions(Permissions::from_mode(mode))?;
        }
        self.sync()?;
        fs::rename(&self.beside, &self.path)?;
        self.is_placed = true;
        Ok(())
    }
}

/// A name that no other thread has asked for; short, whatever the other file is called.
fn new_name() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!(".impact-{}-{number}.part", std::process::id())
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for AtomicFile {
    /// A half-written file is worse than none.
    fn drop(&mut self) {
        if !self.is_placed {
            let _ = fs::remove_file(&self.beside);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode_of(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn the_old_file_stays_until_the_new_one_is_finished_and_nothing_is_left_beside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "old").unwrap();
        let mut unfinished = AtomicFile::of(&path).unwrap();
        unfinished.write_all(b"half").unwrap();
        drop(unfinished);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        let mut finished = AtomicFile::of(&path).unwrap();
        finished.write_all(b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        finished.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_planted_link_is_not_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let (path, precious) = (folder.path().join("file"), folder.path().join("precious"));
        fs::write(&precious, "precious").unwrap();
        let first = AtomicFile::of(&path).unwrap();
        let number: u64 = {
            let name = first.beside.file_stem().unwrap().to_str().unwrap();
            name.rsplit('-').next().unwrap().parse().unwrap()
        };
        // Other tests take numbers too; the next ones are all planted.
        for number in number + 1..number + 100 {
            let name = format!(".impact-{}-{number}.part", std::process::id());
            std::os::unix::fs::symlink(&precious, folder.path().join(name)).unwrap();
        }
        let mut second = AtomicFile::of(&path).unwrap();
        second.write_all(b"new").unwrap();
        second.finish().unwrap();
        assert_eq!(fs::read(&precious).unwrap(), b"precious");
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn a_file_has_the_mode_asked_for_or_that_of_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        AtomicFile::with_mode(&path, 0o640)
            .unwrap()
            .finish()
            .unwrap();
        assert_eq!(mode_of(&path), 0o640);
        AtomicFile::with_mode_of_old(&path)
            .unwrap()
            .finish()
            .unwrap();
        assert_eq!(mode_of(&path), 0o640);
    }
}
