use std::ffi::{OsStr, OsString};
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::site_writer::{WriteError, failed};
use crate::files::{EntryKind, Folder};

/// Long enough that nobody guesses a name.
const RANDOM_CHARACTERS: usize = 16;
const ENDING: &str = ".part";

/// A new folder beside the destination of a site, in which it is made; removed if it is not used.
///
/// A lock beside it keeps two processes from writing the same site.
#[derive(Debug)]
pub(super) struct Staging {
    pub(super) parent: Folder,
    /// The name of the site's folder.
    pub(super) site: OsString,
    pub(super) name: OsString,
    pub(super) folder: Folder,
    /// Never read: dropping it ends the lock. None on file systems without locks.
    _lock: Option<SiteLock>,
}

impl Staging {
    /// Locks the site, removes what a killed process left behind, and makes a new folder.
    pub(super) fn beside(out: &Path) -> Result<Self, WriteError> {
        // `.` and `..` have no name of their own.
        let whole = match out.file_name() {
            Some(_) => out.to_owned(),
            None => out.canonicalize().map_err(failed(out))?,
        };
        let parent_path = match whole.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let site = whole.file_name().unwrap_or(OsStr::new("site")).to_owned();
        std::fs::create_dir_all(parent_path).map_err(failed(parent_path))?;
        // Resolved, because the user may name a folder by a link; only what is below must be none.
        let resolved = parent_path.canonicalize().map_err(failed(parent_path))?;
        let open = || Folder::open(&resolved).map_err(failed(parent_path));
        let parent = open()?;
        let lock = SiteLock::take(open()?, &site, out)?;
        if lock.is_some() {
            remove_leftovers(&parent, &site);
        }
        let (folder, name) = create(&parent, parent_path, &site).map_err(failed(parent_path))?;
        Ok(Self {
            parent,
            site,
            name,
            folder,
            _lock: lock,
        })
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // After a rename there is nothing to remove; after an exchange it is the earlier site.
        let _ = self.parent.remove_all(&self.name);
    }
}

fn create(parent: &Folder, path: &Path, site: &OsStr) -> io::Result<(Folder, OsString)> {
    let mut names = tempfile::Builder::new();
    let made = names
        .prefix(&prefix(site))
        .suffix(ENDING)
        .rand_bytes(RANDOM_CHARACTERS)
        .make_in(path, |path| {
            let name = path.file_name().unwrap_or_default();
            Ok((parent.create_private(name)?, name.to_owned()))
        })?;
    let (made, mut path) = made.into_parts();
    // It is removed by its name in the open parent, not by its path.
    path.disable_cleanup(true);
    Ok(made)
}

fn prefix(site: &OsStr) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(site);
    prefix.push(".");
    prefix
}

/// Removes folders of killed processes: real folders of this user whose name has the form of a staging folder.
///
/// The lock of the site is held, so none of them is in use.
fn remove_leftovers(parent: &Folder, site: &OsStr) {
    let Ok(entries) = parent.entries() else {
        return;
    };
    for (name, kind) in entries {
        let is_own = kind == EntryKind::Folder
            && is_staging_name(&name, site)
            && parent
                .folder(&name)
                .and_then(|folder| folder.is_own())
                .unwrap_or(false);
        if is_own {
            // What cannot be removed does no harm.
            let _ = parent.remove_all(&name);
        }
    }
}

fn is_staging_name(name: &OsStr, site: &OsStr) -> bool {
    let prefix = prefix(site);
    let random = name
        .as_encoded_bytes()
        .strip_prefix(prefix.as_encoded_bytes())
        .and_then(|rest| rest.strip_suffix(ENDING.as_bytes()));
    random.is_some_and(|random| {
        random.len() == RANDOM_CHARACTERS && random.iter().all(u8::is_ascii_alphanumeric)
    })
}

/// The lock of a site: an empty file beside it that exists while somebody writes the site.
#[derive(Debug)]
struct SiteLock {
    parent: Folder,
    name: OsString,
    file: File,
}

impl SiteLock {
    fn take(parent: Folder, site: &OsStr, out: &Path) -> Result<Option<Self>, WriteError> {
        let mut name = prefix(site);
        name.push("lock");
        let shown: PathBuf = out.with_file_name(&name);
        loop {
            let file = parent.lock_file(&name).map_err(failed(&shown))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(WriteError::Busy(out.to_owned())),
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                    return Ok(None);
                }
                Err(TryLockError::Error(error)) => return Err(failed(&shown)(error)),
            }
            // The process before may have removed the file between the opening and the lock.
            if parent.has(&name, &file).map_err(failed(&shown))? {
                return Ok(Some(Self { parent, name, file }));
            }
        }
    }
}

impl Drop for SiteLock {
    fn drop(&mut self) {
        // Removed before the lock ends, so that nobody holds a lock on a file without a name.
        let _ = self.parent.remove_entry(&self.name);
        let _ = self.file.unlock();
    }
}
