use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use chrono::{DateTime, Utc};
use rayon::prelude::*;
use serde::{Serialize, Serializer};

use super::RunSummary;
use super::energy::summarise;
use crate::log::find::find;

/// The runs under some folders in the order of their paths, and what was left out.
#[derive(Debug, Default)]
pub struct Collection {
    pub runs: Vec<(PathBuf, RunSummary)>,
    pub skipped: Vec<Skipped>,
}

/// What was left out, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skipped {
    #[serde(serialize_with = "as_shown")]
    pub path: PathBuf,
    #[serde(skip)]
    pub kind: SkippedKind,
    pub reason: String,
}

/// Paths need not be UTF-8, and one that is not must not cost the whole report.
fn as_shown<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

/// What kind of thing was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkippedKind {
    /// A run that has no figures.
    Run,
    /// A folder that could not be looked into; nobody knows how many runs it holds.
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
    collection.leave_out_what_is_counted_twice();
    collection.skipped.sort_by(|a, b| a.path.cmp(&b.path));
    collection
}

impl Collection {
    /// Copies of a run, and runs that were tracked as part of another.
    fn leave_out_what_is_counted_twice(&mut self) {
        let mut first: BTreeMap<(String, DateTime<Utc>), PathBuf> = BTreeMap::new();
        let mut by_id: BTreeMap<String, (DateTime<Utc>, PathBuf)> = BTreeMap::new();
        for (path, run) in &self.runs {
            if let Some((id, started)) = run.id.clone().zip(run.started) {
                let run = by_id.entry(id.clone());
                run.or_insert_with(|| (started, path.clone()));
                first.entry((id, started)).or_insert_with(|| path.clone());
            }
        }
        let reason = |path: &PathBuf, run: &RunSummary| {
            let same = first.get(&run.id.clone().zip(run.started)?)?;
            if same != path {
                return Some(format!("the same run as {}", same.display()));
            }
            let (began, outer) = by_id.get(run.inside.as_ref()?)?;
            // The outer one starts first; logs that claim otherwise could leave one another out.
            (*began < run.started?).then(|| {
                let outer = outer.display();
                format!("a part of the run {outer}, which is counted")
            })
        };
        for (path, run) in std::mem::take(&mut self.runs) {
            match reason(&path, &run) {
                Some(reason) => self.skipped.push(Skipped {
                    path,
                    kind: SkippedKind::Counted,
                    reason,
                }),
                None => self.runs.push((path, run)),
            }
        }
    }
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
