use std::sync::OnceLock;

use super::logs::RunLog;
use super::page::{Link, NavItem, Shell};
use super::tree::Tree;

/// With more groups than this, the navigation shows only those near the page.
const WHOLE_TREE: usize = 80;
/// With more runs than this, the navigation does not list them.
const MOST_RUNS: usize = 30;

/// The pages of a site, and the links between them.
#[derive(Debug)]
pub(super) struct SiteMap<'a> {
    pub(super) title: &'a str,
    pub(super) tree: &'a Tree,
    pub(super) logs: &'a [RunLog],
    /// Short names of the runs, all different.
    pub(super) labels: &'a [String],
    /// Whether each run could be read; known after all logs are read.
    pub(super) readable: OnceLock<Vec<bool>>,
}

/// A page of the site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageId {
    Start,
    Group(usize),
    /// A run, and the group in whose navigation it is shown.
    Run(usize, Option<usize>),
}

impl SiteMap<'_> {
    /// The folder of a page, with a slash at the end unless it is the site's own.
    pub(super) fn folder(&self, place: PageId) -> String {
        match place {
            PageId::Start => String::new(),
            PageId::Group(group) => format!("{}/", self.tree.groups[group].folder),
            PageId::Run(run, _) => format!("run/{}/", self.logs[run].segment),
        }
    }

    /// The relative path from a page to the folder of the site.
    pub(super) fn root(&self, place: PageId) -> String {
        "../".repeat(self.folder(place).matches('/').count())
    }

    /// The relative path from one page to another.
    pub(super) fn href(&self, from: PageId, to: PageId) -> String {
        format!("{}{}index.html", self.root(from), self.folder(to))
    }

    pub(super) fn shell(&self, place: PageId, title: &str) -> Shell {
        let line = match place {
            PageId::Start => Vec::new(),
            PageId::Group(group) => self.tree.path_to(group),
            PageId::Run(_, home) => home.map(|home| self.tree.path_to(home)).unwrap_or_default(),
        };
        let mut crumbs = Vec::new();
        if place != PageId::Start {
            crumbs.push(Link {
                name: "Start".to_owned(),
                href: self.href(place, PageId::Start),
            });
        }
        crumbs.extend(
            self.links(place, &line)
                .into_iter()
                .filter(|_| place != PageId::Start),
        );
        if let PageId::Group(_) = place {
            crumbs.pop();
        }
        Shell {
            title: title.to_owned(),
            site: self.title.to_owned(),
            root: self.root(place),
            crumbs,
            nav: self.nav(place, &line),
            generator: crate::site::GENERATOR,
        }
    }

    /// Links from a page to some groups.
    pub(super) fn links(&self, from: PageId, groups: &[usize]) -> Vec<Link> {
        let link = |group: &usize| Link {
            name: self.tree.groups[*group].name.clone(),
            href: self.href(from, PageId::Group(*group)),
        };
        groups.iter().map(link).collect()
    }

    fn is_readable(&self, run: usize) -> bool {
        self.readable.get().is_none_or(|readable| readable[run])
    }

    fn nav(&self, place: PageId, line: &[usize]) -> Vec<NavItem> {
        let mut nav = vec![NavItem {
            name: "Start".to_owned(),
            href: self.href(place, PageId::Start),
            current: place == PageId::Start,
            opens: false,
            closes: 0,
        }];
        for group in near(&self.tree.top, line) {
            self.nav_group(place, line, group, &mut nav);
        }
        nav
    }

    fn nav_group(&self, place: PageId, line: &[usize], group: usize, nav: &mut Vec<NavItem>) {
        let here = &self.tree.groups[group];
        let whole = self.tree.groups.len() <= WHOLE_TREE;
        let children = if whole || line.contains(&group) {
            here.children.as_slice()
        } else {
            &[]
        };
        let runs: Vec<usize> = match place {
            PageId::Run(run, Some(home)) if home == group => vec![run],
            PageId::Group(at)
                if at == group && here.children.is_empty() && here.runs.len() <= MOST_RUNS =>
            {
                here.runs
                    .iter()
                    .copied()
                    .filter(|run| self.is_readable(*run))
                    .collect()
            }
            _ => Vec::new(),
        };
        let opens = !children.is_empty() || !runs.is_empty();
        nav.push(NavItem {
            name: here.name.clone(),
            href: self.href(place, PageId::Group(group)),
            current: place == PageId::Group(group),
            opens,
            closes: 0,
        });
        for child in near(children, line) {
            self.nav_group(place, line, child, nav);
        }
        for run in runs {
            nav.push(NavItem {
                name: self.labels[run].clone(),
                href: self.href(place, PageId::Run(run, None)),
                current: matches!(place, PageId::Run(current, _) if current == run),
                opens: false,
                closes: 0,
            });
        }
        if opens && let Some(last) = nav.last_mut() {
            last.closes += 1;
        }
    }
}

/// The first groups of a list, and those that contain the page: a navigation of all would make the
/// size of a site grow with the square of its groups.
fn near(groups: &[usize], line: &[usize]) -> impl Iterator<Item = usize> {
    let shown = |(place, group): &(usize, &usize)| *place < WHOLE_TREE || line.contains(*group);
    groups
        .iter()
        .enumerate()
        .filter(shown)
        .map(|(_, group)| *group)
}

/// A label for each run: the shortest end of its path that no other run has. A last folder that is the
/// only one in its parent is left out.
pub(super) fn labels(logs: &[RunLog]) -> Vec<String> {
    use std::collections::BTreeMap;
    let mut siblings: BTreeMap<&str, usize> = BTreeMap::new();
    for log in logs {
        if let Some((parent, _)) = log.relative.rsplit_once('/') {
            *siblings.entry(parent).or_default() += 1;
        }
    }
    let trimmed: Vec<Vec<&str>> = logs
        .iter()
        .map(|log| match log.relative.rsplit_once('/') {
            Some((parent, _)) if siblings[parent] == 1 && parent.contains('/') => {
                parent.split('/').collect()
            }
            _ => log.relative.split('/').collect(),
        })
        .collect();
    let tail =
        |parts: &[&str], length: usize| parts[parts.len().saturating_sub(length)..].join("/");
    let longest = trimmed.iter().map(Vec::len).max().unwrap_or(0);
    let mut labels: Vec<Option<String>> = vec![None; logs.len()];
    for length in 1..=longest {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for parts in &trimmed {
            *counts.entry(tail(parts, length)).or_default() += 1;
        }
        for (label, parts) in labels.iter_mut().zip(&trimmed) {
            let candidate = tail(parts, length);
            if label.is_none() && counts[&candidate] == 1 {
                *label = Some(candidate);
            }
        }
    }
    let with_path =
        |(label, log): (Option<String>, &RunLog)| label.unwrap_or_else(|| log.shown.clone());
    labels.into_iter().zip(logs).map(with_path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::KeptInfo;
    use std::path::PathBuf;

    #[test]
    fn runs_are_called_by_what_tells_them_apart() {
        let paths = [
            "sb/seed_0/Pong",
            "sb/seed_1/Pong",
            "cule/seed_1/x",
            "cule/seed_1/y",
            "z",
        ];
        let log = |path: &&str| RunLog {
            path: PathBuf::new(),
            root: 0,
            relative: (*path).to_owned(),
            shown: format!("data/{path}"),
            segment: String::new(),
            info: KeptInfo::default(),
        };
        let logs: Vec<RunLog> = paths.iter().map(log).collect();
        assert_eq!(labels(&logs), ["seed_0", "seed_1", "x", "y", "z"]);
    }
}
