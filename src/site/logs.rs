use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::segment::Segments;
use crate::ledger::collect::counted_among;
use crate::ledger::related::Related;
use crate::ledger::{Skipped, SkippedKind};
use crate::log::find::find;
use crate::log::{FOLDER, KeptInfo};

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

    /// Shows only the last folder of a path that leads out of the working folder.
    pub fn shorten(&mut self) {
        let shown = Path::new(&self.shown);
        let leads_out = shown.is_absolute() || shown.starts_with("..");
        if let Some(name) = shown.file_name().filter(|_| leads_out) {
            self.shown = name.to_string_lossy().into_owned();
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
    /// Its info file, which has been read already.
    pub(super) info: KeptInfo,
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
        let found = find(&folders, &|_| {});
        let related = Related::among(&found.runs);
        let mut skipped = counted_among(&found.runs, &related);
        let counted: BTreeSet<PathBuf> = skipped.iter().map(|run| run.path.clone()).collect();
        skipped.extend(found.unreadable.into_iter().map(|(path, reason)| Skipped {
            path,
            kind: SkippedKind::Folder,
            reason,
        }));
        let runs = found.runs.into_iter().enumerate();
        let runs = runs.filter(|(_, path)| !counted.contains(path));
        let runs = runs.filter_map(|(index, path)| {
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
                info: related
                    .take_info(index)
                    .map(KeptInfo::new)
                    .unwrap_or_default(),
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
