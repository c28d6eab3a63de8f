use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::TempDir;

use super::file_sink::FileSink;
use super::site_writer::{WriteError, failed, is_same, listed, same_file};

/// Compares each file of a site with the one on disk as soon as it is made.
#[derive(Debug)]
pub(super) struct SiteChecker {
    site: PathBuf,
    scope: CheckScope,
    /// For files that are made by their path; not beside the site, which may be read-only.
    scratch: TempDir,
    made: AtomicUsize,
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
}

impl SiteChecker {
    pub(super) fn of(site: &Path, scope: CheckScope) -> Result<Self, WriteError> {
        Ok(Self {
            site: site.to_owned(),
            scope,
            scratch: tempfile::tempdir().map_err(failed(&std::env::temp_dir()))?,
            made: AtomicUsize::default(),
            files: Mutex::default(),
            differing: Mutex::default(),
        })
    }

    pub(super) fn finish(self) -> FileDifferences {
        let files = std::mem::take(&mut *lock(&self.files));
        let left_over = listed(&self.site)
            .into_iter()
            .filter(|name| self.scope.covers(name) && !files.contains(name))
            .collect();
        FileDifferences {
            files: files.len(),
            differing: std::mem::take(&mut *lock(&self.differing)),
            left_over,
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
            self.note(name, is_same(&self.site.join(name), bytes));
        }
        Ok(())
    }

    fn write_with(
        &self,
        name: &str,
        make: &dyn Fn(&Path) -> io::Result<u64>,
    ) -> Result<u64, WriteError> {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let path = self.scratch.path().join(number.to_string());
        let size = make(&path).map_err(failed(&path))?;
        if self.is_new(name) {
            let same = same_file(&self.site.join(name), &path).unwrap_or(false);
            self.note(name, same);
        }
        fs::remove_file(&path).map_err(failed(&path))?;
        Ok(size)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
