use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use chrono::{DateTime, Utc};
use rayon::prelude::*;
use serde::{Serialize, Serializer};

use super::summarise::summarise;
use super::{AccountedRun, Assumptions, RunSummary};
use crate::log::Identity;
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

/// Reads every run under the folders, in parallel; the result is the same for any number of threads.
pub fn collect(folders: &[PathBuf], progress: &(dyn Fn(Progress) + Sync)) -> Collection {
    let found = find(folders, &|runs| progress(Progress::Found(runs)));
    let total = found.runs.len();
    let read = AtomicUsize::new(0);
    let results: Vec<_> = found
        .runs
        .into_par_iter()
        .with_max_len(1)
        .map(|path| {
            let summary = summarise(&path);
            progress(Progress::Read(
                read.fetch_add(1, Ordering::Relaxed) + 1,
                total,
            ));
            (path, summary)
        })
        .collect();
    let mut collection = Collection {
        runs: Vec::with_capacity(total),
        skipped: found
            .unreadable
            .into_iter()
            .map(|(path, reason)| Skipped {
                path,
                kind: SkippedKind::Folder,
                reason,
            })
            .collect(),
    };
    for (path, result) in results {
        match result {
            Ok(summary) => collection.runs.push((path, summary)),
            Err(error) => collection.skipped.push(Skipped {
                path,
                kind: SkippedKind::Run,
                reason: with_causes(&error),
            }),
        }
    }
    let counted = counted_already(&collection.runs);
    collection
        .runs
        .retain(|(path, _)| !counted.contains_key(path));
    collection.skipped.extend(as_skipped(counted));
    collection.skipped.sort_by(|a, b| a.path.cmp(&b.path));
    collection
}

/// Runs that are counted already, and why: copies of a run, and runs that were tracked as part of
/// another or merged into it.
fn counted_already(runs: &[(PathBuf, RunSummary)]) -> BTreeMap<PathBuf, String> {
    let mut first: BTreeMap<(&str, DateTime<Utc>), &Path> = BTreeMap::new();
    let mut by_id: BTreeMap<&str, (DateTime<Utc>, &Path)> = BTreeMap::new();
    let mut merged: BTreeMap<&str, (usize, &Path)> = BTreeMap::new();
    for (path, run) in runs {
        for part in &run.merged_from {
            let whole = (run.merged_from.len(), path.as_path());
            let largest = merged.entry(part).or_insert(whole);
            *largest = (*largest).max(whole);
        }
        if let Some((id, started)) = run.id.as_deref().zip(run.started) {
            by_id.entry(id).or_insert((started, path));
            first.entry((id, started)).or_insert(path);
        }
    }
    let reason = |path: &Path, run: &RunSummary| {
        let same = *first.get(&run.id.as_deref().zip(run.started)?)?;
        if same != path {
            return Some(format!("the same run as {}", same.display()));
        }
        // A merged run has more parts than each of its parts. Without this check two logs could leave each other out.
        if let Some((parts, whole)) = merged.get(run.id.as_deref()?)
            && *parts > run.merged_from.len()
        {
            let whole = whole.display();
            return Some(format!("merged into {whole}, which is counted"));
        }
        let (began, outer) = by_id.get(run.inside.as_deref()?)?;
        // The outer run starts first. Without this check two logs could leave each other out.
        (*began < run.started?).then(|| {
            let outer = outer.display();
            format!("a part of the run {outer}, which is counted")
        })
    };
    runs.iter()
        .filter_map(|(path, run)| Some((path.clone(), reason(path, run)?)))
        .collect()
}

fn as_skipped(counted: BTreeMap<PathBuf, String>) -> impl Iterator<Item = Skipped> {
    counted.into_iter().map(|(path, reason)| Skipped {
        path,
        kind: SkippedKind::Counted,
        reason,
    })
}

/// What [`collect`] would leave out of these runs because it is counted already.
///
/// Needs no complete reading: only those logs are read whose info file says
/// that they may be a copy, a part of another, or the run of which there is one.
#[must_use]
pub fn counted_among(runs: &[PathBuf]) -> Vec<Skipped> {
    let identities: Vec<Option<Identity>> = runs
        .par_iter()
        .map(|run| Identity::of(run).ok().flatten())
        .collect();
    let known = || identities.iter().flatten();
    let mut named: BTreeMap<&str, usize> = BTreeMap::new();
    for identity in known() {
        *named.entry(&identity.id).or_default() += 1;
    }
    for other in known().flat_map(|identity| identity.inside.iter().chain(&identity.merged_from)) {
        *named.entry(other).or_default() += 1;
    }
    let is_shared = |id: &str| named.get(id).is_some_and(|times| *times > 1);
    let concerned: Vec<_> = runs
        .par_iter()
        .zip(&identities)
        .filter_map(|(run, identity)| {
            let Identity {
                id,
                inside,
                merged_from,
            } = identity.as_ref()?;
            let mut others = inside.iter().chain(merged_from).chain([id]);
            let is_concerned = others.any(|name| is_shared(name));
            let summary = is_concerned.then(|| summarise(run))?.ok()?;
            Some((run.clone(), summary))
        })
        .collect();
    as_skipped(counted_already(&concerned)).collect()
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
