use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::anyhow;

use super::{CompareArgs, usage};
use crate::cli::output::tell;
use crate::cli::{Failure, left_out};
use crate::ledger::compare::{Group, PhaseGroups};
use crate::text::number::counted;
use crate::text::{escape, nearest};

impl CompareArgs {
    /// Moves the group with this name to the front.
    pub(super) fn put_first(&self, name: &str, groups: &mut [Group]) -> Result<(), Failure> {
        let wanted = name.trim_end_matches('/');
        let is_called = |group: &Group| {
            let known = group.name.trim_end_matches('/');
            let by_tag = self.by.is_some()
                && known
                    .split_once('=')
                    .is_some_and(|(_, value)| value == wanted);
            let by_path = self.by.is_none() && known.rsplit('/').next() == Some(wanted);
            known == wanted || by_tag || by_path
        };
        let called: Vec<usize> = (0..groups.len())
            .filter(|place| is_called(&groups[*place]))
            .collect();
        let names = || groups.iter().map(|group| group.name.as_str());
        match called.as_slice() {
            [place] => {
                groups[..=*place].rotate_right(1);
                Ok(())
            }
            [] => {
                let near = nearest::said(&nearest::of(name, names()));
                let names: Vec<&str> = names().collect();
                Err(usage(
                    anyhow!("no group is called {name}{near}"),
                    format!("one of {}", names.join(", ")),
                ))
            }
            _ => Err(usage(
                anyhow!("several groups are called {name}"),
                "the group as it was given",
            )),
        }
    }

    /// The groups in order, and whether any log was left out.
    pub(super) fn read_groups(&self) -> Result<(Vec<Group>, bool), Failure> {
        if let Some(tag) = &self.by {
            let folders: Vec<PathBuf> = self
                .groups
                .iter()
                .map(|group| folders_of(group))
                .collect::<Result<Vec<_>, _>>()?
                .concat();
            return self.by_tag(&folders, tag);
        }
        let mut left_out = false;
        let mut groups = Vec::with_capacity(self.groups.len());
        for name in &self.groups {
            let collection = self.accounting.collect(&folders_of(name)?)?;
            left_out |= left_out::missing(&collection.skipped) > 0;
            groups.push(Group {
                name: name.clone(),
                label: name.clone(),
                runs: collection.runs,
            });
        }
        shorten(&mut groups);
        Ok((groups, left_out))
    }

    /// The phase of --phase instead of the runs, and whether some have no such phase.
    pub(super) fn of_phase(&self, groups: Vec<Group>) -> Result<(Vec<Group>, bool), Failure> {
        let Some(phase) = &self.phase else {
            return Ok((groups, false));
        };
        let taken = PhaseGroups::of(groups, phase)?;
        if taken.groups.iter().all(|group| group.runs.is_empty()) {
            let known: Vec<String> = taken.known.into_iter().collect();
            let advice = if known.is_empty() {
                "impact mark --start and --end in the job mark phases".to_owned()
            } else {
                format!("one of these: {}", known.join(", "))
            };
            return Err(Failure::new(anyhow!("no run has a phase {phase}")).advise(advice));
        }
        if taken.without > 0 {
            tell(format!(
                "left out: {} without the phase {}",
                counted(taken.without, "run"),
                escape::terminal(phase)
            ));
        }
        Ok((taken.groups, taken.without > 0))
    }

    fn by_tag(&self, folders: &[PathBuf], tag: &str) -> Result<(Vec<Group>, bool), Failure> {
        let collection = self.accounting.collect(folders)?;
        let mut groups: BTreeMap<TagValue, Group> = BTreeMap::new();
        let mut without = 0usize;
        for (path, run) in collection.runs {
            let Some(value) = run.tags.get(tag) else {
                without += 1;
                continue;
            };
            let name = format!("{tag}={value}");
            groups
                .entry(TagValue(value.clone()))
                .or_insert_with(|| Group {
                    label: name.clone(),
                    name,
                    runs: Vec::new(),
                })
                .runs
                .push((path, run));
        }
        if without > 0 {
            tell(format!(
                "left out: {} without the tag {}",
                counted(without, "run"),
                escape::terminal(tag)
            ));
        }
        let left_out = without > 0 || left_out::missing(&collection.skipped) > 0;
        Ok((groups.into_values().collect(), left_out))
    }
}

/// The directory, or the directories that a glob matches.
fn folders_of(group: &str) -> Result<Vec<PathBuf>, Failure> {
    let folder = PathBuf::from(group);
    if folder.is_dir() || !group.contains(['*', '?', '[']) {
        return Ok(vec![folder]);
    }
    let matches: Vec<PathBuf> = glob::glob(group)
        .map_err(|error| Failure::new(error).advise("a glob such as 'logs/baseline-*'"))?
        .filter_map(Result::ok)
        .filter(|path| path.is_dir())
        .collect();
    if matches.is_empty() {
        return Err(Failure::new(anyhow!("no directory matches {group}"))
            .advise("folders with runs, or a quoted glob such as 'logs/baseline-*'"));
    }
    Ok(matches)
}

/// Calls each group by the end of its path, if the groups differ there.
fn shorten(groups: &mut [Group]) {
    let end = |group: &Group| {
        let path = group.name.trim_end_matches('/');
        path.rsplit('/').next().unwrap_or(path).to_owned()
    };
    let ends: BTreeSet<String> = groups.iter().map(end).collect();
    let is_name =
        |end: &String| !matches!(end.as_str(), "" | "." | "..") && !end.contains(['*', '?', '[']);
    if ends.len() == groups.len() && ends.iter().all(is_name) {
        for group in groups {
            group.label = end(group);
        }
    }
}

/// The value of a tag: numbers are in the order of their size, and before words.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TagValue(String);

impl TagValue {
    fn number(&self) -> Option<f64> {
        let number = self.0.trim().parse().ok();
        number.filter(|number: &f64| number.is_finite())
    }
}

impl Ord for TagValue {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_text = || self.0.cmp(&other.0);
        match (self.number(), other.number()) {
            (Some(a), Some(b)) => a.total_cmp(&b).then_with(by_text),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => by_text(),
        }
    }
}

impl PartialOrd for TagValue {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Checks that every run of a group has a value of its own of this tag, and takes out those that have none.
///
/// Answers how many were taken out.
pub(super) fn pair(tag: &str, groups: &mut [Group]) -> Result<usize, Failure> {
    let mut alone = 0;
    for group in groups {
        let mut seen: BTreeMap<&String, &PathBuf> = BTreeMap::new();
        for (path, run) in &group.runs {
            let Some(value) = run.tags.get(tag) else {
                continue;
            };
            if let Some(other) = seen.insert(value, path) {
                return Err(Failure::new(anyhow!(
                    "{} has two runs with {tag}={value}, so it is not clear which of them to pair: {} and {}",
                    group.name,
                    other.display(),
                    path.display()
                ))
                .advise("a tag whose value is different in every run of a group, or no --paired-by"));
            }
        }
        let before = group.runs.len();
        group.runs.retain(|(_, run)| run.tags.contains_key(tag));
        alone += before - group.runs.len();
    }
    if alone > 0 {
        tell(format!(
            "left out: {} without the tag {}",
            counted(alone, "run"),
            escape::terminal(tag)
        ));
    }
    Ok(alone)
}
