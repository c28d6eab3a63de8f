//! What the author of a site should know about its figures.

use std::collections::{BTreeMap, BTreeSet};

use super::entry::Entry;
use super::spec::Spec;
use super::tree::Tree;
use crate::ledger::Figure;
use crate::ledger::file_figures::Processor;
use crate::text::number::counted;

/// More reasons than this are only counted.
const MOST_REASONS: usize = 20;

/// Why processors gave no figures, each reason once.
pub(super) fn missing_figures(entries: &[Option<Entry>]) -> Vec<String> {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for reason in entries.iter().flatten().flat_map(|entry| &entry.missing) {
        *reasons.entry(reason).or_default() += 1;
    }
    let runs = entries.iter().flatten().count();
    let others = reasons.len().saturating_sub(MOST_REASONS);
    let mut told: Vec<String> = reasons
        .into_iter()
        .take(MOST_REASONS)
        .map(|(reason, count)| {
            let runs = counted(runs, "run");
            format!("figures are missing for {count} of {runs}: {reason}")
        })
        .collect();
    if others > 0 {
        let others = counted(others, "other reason");
        told.push(format!("figures are missing for {others}"));
    }
    told
}

/// Columns and figures of processors that no run has, most likely because they are misspelt.
pub(super) fn unused_figures(
    spec: Option<&Spec>,
    tree: &Tree,
    entries: &[Option<Entry>],
) -> Vec<String> {
    let has = |run: &usize, name: &str| {
        let entry = entries[*run].as_ref();
        entry.is_some_and(|entry| entry.figures.contains_key(name))
    };
    let mut groups_without: BTreeMap<&str, usize> = BTreeMap::new();
    for group in &tree.groups {
        let variables = group.variables.iter().map(String::as_str);
        // The page of a run says why it lacks one of the figures that every run can have.
        for name in variables.filter(|name| name.parse::<Figure>().is_err()) {
            if !group.runs.iter().any(|run| has(run, name)) {
                *groups_without.entry(name).or_default() += 1;
            }
        }
    }
    let processors = spec.into_iter().flat_map(|spec| &spec.processors);
    let unused = processors
        .flat_map(Processor::names)
        .filter(|name| !(0..entries.len()).any(|run| has(&run, name)))
        .filter(|name| !groups_without.contains_key(name));
    let unused: BTreeSet<&str> = unused.collect();
    let in_groups = groups_without.iter().map(|(name, groups)| {
        let groups = counted(*groups, "group");
        format!("no run of {groups} has the figure {name} that its table is to show")
    });
    let nowhere = unused
        .into_iter()
        .map(|name| format!("no run has the figure {name} of a processor"));
    in_groups.chain(nowhere).collect()
}
