use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use serde::{Serialize, Serializer};

use super::coverage::{Verdict, same_as, verdicts};
use super::related::Related;
use super::summarise::{summarise, summarise_uncovered, summarise_with};
use super::{AccountedRun, Assumptions, RunSummary};
use crate::log::find::find;

/// The runs under some folders in the order of their paths, and what was left out.
#[derive(Debug, Default)]
pub struct Collection {
    /// The folder of each run and what its log says.
    pub runs: Vec<(PathBuf, RunSummary)>,
    /// What is not among the runs.
    pub skipped: Vec<Skipped>,
}

impl Collection {
    /// Every run with its footprint and its tally under these assumptions.
    pub fn accounted(&self, assumptions: &Assumptions) -> impl Iterator<Item = AccountedRun<'_>> {
        self.runs
            .iter()
            .map(move |(path, run)| AccountedRun::new(path, run, assumptions))
    }
}

/// What was left out, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// The run or folder.
    #[serde(serialize_with = "as_shown")]
    pub path: PathBuf,
    /// What kind of thing it is.
    #[serde(skip)]
    pub kind: SkippedKind,
    /// Why, for people.
    pub reason: String,
}

/// Writes a path that is not UTF-8 with replacement characters, where serde would fail.
fn as_shown<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

/// What kind of thing was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkippedKind {
    /// A run that has no figures.
    Run,
    /// A folder that could not be opened; how many runs it holds is not known.
    Folder,
    /// A run that is counted already: a copy, or a part of another.
    Counted,
}

/// How far a collection is; called from several threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// So many runs found so far.
    Found(usize),
    /// So many runs read, of so many.
    Read(usize, usize),
}

/// What was kept of each run that counts, in the order of their paths, and what was left out.
#[derive(Debug)]
pub struct Gathered<K> {
    /// What was kept of the runs.
    pub kept: Vec<K>,
    /// What is not among the runs.
    pub skipped: Vec<Skipped>,
}

/// Reads every run under the folders, in parallel; the result is the same for any number of threads.
pub fn collect(folders: &[PathBuf], progress: &(dyn Fn(Progress) + Sync)) -> Collection {
    let gathered = gather(folders, progress, |path, run| (path.to_owned(), run));
    Collection {
        runs: gathered.kept,
        skipped: gathered.skipped,
    }
}

/// What became of one run.
enum Outcome<K> {
    Kept(K),
    /// Other logs have to be read before it is known for which time it counts.
    Held(Box<RunSummary>),
    Failed(String),
    /// A copy, which is not read.
    Copy(usize),
}

