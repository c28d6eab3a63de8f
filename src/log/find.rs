use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use super::{DATA_FILE, FOLDER};

/// The runs under some folders, in the order of their paths, and what could not be looked into.
#[derive(Debug, Default)]
pub struct Found {
    /// The folders of the runs.
    pub runs: Vec<PathBuf>,
    /// Folders that could not be opened, and why.
    pub unreadable: Vec<(PathBuf, String)>,
}

/// Finds every folder that holds a log.
///
/// Links to folders are followed, each target once, so that no loop is walked; a run that can be
/// reached twice, by links or by roots that overlap, is found once. `seen` is told the number of runs
/// found so far.
pub fn find(roots: &[PathBuf], seen: &dyn Fn(usize)) -> Found {
    let mut runs = BTreeSet::new();
    let mut unreadable = Vec::new();
    let mut followed = BTreeSet::new();
    for root in roots {
        // A root may be a log folder itself.
        let root = if root.file_name().is_some_and(|name| name == FOLDER) {
            root.parent().unwrap_or(root)
        } else {
            root
        };
        // In order, so that it is always the same of two links that is followed.
        let mut walk = WalkDir::new(root)
            .follow_links(true)
            .sort_by_file_name()
            .into_iter();
        while let Some(entry) = walk.next() {
            match entry {
                Ok(entry) if is_linked_folder(&entry) && !followed.insert(real(entry.path())) => {
                    walk.skip_current_dir();
                }
                Ok(entry) => {
                    let run = run_of(entry.path()).filter(|_| entry.file_type().is_dir());
                    if let Some(run) = run {
                        runs.insert(run.to_owned());
                        seen(runs.len());
                    }
                }
                Err(error) => {
                    // A run whose log cannot be opened is a run; its reader will say why.
                    if let Some(run) = error.path().and_then(run_of) {
                        runs.insert(run.to_owned());
                        continue;
                    }
                    if leads_nowhere(&error) {
                        continue;
                    }
                    let path = error.path().unwrap_or(root).to_owned();
                    let why = error
                        .io_error()
                        .map_or_else(|| error.to_string(), ToString::to_string);
                    unreadable.push((path, why));
                }
            }
        }
    }
    // One walk without links finds nothing twice.
    let runs = if roots.len() == 1 && followed.is_empty() {
        runs.into_iter().collect()
    } else {
        without_doubles(runs)
    };
    Found { runs, unreadable }
}

/// The same log may be spelled in several ways; the first spelling in order is kept.
fn without_doubles(runs: BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let mut logs = BTreeSet::new();
    runs.into_iter()
        .filter(|run| logs.insert(real(&run.join(FOLDER))))
        .collect()
}

/// The run whose log is in this folder.
fn run_of(folder: &Path) -> Option<&Path> {
    folder.parent().filter(|_| folder.ends_with(FOLDER))
}

fn is_linked_folder(entry: &DirEntry) -> bool {
    entry.depth() > 0 && entry.path_is_symlink() && entry.file_type().is_dir()
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// A link to a folder that is being walked already, to nothing or to itself.
fn leads_nowhere(error: &walkdir::Error) -> bool {
    let is_link = error.depth() > 0 && error.path().is_some_and(Path::is_symlink);
    let hides_something = error
        .io_error()
        .is_some_and(|error| error.kind() == io::ErrorKind::PermissionDenied);
    error.loop_ancestor().is_some() || (is_link && !hides_something)
}

/// Whether a folder is a run's own folder.
#[must_use]
pub fn is_run(folder: &Path) -> bool {
    folder.join(FOLDER).join(DATA_FILE).is_file()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn run(folder: &Path) {
        fs::create_dir_all(folder.join(FOLDER)).unwrap();
    }

    fn found_under(root: &Path) -> Vec<PathBuf> {
        let found = find(&[root.to_owned()], &|_| {});
        assert_eq!(found.unreadable, []);
        let below = |run: PathBuf| run.strip_prefix(root).unwrap().to_owned();
        found.runs.into_iter().map(below).collect()
    }

    #[test]
    fn a_run_behind_a_link_is_found_and_one_reached_twice_is_found_once() {
        let folder = tempfile::tempdir().unwrap();
        let (logs, other) = (folder.path().join("logs"), folder.path().join("other"));
        run(&logs.join("a"));
        run(&other.join("b"));
        symlink(&other, logs.join("first")).unwrap();
        symlink(&other, logs.join("second")).unwrap();
        symlink(logs.join("a"), logs.join("z")).unwrap();
        fs::create_dir(logs.join("y")).unwrap();
        symlink(logs.join("a").join(FOLDER), logs.join("y").join(FOLDER)).unwrap();
        assert_eq!(found_under(&logs), [PathBuf::from("a"), "first/b".into()]);
    }

    #[test]
    fn a_run_whose_log_leads_nowhere_is_still_a_run() {
        let logs = tempfile::tempdir().unwrap();
        fs::create_dir(logs.path().join("a")).unwrap();
        symlink("nowhere", logs.path().join("a").join(FOLDER)).unwrap();
        assert_eq!(found_under(logs.path()), [PathBuf::from("a")]);
    }

    #[test]
    fn loops_and_links_to_nothing_are_neither_errors_nor_endless() {
        let folder = tempfile::tempdir().unwrap();
        let logs = folder.path().join("logs");
        run(&logs.join("a"));
        symlink(&logs, logs.join("a/up")).unwrap();
        symlink("nowhere", logs.join("dangling")).unwrap();
        symlink("itself", logs.join("itself")).unwrap();
        // Followed from everywhere to everywhere, these would be a walk of 20! folders.
        for from in 0..20 {
            let from = logs.join(format!("net{from}"));
            fs::create_dir(&from).unwrap();
            for to in 0..20 {
                symlink(logs.join(format!("net{to}")), from.join(to.to_string())).unwrap();
            }
        }
        run(&logs.join("net7/b"));
        assert_eq!(found_under(&logs).len(), 2);
    }
}
