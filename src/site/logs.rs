use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::segment::Segments;
use crate::ledger::{Skipped, SkippedKind, counted_among};
use crate::log::FOLDER;
use crate::log::find::find;

/// A folder with logs in it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LogRoot {
    /// Where it is.
    pub path: PathBuf,
    /// The path as the user wrote it, in which the filters of a spec search.
    pub shown: String,
}

impl LogRoot {
    /// A folder that the user names.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self {
            shown: with_slashes(&path),
            path,
        }
    }

    /// A folder that a spec names relative to its own folder.
    #[must_use]
    pub fn beside(spec: &Path, path: &Path) -> Self {
        Self {
            shown: with_slashes(path),
            path: spec.parent().unwrap_or(Path::new("")).join(path),
        }
    }

    /// The folder to search; if the root is the log of a run, the folder of that run.
    pub(super) fn run_folder(&self) -> &Path {
        if self.path.file_name().is_some_and(|name| name == FOLDER) {
            self.path.parent().unwrap_or(&self.path)
        } else {
            &self.path
        }
    }
}

/// The log of one run, before it is read.
#[derive(Debug)]
pub(super) struct RunLog {
    pub(super) path: PathBuf,
    /// The index of its root.
    pub(super) root: usize,
    /// Its path below the root.
    pub(super) relative: String,
    /// Its path as the user would write it.
    pub(super) shown: String,
    /// The folder of its page, below `run/`.
    pub(super) segment: String,
}

/// The runs below the roots in the order of their paths, and what is left out: runs that are part of
/// another or a copy of it, and folders that cannot be read.
#[derive(Debug)]
pub(super) struct Logs {
    pub(super) runs: Vec<RunLog>,
    pub(super) skipped: Vec<Skipped>,
}

impl Logs {
    pub(super) fn find(roots: &[LogRoot]) -> Self {
        let folders: Vec<PathBuf> = roots
            .iter()
            .map(|root| root.run_folder().to_owned())
            .collect();
        let mut found = find(&folders, &|_| {});
        let mut skipped = counted_among(&found.runs);
        let counted: BTreeSet<&PathBuf> = skipped.iter().map(|run| &run.path).collect();
        found.runs.retain(|run| !counted.contains(run));
        skipped.extend(found.unreadable.into_iter().map(|(path, reason)| Skipped {
            path,
            kind: SkippedKind::Folder,
            reason,
        }));
        let runs = found.runs.into_iter().filter_map(|path| {
            let root = folders.iter().position(|folder| path.starts_with(folder))?;
            let below = path.strip_prefix(&folders[root]).ok()?;
            let relative = if below.as_os_str().is_empty() {
                path.file_name().map_or_else(
                    || "run".to_owned(),
                    |name| name.to_string_lossy().into_owned(),
                )
            } else {
                with_slashes(below)
            };
            let shown = with_slashes(&Path::new(&roots[root].shown).join(below));
            Some(RunLog {
                path,
                root,
                relative,
                shown,
                segment: String::new(),
            })
        });
        let mut runs: Vec<RunLog> = runs.collect();
        // By the paths the user wrote, so that logs in another place give the same site.
        runs.sort_by(|a, b| Path::new(&a.shown).cmp(Path::new(&b.shown)));
        let mut segments = Segments::default();
        for run in &mut runs {
            run.segment = segments.claim(&run.relative);
        }
        Self { runs, skipped }
    }
}

fn with_slashes(path: &Path) -> String {
    let text = path.to_string_lossy();
    if std::path::MAIN_SEPARATOR == '/' {
        text.into_owned()
    } else {
        text.replace(std::path::MAIN_SEPARATOR, "/")
    }
}
