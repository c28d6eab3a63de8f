use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::segment::Segments;
use crate::ledger::{Skipped, SkippedKind, counted_among};
use crate::log::FOLDER;
use crate::log::find::find;

/// A folder of logs.
#[derive(Debug, Clone)]
pub struct LogRoot {
    pub path: PathBuf,
    /// As the user wrote it: filters search in this.
    pub shown: String,
}

impl LogRoot {
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self {
            shown: with_slashes(&path),
            path,
        }
    }

    /// A folder that a spec names relative to its own.
    #[must_use]
    pub fn beside(spec: &Path, path: &Path) -> Self {
        Self {
            shown: with_slashes(path),
            path: spec.parent().unwrap_or(Path::new("")).join(path),
        }
    }

    /// Where to look for runs: a root may be a log folder itself.
    pub(super) fn run_folder(&self) -> &Path {
        if self.path.file_name().is_some_and(|name| name == FOLDER) {
            self.path.parent().unwrap_or(&self.path)
        } else {
            &self.path
        }
    }
}

/// The log of one run, not read yet.
#[derive(Debug)]
pub(super) struct RunLog {
    pub(super) path: PathBuf,
    /// Which root it lies under.
    pub(super) root: usize,
    /// Its path below the root.
    pub(super) relative: String,
    /// The root as the user wrote it, and the path below.
    pub(super) shown: String,
    /// The folder of its page, below `run/`.
    pub(super) segment: String,
}

/// Every run below the roots in the order of their paths, and what is left out: what is counted
/// already, and what could not be looked into.
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
        // By what the user wrote: logs that were moved give the same site.
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
