//! A file that gets its name only once it is complete.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

/// A file that is written beside its destination and then renamed; it is removed if that does not happen.
///
/// The temporary file is always a new one, so that a link planted in the folder is never written
/// through. A destination that is a link is replaced, not followed.
#[derive(Debug)]
pub(crate) struct AtomicFile {
    destination: PathBuf,
    file: NamedTempFile,
    permissions: Option<Permissions>,
}

impl AtomicFile {
    /// A file with the default permissions of the process.
    pub(crate) fn new(destination: &Path) -> io::Result<Self> {
        #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has a mode to set"))]
        let mut builder = Builder::new();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        Self::create(destination, builder, None)
    }

    /// A file with these permissions, readable by nobody else until it is complete.
    pub(crate) fn with_permissions(
        destination: &Path,
        permissions: Permissions,
    ) -> io::Result<Self> {
        Self::create(destination, Builder::new(), Some(permissions))
    }

    /// A file that only its owner may read.
    pub(crate) fn private(destination: &Path) -> io::Result<Self> {
        Self::create(destination, Builder::new(), None)
    }

    /// A file with the permissions of the one it replaces, or the default where there is none.
    pub(crate) fn keeping_permissions(destination: &Path) -> io::Result<Self> {
        match fs::metadata(destination) {
            Ok(old) if old.is_file() => Self::with_permissions(destination, old.permissions()),
            _ => Self::new(destination),
        }
    }

    fn create(
        destination: &Path,
        mut builder: Builder,
        permissions: Option<Permissions>,
    ) -> io::Result<Self> {
        // A rename is atomic only inside one folder.
        let folder = match destination.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        Ok(Self {
            destination: destination.to_owned(),
            file: builder
                .prefix(".impact-")
                .suffix(".part")
                .tempfile_in(folder)
                .map_err(without_path)?,
            permissions,
        })
    }

    /// Waits until the bytes are on the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.as_file().sync_all()
    }

    /// Replaces the destination, after the bytes are on the disk.
    pub(crate) fn replace(self) -> io::Result<()> {
        self.sync()?;
        self.replace_without_sync()
    }

    /// Replaces the destination; a loss of power may still lose the bytes.
    pub(crate) fn replace_without_sync(self) -> io::Result<()> {
        self.set_permissions()?;
        self.file.persist(&self.destination)?;
        Ok(())
    }

    /// Gives the file its name; an error if there is already something of that name.
    pub(crate) fn create_new(self) -> io::Result<()> {
        self.set_permissions()?;
        self.sync()?;
        self.file.persist_noclobber(&self.destination)?;
        Ok(())
    }

    fn set_permissions(&self) -> io::Result<()> {
        match &self.permissions {
            Some(permissions) => self.file.as_file().set_permissions(permissions.clone()),
            None => Ok(()),
        }
    }
}

/// The error without the name of the temporary file, which tells users nothing.
fn without_path(error: io::Error) -> io::Error {
    let why = match error.kind() {
        io::ErrorKind::NotFound => "the folder does not exist",
        io::ErrorKind::PermissionDenied => "the folder may not be written to",
        _ => return error,
    };
    io::Error::new(error.kind(), why)
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn mode_of(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn the_old_file_stays_until_the_new_one_is_complete_and_nothing_is_left_beside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "old").unwrap();
        let mut unfinished = AtomicFile::new(&path).unwrap();
        unfinished.write_all(b"half").unwrap();
        drop(unfinished);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        let mut complete = AtomicFile::new(&path).unwrap();
        complete.write_all(b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        complete.replace().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_link_at_the_destination_is_not_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let (path, precious) = (folder.path().join("file"), folder.path().join("precious"));
        fs::write(&precious, "precious").unwrap();
        std::os::unix::fs::symlink(&precious, &path).unwrap();
        let write = || {
            let mut file = AtomicFile::new(&path).unwrap();
            file.write_all(b"new").unwrap();
            file
        };
        let error = write().create_new().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        write().replace().unwrap();
        assert_eq!(fs::read(&precious).unwrap(), b"precious");
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn a_file_has_the_permissions_asked_for_or_those_of_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let plain = folder.path().join("plain");
        fs::write(&plain, "").unwrap();
        AtomicFile::new(&path).unwrap().replace().unwrap();
        assert_eq!(mode_of(&path), mode_of(&plain));
        AtomicFile::with_permissions(&path, Permissions::from_mode(0o640))
            .unwrap()
            .replace()
            .unwrap();
        assert_eq!(mode_of(&path), 0o640);
        AtomicFile::keeping_permissions(&path)
            .unwrap()
            .replace()
            .unwrap();
        assert_eq!(mode_of(&path), 0o640);
    }
}
