use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use crate::log::{FOLDER, Identity, KeptInfo, fingerprint, info_bytes, is_copy};

/// These distinguish most foreign logs.
const FIRST_BYTES: u64 = 4 << 10;
/// As many bytes of info files are kept until the logs are read, which is enough for some thousand runs; others are
/// read again.
const MOST_KEPT_BYTES: usize = 16 << 20;

/// Which of some runs may be counted already, known without reading their samples.
#[derive(Debug)]
pub(crate) struct Related {
    concerned: Vec<bool>,
    copies: BTreeMap<usize, usize>,
    infos: Vec<KeptInfo>,
}

/// What distinguishes a run from others; names are kept as their hashes.
#[derive(Debug)]
enum Name {
    Own {
        id: u64,
        others: Box<[u64]>,
        follows: bool,
    },
    Foreign(u64),
    Unreadable,
}

impl Related {
    pub(crate) fn among(runs: &[PathBuf]) -> Self {
        let free_bytes = AtomicUsize::new(MOST_KEPT_BYTES);
        let (names, infos): (Vec<Name>, Vec<KeptInfo>) = runs
            .par_iter()
            .map(|run| Name::of(run, &free_bytes))
            .unzip();
        let mut all: Vec<u64> = Vec::with_capacity(runs.len());
        for name in &names {
            if let Name::Own { id, others, .. } = name {
                all.push(*id);
                all.extend(others);
            }
        }
        all.sort_unstable();
        let is_shared = |id: &u64| {
            let at = all.partition_point(|other| other < id);
            all.get(at + 1) == Some(id)
        };
        let concerned = names.iter().map(|name| match name {
            Name::Own {
                id,
                others,
                follows,
            } => *follows || is_shared(id) || others.iter().any(is_shared),
            Name::Foreign(_) | Name::Unreadable => false,
        });
        Self {
            concerned: concerned.collect(),
            copies: copies(runs, &names),
            infos,
        }
    }

    /// Whether the info file of this run says that it may be a copy, a part of another, or the run of which there is
    /// one.
    pub(super) fn is_concerned(&self, index: usize) -> bool {
        self.concerned[index]
    }

    /// The run that this one is a copy of, byte by byte.
    pub(super) fn original(&self, index: usize) -> Option<usize> {
        self.copies.get(&index).copied()
    }

    /// The info file of this run, if it was kept and not taken before.
    pub(crate) fn take_info(&self, index: usize) -> Option<Vec<u8>> {
        self.infos[index].take()
    }

    /// Each foreign copy and the run it is a copy of.
    pub(super) fn copies(&self) -> impl Iterator<Item = (usize, usize)> {
        self.copies.iter().map(|(copy, first)| (*copy, *first))
    }
}

impl Name {
    /// That of a run, and its info file if enough bytes are free for it.
    fn of(run: &Path, free_bytes: &AtomicUsize) -> (Self, KeptInfo) {
        let Ok(bytes) = info_bytes(&run.join(FOLDER)) else {
            return (Self::Unreadable, KeptInfo::default());
        };
        let name = match bytes.as_deref().and_then(Identity::parse) {
            Some(identity) => Self::own(&identity),
            None => fingerprint(run, FIRST_BYTES).map_or(Self::Unreadable, Self::Foreign),
        };
        let fits = |bytes: &Vec<u8>| {
            let left = |free_bytes: usize| free_bytes.checked_sub(bytes.len());
            free_bytes
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, left)
                .is_ok()
        };
        let kept = bytes.filter(fits).map(KeptInfo::new);
        (name, kept.unwrap_or_default())
    }

    fn own(identity: &Identity) -> Self {
        let hash = |name: &str| {
            let mut hasher = DefaultHasher::new();
            name.hash(&mut hasher);
            hasher.finish()
        };
        Self::Own {
            id: hash(&identity.id),
            others: identity.others().map(|other| hash(other)).collect(),
            follows: identity.followed.is_some(),
        }
    }
}

/// Logs without an id that are copies of an earlier one, byte by byte.
fn copies(runs: &[PathBuf], names: &[Name]) -> BTreeMap<usize, usize> {
    let foreign = names
        .iter()
        .enumerate()
        .filter_map(|(index, name)| match name {
            Name::Foreign(fingerprint) => Some((*fingerprint, index)),
            Name::Own { .. } | Name::Unreadable => None,
        });
    let alike: Vec<usize> = groups(foreign.collect()).into_iter().flatten().collect();
    // Of logs with the same beginning all bytes are compared, so that there are few comparisons.
    let whole: Vec<(u64, usize)> = alike
        .into_par_iter()
        .filter_map(|index| Some((fingerprint(&runs[index], u64::MAX)?, index)))
        .collect();
    let pairs: Vec<Vec<(usize, usize)>> = groups(whole)
        .into_par_iter()
        .map(|group| {
            let first = group[0];
            let others = group.into_par_iter().skip(1);
            others
                .filter(|index| is_copy(&runs[first], &runs[*index]))
                .map(|index| (index, first))
                .collect()
        })
        .collect();
    pairs.into_iter().flatten().collect()
}

/// The runs with equal numbers, where there are several, each group in the order of the paths.
fn groups(mut numbered: Vec<(u64, usize)>) -> Vec<Vec<usize>> {
    numbered.sort_unstable();
    numbered
        .chunk_by(|(a, _), (b, _)| a == b)
        .filter(|group| group.len() > 1)
        .map(|group| group.iter().map(|(_, index)| *index).collect())
        .collect()
}