/// As [`collect`], but keeps of each run only what `keep` makes of it, so that memory grows with that.
///
/// Runs that other logs name, or that name others, are held until all are read.
pub fn gather<K: Send>(
    folders: &[PathBuf],
    progress: &(dyn Fn(Progress) + Sync),
    keep: impl Fn(&Path, RunSummary) -> K + Sync,
) -> Gathered<K> {
    let found = find(folders, &|runs| progress(Progress::Found(runs)));
    let runs = found.runs;
    let related = Related::among(&runs);
    let read = AtomicUsize::new(0);
    let outcomes: Vec<Outcome<K>> = runs
        .par_iter()
        .enumerate()
        .with_max_len(1)
        .map(|(index, path)| {
            let outcome = if let Some(first) = related.original(index) {
                Outcome::Copy(first)
            } else {
                match summarise_with(path, related.take_info(index), 0, |_| {}) {
                    Ok((run, _)) if related.is_concerned(index) => Outcome::Held(Box::new(run)),
                    Ok((run, _)) => Outcome::Kept(keep(path, run)),
                    Err(error) => Outcome::Failed(with_causes(&error)),
                }
            };
            let number = read.fetch_add(1, Ordering::Relaxed) + 1;
            progress(Progress::Read(number, runs.len()));
            outcome
        })
        .collect();
    let unreadable = found.unreadable.into_iter();
    let mut skipped: Vec<Skipped> = unreadable
        .map(|(path, reason)| Skipped {
            path,
            kind: SkippedKind::Folder,
            reason,
        })
        .collect();
    let failed: BTreeSet<usize> = (0..runs.len())
        .filter(|index| matches!(outcomes[*index], Outcome::Failed(_)))
        .collect();
    let mut kept: Vec<(usize, K)> = Vec::with_capacity(runs.len());
    let mut held = Vec::new();
    for (index, outcome) in outcomes.into_iter().enumerate() {
        let path = &runs[index];
        match outcome {
            Outcome::Kept(run) => kept.push((index, run)),
            Outcome::Held(run) => held.push((index, path, run)),
            Outcome::Failed(reason) => skipped.push(unusable(path, reason)),
            // A copy of a log that cannot be read cannot be read either.
            Outcome::Copy(first) if failed.contains(&first) => match summarise(path) {
                Ok(run) => kept.push((index, keep(path, run))),
                Err(error) => skipped.push(unusable(path, with_causes(&error))),
            },
            Outcome::Copy(first) => {
                let reason = same_as(&runs[first]);
                skipped.push(counted_already(path, &reason));
            }
        }
    }
    let claims: Vec<(&Path, &RunSummary)> = held
        .iter()
        .map(|(_, path, run)| (path.as_path(), &**run))
        .collect();
    let mut verdicts = verdicts(&claims);
    for (position, (index, path, run)) in held.into_iter().enumerate() {
        match verdicts.remove(&position) {
            None => kept.push((index, keep(path, *run))),
            Some(Verdict::Counted(reason)) => skipped.push(counted_already(path, &reason)),
            Some(Verdict::Partly(covered, why)) => {
                // The log was readable a moment ago; a run that no longer is stays as it was.
                let rest = summarise_uncovered(path, covered, &why).unwrap_or(*run);
                kept.push((index, keep(path, rest)));
            }
        }
    }
    kept.sort_by_key(|(index, _)| *index);
    skipped.sort_by(|a, b| a.path.cmp(&b.path));
    Gathered {
        kept: kept.into_iter().map(|(_, run)| run).collect(),
        skipped,
    }
}

fn unusable(path: &Path, reason: String) -> Skipped {
    Skipped {
        path: path.to_owned(),
        kind: SkippedKind::Run,
        reason,
    }
}

fn counted_already(path: &Path, reason: &str) -> Skipped {
    Skipped {
        path: path.to_owned(),
        kind: SkippedKind::Counted,
        reason: reason.to_owned(),
    }
}

/// What [`collect`] would leave out of these runs because it is counted already.
///
/// Needs no complete reading: only those logs are read whose info file says
/// that they may be a copy, a part of another, or the run of which there is one.
#[must_use]
pub(crate) fn counted_among(runs: &[PathBuf], related: &Related) -> Vec<Skipped> {
    let concerned: Vec<(&Path, RunSummary)> = (0..runs.len())
        .into_par_iter()
        .filter(|index| related.is_concerned(*index))
        .filter_map(|index| Some((runs[index].as_path(), summarise(&runs[index]).ok()?)))
        .collect();
    let claims: Vec<(&Path, &RunSummary)> =
        concerned.iter().map(|(path, run)| (*path, run)).collect();
    let mut counted: Vec<Skipped> = verdicts(&claims)
        .into_iter()
        .filter_map(|(index, verdict)| match verdict {
            Verdict::Counted(reason) => Some(counted_already(concerned[index].0, &reason)),
            Verdict::Partly(..) => None,
        })
        .collect();
    let mut is_readable = BTreeMap::new();
    for (copy, first) in related.copies() {
        let first = &runs[first];
        let readable = is_readable.entry(first);
        if *readable.or_insert_with(|| summarise(first).is_ok()) {
            counted.push(counted_already(&runs[copy], &same_as(first)));
        }
    }
    counted
}

/// An error and its causes, in one line.
pub(crate) fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
