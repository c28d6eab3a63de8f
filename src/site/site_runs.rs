use std::borrow::Cow;
use std::cmp::Ordering as Order;
use std::collections::BTreeMap;

use rayon::prelude::*;
use serde_json::{Value, json};

use super::entry::Entry;
use super::site_map::{PageId, SiteMap};
use super::spec::{Direction, Ordering};
use super::statistic::{Statistics, statistics};

/// The runs of a site after all logs are read, and the statistics of its groups.
#[derive(Debug)]
pub(super) struct SiteRuns<'a> {
    pub(super) map: &'a SiteMap<'a>,
    /// One for each log; none where it could not be read.
    pub(super) entries: &'a [Option<Entry>],
    /// The name of each run in tables.
    pub(super) names: Vec<String>,
    /// One for each group: its own page, the page above it and the start page show them.
    groups: Vec<Statistics>,
}

/// A group or a run, as a row of tables and charts.
#[derive(Debug)]
pub(super) struct Member<'a> {
    pub(super) name: &'a str,
    pub(super) page: PageId,
    pub(super) runs: Vec<&'a Entry>,
    pub(super) statistics: Cow<'a, Statistics>,
}

impl<'a> SiteRuns<'a> {
    pub(super) fn new(map: &'a SiteMap<'a>, entries: &'a [Option<Entry>]) -> Self {
        let groups = map
            .tree
            .groups
            .par_iter()
            .map(|group| statistics(group.runs.iter().filter_map(|run| entries[*run].as_ref())))
            .collect();
        Self {
            map,
            entries,
            names: names(entries, map.labels),
            groups,
        }
    }

    /// All runs of the site.
    pub(super) fn whole(&self) -> Member<'_> {
        Member {
            name: self.map.title,
            page: PageId::Start,
            runs: self.entries.iter().flatten().collect(),
            statistics: Cow::Owned(statistics(self.entries.iter().flatten())),
        }
    }

    pub(super) fn group(&self, group: usize) -> Member<'_> {
        let here = &self.map.tree.groups[group];
        let runs = here.runs.iter();
        Member {
            name: &here.name,
            page: PageId::Group(group),
            runs: runs.filter_map(|run| self.entries[*run].as_ref()).collect(),
            statistics: Cow::Borrowed(&self.groups[group]),
        }
    }

    /// The groups directly inside a group, sorted by its ordering.
    pub(super) fn children_of(&self, group: usize) -> Vec<Member<'_>> {
        let here = &self.map.tree.groups[group];
        let children = here.children.iter().map(|child| self.group(*child));
        sorted(children.collect(), here.ordering.as_ref())
    }

    /// The runs of a group, sorted by its ordering.
    pub(super) fn runs_of(&self, group: usize) -> Vec<Member<'_>> {
        let here = &self.map.tree.groups[group];
        let member = |run: &usize| {
            let entry = self.entries[*run].as_ref()?;
            Some(Member {
                name: &self.names[*run],
                page: PageId::Run(*run, None),
                runs: vec![entry],
                statistics: Cow::Owned(statistics([entry].into_iter())),
            })
        };
        let runs = here.runs.iter().filter_map(member);
        sorted(runs.collect(), here.ordering.as_ref())
    }

    /// A row of a page's JSON.
    pub(super) fn row_json(&self, from: PageId, member: &Member) -> Value {
        json!({
            "name": member.name,
            "href": self.map.href(from, member.page),
            "runs": member.runs.len(),
            "figures": member.statistics,
        })
    }
}

/// Sorts by the ordering's figure; members without that figure come last, equal ones keep their order.
fn sorted<'a>(mut members: Vec<Member<'a>>, ordering: Option<&Ordering>) -> Vec<Member<'a>> {
    if let Some(ordering) = ordering {
        let value = |member: &Member| {
            member
                .statistics
                .get(&ordering.variable)
                .map(|statistic| statistic.mean)
        };
        members.sort_by(|a, b| match (value(a), value(b)) {
            (Some(a), Some(b)) => match ordering.direction {
                Direction::Descending => b.total_cmp(&a),
                Direction::Ascending => a.total_cmp(&b),
            },
            (Some(_), None) => Order::Less,
            (None, Some(_)) => Order::Greater,
            (None, None) => Order::Equal,
        });
    }
    members
}

/// The name of each run in tables: the one it was given, with its label where others have the same name.
fn names(entries: &[Option<Entry>], labels: &[String]) -> Vec<String> {
    let given = |entry: &Option<Entry>| entry.as_ref().and_then(|entry| entry.name.clone());
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for name in entries.iter().filter_map(given) {
        *counts.entry(name).or_default() += 1;
    }
    entries
        .iter()
        .zip(labels)
        .map(|(entry, label)| match given(entry) {
            Some(name) if counts[&name] == 1 => name,
            Some(name) => format!("{name} · {label}"),
            None => label.clone(),
        })
        .collect()
}
