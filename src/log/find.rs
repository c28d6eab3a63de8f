use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::{DATA_FILE, FOLDER};

/// The runs under some folders, in the order of their paths, and what could not be looked into.
#[derive(Debug, Default)]
pub struct Found {
    pub runs: Vec<PathBuf>,
    pub unreadable: Vec<(PathBuf, String)>,
}

/// Finds every folder that holds a log.
///
/// Links are followed only where a root is one, so that no run is found twice and no loop is walked;
/// roots that overlap give each run once. `seen` is told the number of runs found so far.
pub fn find(roots: &[PathBuf], seen: &dyn Fn(usize)) -> Found {
    let mut runs = BTreeSet::new();
    let mut unreadable = Vec::new();
    for root in roots {
        // A root may be a log folder itself.
        let root = if root.file_name().is_some_and(|name| name == FOLDER) {
            root.parent().unwrap_or(root)
        } else {
            root
        };
        for entry in WalkDir::new(root) {
            match entry {
                Ok(entry) if entry.file_type().is_dir() && entry.file_name() == FOLDER => {
                    if let Some(run) = entry.path().parent() {
                        runs.insert(run.to_owned());
                        seen(runs.len());
                    }
                }
                Ok(_) => {}
                Err(error) => {
                    let path = error.path().unwrap_or(root).to_owned();
                    let why = error
                        .io_error()
                        .map_or_else(|| error.to_string(), ToString::to_string);
                    unreadable.push((path, why));
                }
            }
        }
    }
    // One walk finds nothing twice.
    let runs = if roots.len() == 1 {
        runs.into_iter().collect()
    } else {
        without_doubles(runs)
    };
    Found { runs, unreadable }
}

/// Two roots may spell the same folder differently; the first spelling in order is kept.
fn without_doubles(runs: BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let mut real = BTreeSet::new();
    runs.into_iter()
        .filter(|run| real.insert(run.canonicalize().unwrap_or_else(|_| run.clone())))
        .collect()
}

/// Whether a folder is a run's own folder.
#[must_use]
pub fn is_run(folder: &Path) -> bool {
    folder.join(FOLDER).join(DATA_FILE).is_file()
}
