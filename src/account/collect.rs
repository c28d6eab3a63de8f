use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use chrono::{DateTime, Utc};
use rayon::prelude::*;

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    pub path: PathBuf,
    pub kind: SkippedKind,
    pub reason: String,
}

/// What kind of thing was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkippedKind {
    /// A run that has no figures.
    Run,
    /// A folder that could not be looked into; nobody knows how many runs it holds.
    Folder,
    /// A run that is counted already, at another path.
    Copy,
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
    let mut known: BTreeMap<(String, DateTime<Utc>), PathBuf> = BTreeMap::new();
    for (path, result) in results {
        match result {
            Ok(summary) => {
                let identity = summary.id.clone().zip(summary.started);
                if let Some(first) = identity.as_ref().and_then(|run| known.get(run)) {
                    collection.skipped.push(Skipped {
                        path,
                        kind: SkippedKind::Copy,
                        reason: format!("the same run as {}", first.display()),
                    });
                } else {
                    known.extend(identity.map(|run| (run, path.clone())));
                    collection.runs.push((path, summary));
                }
            }
            Err(error) => collection.skipped.push(Skipped {
                path,
                kind: SkippedKind::Run,
                reason: with_causes(&error),
            }),
        }
    }
    collection.skipped.sort_by(|a, b| a.path.cmp(&b.path));
    collection
}

fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
