//! Which runs count, and for which time: no energy is counted twice, and none is lost to a log that ends early.

use std::collections::BTreeMap;
use std::path::Path;

use chrono::{DateTime, Utc};

use super::RunSummary;

/// Seconds by which the clocks of two logs may differ.
const CLOCK_TOLERANCE: f64 = 1.0;

/// Why a run is not counted, or not for all of its time.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Verdict {
    /// Another run has all of it.
    Counted(String),
    /// Other runs have these seconds of it, from and to; they do not overlap.
    Partly(Vec<(f64, f64)>, String),
}

/// What is counted already, by the position of the run.
pub(super) fn verdicts(runs: &[(&Path, &RunSummary)]) -> BTreeMap<usize, Verdict> {
    let mut verdicts = copies(runs);
    let whole = Whole::of(runs, &verdicts);
    let parts: Vec<(usize, Verdict)> = (0..runs.len())
        .filter(|index| !verdicts.contains_key(index))
        .filter_map(|index| Some((index, whole.verdict_on(index)?)))
        .collect();
    verdicts.extend(parts);
    verdicts
}

/// Copies of a run with an id: of several the most complete counts.
fn copies(runs: &[(&Path, &RunSummary)]) -> BTreeMap<usize, Verdict> {
    let mut own: BTreeMap<(&str, Option<DateTime<Utc>>), Vec<usize>> = BTreeMap::new();
    for (index, (_, run)) in runs.iter().enumerate() {
        if let Some(id) = &run.id {
            own.entry((id, run.started)).or_default().push(index);
        }
    }
    let mut verdicts = BTreeMap::new();
    for group in own.into_values().filter(|group| group.len() > 1) {
        let best = most_complete(runs, &group);
        for index in group.into_iter().filter(|index| *index != best) {
            verdicts.insert(index, Verdict::Counted(same_as(runs[best].0)));
        }
    }
    verdicts
}

/// Why a copy of a run does not count.
pub(super) fn same_as(path: &Path) -> String {
    format!("the same run as {}", path.display())
}

/// The longest log; of equals the one with an end, with fewer damaged lines, with more energy, and the first.
fn most_complete(runs: &[(&Path, &RunSummary)], group: &[usize]) -> usize {
    let completeness = |index: usize| {
        let run = &runs[index].1;
        let lines = std::cmp::Reverse(run.bad_lines);
        (run.duration, !run.has_no_end, lines, run.total())
    };
    let best = group.iter().copied().reduce(|best, index| {
        if completeness(index) > completeness(best) {
            index
        } else {
            best
        }
    });
    best.expect("a group has at least one run")
}

/// The runs that may have the energy of others.
struct Whole<'a> {
    runs: &'a [(&'a Path, &'a RunSummary)],
    by_id: BTreeMap<&'a str, usize>,
    merged: BTreeMap<&'a str, usize>,
    followed: BTreeMap<(&'a str, u32, u64), Vec<usize>>,
}

impl<'a> Whole<'a> {
    fn of(runs: &'a [(&'a Path, &'a RunSummary)], copies: &BTreeMap<usize, Verdict>) -> Self {
        let mut whole = Self {
            runs,
            by_id: BTreeMap::new(),
            merged: BTreeMap::new(),
            followed: BTreeMap::new(),
        };
        for (index, (_, run)) in runs.iter().enumerate() {
            if copies.contains_key(&index) {
                continue;
            }
            for part in &run.merged_from {
                let largest = whole.merged.entry(part).or_insert(index);
                let size = |index: usize| runs[index].1.merged_from.len();
                if size(index) > size(*largest) {
                    *largest = index;
                }
            }
            if let Some(id) = &run.id {
                whole.by_id.entry(id).or_insert(index);
            }
            if let (Some(boot), Some(process)) = (&run.boot_id, run.followed) {
                let key = (boot.as_str(), process.pid, process.started_ticks);
                whole.followed.entry(key).or_default().push(index);
            }
        }
        whole
    }

    fn verdict_on(&self, index: usize) -> Option<Verdict> {
        let run = &self.runs[index].1;
        let mut covered = Vec::new();
        let mut reason = None;
        let mut cover = |seconds: f64, why: String| {
            if seconds > 0.0 || run.duration.seconds() == 0.0 {
                covered.push(seconds);
                reason.get_or_insert(why);
            }
        };
        // A merged run has more parts than each of its parts. Without this check two logs could leave each other out.
        if let Some(id) = run.id.as_deref()
            && let Some(&whole) = self.merged.get(id)
            && self.runs[whole].1.merged_from.len() > run.merged_from.len()
        {
            let (path, merged) = &self.runs[whole];
            let seconds = merged
                .merged_seconds
                .get(id)
                .copied()
                .or_else(|| self.covered_by(whole, run))
                .unwrap_or(f64::INFINITY);
            let why = format!("merged into {}, which is counted", path.display());
            cover(seconds, why);
        }
        for outer in run.inside.iter().chain(&run.outer_runs) {
            let Some(&outer) = self.by_id.get(outer.as_str()) else {
                continue;
            };
            // The outer run starts first. Without this check two logs could leave each other out.
            let (path, whole) = &self.runs[outer];
            if whole.started < run.started && whole.started.is_some() {
                let why = format!("a part of the run {}, which is counted", path.display());
                cover(self.covered_by(outer, run).unwrap_or(0.0), why);
            }
        }
        if let (Some(boot), Some(process)) = (&run.boot_id, run.followed) {
            let key = (boot.as_str(), process.pid, process.started_ticks);
            for &other in self.followed.get(&key).into_iter().flatten() {
                let (path, whole) = &self.runs[other];
                if (whole.started, other) < (run.started, index) && whole.started.is_some() {
                    let why = format!(
                        "the run {} followed the same process and is counted",
                        path.display()
                    );
                    // They have one clock, and the later one need not end within the first.
                    cover(self.seconds_in(other, run).unwrap_or(0.0), why);
                }
            }
        }
        // Every run above started first, so that all of them cover the beginning.
        let seconds = covered.into_iter().reduce(f64::max)?;
        let why = reason?;
        let left = run.duration.seconds() - seconds;
        Some(if left <= 1e-3 {
            Verdict::Counted(why)
        } else {
            Verdict::Partly(vec![(0.0, seconds)], why)
        })
    }

    /// The seconds at the beginning of a part that the log of its whole covers.
    fn covered_by(&self, whole: usize, part: &RunSummary) -> Option<f64> {
        let seconds = self.seconds_in(whole, part)?;
        let left = part.duration.seconds() - seconds;
        // The end of an outer run that was recorded is after the end of every part of it.
        let is_rounding = !self.runs[whole].1.has_no_end && left <= CLOCK_TOLERANCE;
        Some(if is_rounding { f64::INFINITY } else { seconds })
    }

    /// The seconds from the start of a run to the end of an earlier log; negative if that ended before.
    fn seconds_in(&self, earlier: usize, run: &RunSummary) -> Option<f64> {
        let earlier = &self.runs[earlier].1;
        let before = run.started? - earlier.started?;
        Some(earlier.duration.seconds() - before.num_microseconds()? as f64 / 1e6)
    }
}
