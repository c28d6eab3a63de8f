use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::file_sink::FileSink;
use super::manifest::{MANIFEST, Manifest};
use super::site_writer::{WriteError, failed, is_same, same_file};
use crate::files::Folder;

/// Compares each file of a site with the one on disk as soon as it is made.
#[derive(Debug)]
pub(super) struct SiteChecker {
    site: Folder,
    scope: CheckScope,
    files: Mutex<BTreeSet<String>>,
    differing: Mutex<BTreeSet<String>>,
}

/// Which files can be compared byte by byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckScope {
    /// Every file of the site.
    All,
    /// All but HTML and assets, because the templates that the site was made with are not given.
    WithoutPages,
    /// None, because another version of impact wrote the site.
    FiguresOnly,
}

impl CheckScope {
    fn covers(self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::WithoutPages => {
                let is_page = Path::new(name)
                    .extension()
                    .is_some_and(|ending| ending == "html");
                !is_page && !name.starts_with("assets/")
            }
            Self::FiguresOnly => false,
        }
    }
}

/// How a site differs from the files on disk.
#[derive(Debug, Default)]
pub(super) struct FileDifferences {
    pub(super) files: usize,
    /// Files that are missing or have other bytes.
    pub(super) differing: BTreeSet<String>,
    /// Files on disk that the site no longer has.
    pub(super) left_over: BTreeSet<String>,
    /// Whether the site lists its files and says that all of them are in place.
    pub(super) is_finished: bool,
}

impl SiteChecker {
    pub(super) fn of(site: &Path, scope: CheckScope) -> Result<Self, WriteError> {
        Ok(Self {
            // Resolved, because a site may be looked at by a link.
            site: site
                .canonicalize()
                .and_then(|site| Folder::open(&site))
                .map_err(failed(site))?,
            scope,
            files: Mutex::default(),
            differing: Mutex::default(),
        })
    }

    pub(super) fn finish(self) -> FileDifferences {
        let files = std::mem::take(&mut *lock(&self.files));
        let manifest = Manifest::read(&self.site);
        let is_finished = manifest
            .as_ref()
            .is_some_and(|manifest| !manifest.unfinished);
        let listed = manifest.unwrap_or_default().files.into_iter();
        let left_over = listed
            .filter(|name| name != MANIFEST && self.scope.covers(name) && !files.contains(name))
            .collect();
        FileDifferences {
            files: files.len(),
            differing: std::mem::take(&mut *lock(&self.differing)),
            left_over,
            is_finished,
        }
    }

    /// Whether the file can be compared and has not been compared yet.
    fn is_new(&self, name: &str) -> bool {
        self.scope.covers(name) && lock(&self.files).insert(name.to_owned())
    }

    fn note(&self, name: &str, is_same: bool) {
        if !is_same {
            lock(&self.differing).insert(name.to_owned());
        }
    }
}

impl FileSink for SiteChecker {
    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), WriteError> {
        if self.is_new(name) {
            self.note(name, is_same(&self.site, name, bytes));
        }
        Ok(())
    }

    fn write_with(
        &self,
        name: &str,
        make: &dyn Fn(File) -> io::Result<File>,
    ) -> Result<u64, WriteError> {
        // Not beside the site, which may be read-only.
        let failed = || failed(&std::env::temp_dir());
        let mut file = tempfile::tempfile().and_then(make).map_err(failed())?;
        let size = file.metadata().map_err(failed())?.len();
        if self.is_new(name) {
            let same = same_file(&self.site, name, &mut file).unwrap_or(false);
            self.note(name, same);
        }
        Ok(size)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
