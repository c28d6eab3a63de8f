use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::EntryKind;

/// A folder by its path. Links are refused, but another process may put one in between.
#[derive(Debug)]
pub(super) struct Handle(PathBuf);

impl Handle {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        if fs::symlink_metadata(path)?.is_dir() {
            Ok(Self(path.to_owned()))
        } else {
            Err(io::Error::new(
                io::ErrorKind::NotADirectory,
                format!("{} is a link or not a folder", path.display()),
            ))
        }
    }

    pub(super) fn folder(&self, name: &OsStr) -> io::Result<Self> {
        Self::open(&self.0.join(name))
    }

    pub(super) fn make_folder(&self, name: &OsStr, _mode: u32) -> io::Result<()> {
        fs::create_dir(self.0.join(name))
    }

    pub(super) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_dir(self.0.join(name))
    }

    pub(super) fn entries(&self) -> io::Result<Vec<(OsString, EntryKind)>> {
        fs::read_dir(&self.0)?
            .map(|entry| {
                let entry = entry?;
                let about = entry.file_type()?;
                let kind = if about.is_file() {
                    EntryKind::File
                } else if about.is_dir() {
                    EntryKind::Folder
                } else {
                    EntryKind::Other
                };
                Ok((entry.file_name(), kind))
            })
            .collect()
    }

    pub(super) fn file(&self, name: &OsStr) -> io::Result<File> {
        File::open(self.regular(name)?)
    }

    pub(super) fn create_file(&self, name: &OsStr) -> io::Result<File> {
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        options.open(self.0.join(name))
    }

    pub(super) fn lock_file(&self, name: &OsStr) -> io::Result<File> {
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        match self.regular(name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => options.open(self.0.join(name)),
        }
    }

    /// An open file cannot be replaced on Windows.
    pub(super) fn has(&self, _name: &OsStr, _file: &File) -> io::Result<bool> {
        Ok(true)
    }

    pub(super) fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    pub(super) fn rename(&self, from: &OsStr, into: &Self, to: &OsStr) -> io::Result<()> {
        fs::rename(self.0.join(from), into.0.join(to))
    }

    pub(super) fn link(&self, name: &OsStr, into: &Self) -> io::Result<()> {
        fs::hard_link(self.regular(name)?, into.0.join(name))
    }

    pub(super) fn exchange(&self, _a: &OsStr, _b: &OsStr) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn is_own(&self) -> io::Result<bool> {
        Ok(true)
    }

    pub(super) fn mode(&self) -> io::Result<u32> {
        Ok(0)
    }

    pub(super) fn set_mode(&self, _mode: u32) -> io::Result<()> {
        Ok(())
    }

    fn regular(&self, name: &OsStr) -> io::Result<PathBuf> {
        let path = self.0.join(name);
        if fs::symlink_metadata(&path)?.is_file() {
            Ok(path)
        } else {
            Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "not a regular file",
            ))
        }
    }
}
