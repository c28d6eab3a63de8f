//! A folder whose entries are reached without following links.

#[cfg_attr(unix, path = "by_descriptor.rs")]
#[cfg_attr(not(unix), path = "by_path.rs")]
mod handle;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::Path;

use super::regular_file::if_regular;
use handle::Handle;

/// A folder. Paths in it are relative, have slashes, and lead through no link.
#[derive(Debug)]
pub(crate) struct Folder(Handle);

/// What an entry of a folder is; a link is `Other`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    File,
    Folder,
    Other,
}

impl Folder {
    /// Opens a folder; an error if the last part of the path is a link.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Handle::open(path).map(Self)
    }

    /// Makes a folder that only its owner may enter; an error if there is something of that name.
    pub(crate) fn create_private(&self, name: &OsStr) -> io::Result<Self> {
        self.0.make_folder(name, 0o700)?;
        self.folder(name)
    }

    /// The folder of this name.
    pub(crate) fn folder(&self, name: &OsStr) -> io::Result<Self> {
        self.0.folder(name).map(Self)
    }

    /// The names in the folder and what they are.
    pub(crate) fn entries(&self) -> io::Result<Vec<(OsString, EntryKind)>> {
        self.0.entries()
    }

    /// Opens a regular file. Does not wait for the other end of a pipe.
    pub(crate) fn file(&self, path: &str) -> io::Result<File> {
        let (folder, name) = self.walk(path)?;
        if_regular(folder.as_ref().unwrap_or(&self.0).file(name)?)
    }

    /// Creates a file and the folders above it; an error if there is something of that name.
    pub(crate) fn create_file(&self, path: &str) -> io::Result<File> {
        let (folder, name) = self.walk_making(path)?;
        folder.as_ref().unwrap_or(&self.0).create_file(name)
    }

    /// Opens a file for a lock, and creates it for its owner where there is none.
    pub(crate) fn lock_file(&self, name: &OsStr) -> io::Result<File> {
        self.0.lock_file(name)
    }

    /// Whether this file is still the one of that name.
    pub(crate) fn has(&self, name: &OsStr, file: &File) -> io::Result<bool> {
        self.0.has(name, file)
    }

    /// Moves a file into another folder, over the file of that path; makes the folders above it.
    pub(crate) fn move_file(&self, path: &str, to: &Self) -> io::Result<()> {
        let (from, name) = self.walk(path)?;
        let (into, _) = to.walk_making(path)?;
        let into = into.as_ref().unwrap_or(&to.0);
        from.as_ref().unwrap_or(&self.0).rename(name, into, name)
    }

    /// Gives a file of one's own the same path in another folder as well.
    pub(crate) fn link_file(&self, path: &str, to: &Self) -> io::Result<()> {
        let (from, name) = self.walk(path)?;
        let (into, _) = to.walk_making(path)?;
        let into = into.as_ref().unwrap_or(&to.0);
        from.as_ref().unwrap_or(&self.0).link(name, into)
    }

    /// Removes a file.
    pub(crate) fn remove_file(&self, path: &str) -> io::Result<()> {
        let (folder, name) = self.walk(path)?;
        folder.as_ref().unwrap_or(&self.0).remove_file(name)
    }

    /// Removes a file, and the folders above it that are empty after that.
    ///
    /// No other thread may create files in them at the same time.
    pub(crate) fn remove_file_and_empty_folders(&self, path: &str) -> io::Result<()> {
        self.remove_file(path)?;
        let mut path = path;
        while let Some((above, _)) = path.rsplit_once('/') {
            let (folder, name) = self.walk(above)?;
            let folder = folder.as_ref().unwrap_or(&self.0);
            if folder.remove_folder(name).is_err() {
                break;
            }
            path = above;
        }
        Ok(())
    }

    /// Removes a file or link of this folder.
    pub(crate) fn remove_entry(&self, name: &OsStr) -> io::Result<()> {
        self.0.remove_file(name)
    }

    /// Gives an entry another name, which must not be taken by a file.
    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.0.rename(from, &self.0, to)
    }

    /// Exchanges two entries in one step; `Unsupported` where the file system cannot.
    pub(crate) fn exchange(&self, a: &OsStr, b: &OsStr) -> io::Result<()> {
        self.0.exchange(a, b)
    }

    /// Removes a folder with everything in it. Links in it are removed, not followed.
    pub(crate) fn remove_all(&self, name: &OsStr) -> io::Result<()> {
        let inside = self.0.folder(name)?;
        Self(inside).clear()?;
        self.0.remove_folder(name)
    }

    fn clear(&self) -> io::Result<()> {
        for (name, kind) in self.entries()? {
            if kind == EntryKind::Folder {
                self.remove_all(&name)?;
            } else {
                self.0.remove_file(&name)?;
            }
        }
        Ok(())
    }

    /// Whether the user of this process owns the folder.
    pub(crate) fn is_own(&self) -> io::Result<bool> {
        self.0.is_own()
    }

    /// Gives the folder the permissions of another one, or the default ones of this process.
    pub(crate) fn open_to_readers(&self, like: Option<&Self>) -> io::Result<()> {
        let like = if let Some(other) = like {
            other.0.mode()?
        } else {
            // The only way to learn the mask of the process without changing it.
            let name = OsStr::new("permissions");
            self.0.make_folder(name, 0o777)?;
            let mode = self.0.folder(name)?.mode()?;
            self.0.remove_folder(name)?;
            mode
        };
        self.0.set_mode(like)
    }

    /// The folder of the last part of a path, none if that is this one, and that part.
    fn walk<'p>(&self, path: &'p str) -> io::Result<(Option<Handle>, &'p OsStr)> {
        self.walk_with(path, false)
    }

    fn walk_making<'p>(&self, path: &'p str) -> io::Result<(Option<Handle>, &'p OsStr)> {
        self.walk_with(path, true)
    }

    fn walk_with<'p>(&self, path: &'p str, make: bool) -> io::Result<(Option<Handle>, &'p OsStr)> {
        if !is_inside(path) {
            let text = format!("{path} leads out of the folder");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let mut here: Option<Handle> = None;
        let mut rest = path;
        while let Some((name, below)) = rest.split_once('/') {
            let folder = here.as_ref().unwrap_or(&self.0);
            let name = OsStr::new(name);
            let inner = match folder.folder(name) {
                Err(error) if make && error.kind() == io::ErrorKind::NotFound => {
                    match folder.make_folder(name, 0o777) {
                        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                            return Err(error);
                        }
                        _ => folder.folder(name)?,
                    }
                }
                other => other?,
            };
            here = Some(inner);
            rest = below;
        }
        Ok((here, OsStr::new(rest)))
    }
}

/// Whether a path is made of plain names only.
pub(crate) fn is_inside(path: &str) -> bool {
    let plain = |name: &str| {
        !matches!(name, "" | "." | "..")
            && !name.contains('\0')
            && (cfg!(unix) || !name.contains(['\\', ':']))
    };
    path.split('/').all(plain)
}
