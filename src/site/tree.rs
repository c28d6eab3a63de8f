use std::collections::BTreeMap;

use super::logs::RunLog;
use super::problem::{Problem, SpecError};
use super::sanitise::sanitise;
use super::segment::Segments;
use super::spec::{Direction, Filter, GroupSpec, Ordering, Plot, Spec};
use crate::ledger::Figure;

const DEFAULT_VARIABLES: [Figure; 5] = [
    Figure::Energy,
    Figure::Emissions,
    Figure::Duration,
    Figure::CpuHours,
    Figure::GpuHours,
];
/// Folders below this belong to the group above them.
const DEEPEST_FOLDER: usize = 12;

/// The groups of a site, each with the runs in it; a group comes after the one it is in.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) groups: Vec<Group>,
    pub(super) top: Vec<usize>,
}

/// One group.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) name: String,
    /// Its folder in the site, without a slash at the end.
    pub(super) folder: String,
    pub(super) parent: Option<usize>,
    pub(super) children: Vec<usize>,
    /// Its runs, by their place among all logs.
    pub(super) runs: Vec<usize>,
    /// HTML that may be shown.
    pub(super) description: Option<String>,
    pub(super) variables: Vec<String>,
    pub(super) ordering: Option<Ordering>,
    /// Whether somebody chose the ordering, so that the first is the best and not only the first.
    pub(super) is_ranked: bool,
    pub(super) plots: Vec<Plot>,
    pub(super) processor: Option<usize>,
}

impl Tree {
    /// Sorts runs into the groups of a spec; a group gets those of its parent that its filter finds.
    pub(super) fn of_spec(
        spec: &Spec,
        logs: &[RunLog],
        empty_allowed: bool,
    ) -> Result<Self, SpecError> {
        let mut tree = Self::default();
        let all: Vec<usize> = (0..logs.len()).collect();
        let mut builder = Builder {
            tree: &mut tree,
            logs,
            empty_allowed,
        };
        let mut segments = Segments::default();
        let mut top = Vec::new();
        for group in &spec.groups {
            top.extend(builder.add(group, None, &all, &mut segments)?);
        }
        tree.top = top;
        Ok(tree)
    }

    /// Sorts runs into groups by the folders they lie in.
    pub(super) fn by_folder(logs: &[RunLog]) -> Self {
        let mut root = Folder::default();
        for (run, log) in logs.iter().enumerate() {
            let mut folders: Vec<&str> = log.relative.split('/').collect();
            folders.pop();
            let mut folder = &mut root;
            for name in folders.into_iter().take(DEEPEST_FOLDER) {
                folder = folder.folders.entry(name.to_owned()).or_default();
            }
            folder.runs.push(run);
        }
        let mut tree = Self::default();
        let root = root.simplified();
        tree.top = if root.folders.is_empty() {
            let all = Folder {
                runs: root.runs,
                ..Folder::default()
            };
            vec![tree.add_folder("All runs", all, None, &mut Segments::default())]
        } else {
            let mut segments = Segments::default();
            let mut top: Vec<usize> = Vec::new();
            for (name, folder) in root.folders {
                top.push(tree.add_folder(&name, folder, None, &mut segments));
            }
            if !root.runs.is_empty() {
                let rest = Folder {
                    runs: root.runs,
                    ..Folder::default()
                };
                top.push(tree.add_folder("Other runs", rest, None, &mut segments));
            }
            top
        };
        tree
    }

    fn add_folder(
        &mut self,
        name: &str,
        folder: Folder,
        parent: Option<usize>,
        segments: &mut Segments,
    ) -> usize {
        let here = self.groups.len();
        let mut runs = folder.all_runs();
        runs.sort_unstable();
        self.groups.push(Group {
            name: name.to_owned(),
            folder: self.folder_of(parent, &segments.claim(name)),
            parent,
            children: Vec::new(),
            runs,
            description: None,
            variables: default_variables(),
            ordering: Some(Ordering {
                variable: Figure::Energy.name().to_owned(),
                direction: Direction::Descending,
            }),
            is_ranked: false,
            plots: vec![Plot::of(Figure::Duration.name(), Figure::Energy.name())],
            processor: None,
        });
        let mut inner = Segments::default();
        for (name, folder) in folder.folders {
            let child = self.add_folder(&name, folder, Some(here), &mut inner);
            self.groups[here].children.push(child);
        }
        here
    }

    fn folder_of(&self, parent: Option<usize>, segment: &str) -> String {
        match parent {
            Some(parent) => format!("{}/{segment}", self.groups[parent].folder),
            None => format!("group/{segment}"),
        }
    }

    /// A group and those it is in, the outermost first.
    pub(super) fn path_to(&self, group: usize) -> Vec<usize> {
        let mut line = vec![group];
        let mut at = group;
        while let Some(parent) = self.groups[at].parent {
            line.push(parent);
            at = parent;
        }
        line.reverse();
        line
    }

    /// The innermost groups a run is in.
    pub(super) fn innermost_groups_of(&self, run: usize) -> Vec<usize> {
        let holds = |group: usize| self.groups[group].runs.binary_search(&run).is_ok();
        (0..self.groups.len())
            .filter(|group| {
                holds(*group)
                    && !self.groups[*group]
                        .children
                        .iter()
                        .any(|child| holds(*child))
            })
            .collect()
    }

    /// The processors that give further figures of a run.
    pub(super) fn processors_of(&self, run: usize) -> Vec<usize> {
        let mut processors: Vec<usize> = self
            .groups
            .iter()
            .filter(|group| group.runs.binary_search(&run).is_ok())
            .filter_map(|group| group.processor)
            .collect();
        processors.sort_unstable();
        processors.dedup();
        processors
    }
}

struct Builder<'a> {
    tree: &'a mut Tree,
    logs: &'a [RunLog],
    empty_allowed: bool,
}

impl Builder<'_> {
    /// Adds a group with all below it; none where it is empty and may be left out.
    fn add(
        &mut self,
        spec: &GroupSpec,
        parent: Option<usize>,
        among: &[usize],
        segments: &mut Segments,
    ) -> Result<Option<usize>, SpecError> {
        let runs = match &spec.filter {
            Some(filter) => self.found(filter, spec, among)?,
            None => among.to_vec(),
        };
        if runs.is_empty() && self.empty_allowed {
            return Ok(None);
        }
        let inherited = parent.map(|parent| &self.tree.groups[parent]);
        let group = Group {
            name: spec.name.clone(),
            folder: self.tree.folder_of(parent, &segments.claim(&spec.name)),
            parent,
            children: Vec::new(),
            description: spec.description.as_deref().map(sanitise),
            variables: spec
                .variables
                .clone()
                .or_else(|| inherited.map(|group| group.variables.clone()))
                .unwrap_or_else(default_variables),
            ordering: spec
                .ordering
                .clone()
                .or_else(|| inherited.and_then(|group| group.ordering.clone())),
            is_ranked: true,
            plots: spec
                .plots
                .clone()
                .or_else(|| inherited.map(|group| group.plots.clone()))
                .unwrap_or_default(),
            processor: spec.processor,
            runs: runs.clone(),
        };
        let here = self.tree.groups.len();
        self.tree.groups.push(group);
        let mut inner = Segments::default();
        for child in &spec.children {
            let child = self.add(child, Some(here), &runs, &mut inner)?;
            self.tree.groups[here].children.extend(child);
        }
        Ok(Some(here))
    }

    fn found(
        &self,
        filter: &Filter,
        spec: &GroupSpec,
        among: &[usize],
    ) -> Result<Vec<usize>, SpecError> {
        let at = || spec.at.key("filter");
        let mut runs = Vec::new();
        for run in among {
            let path = &self.logs[*run].shown;
            let slow = || {
                Problem::SlowFilter {
                    filter: filter.text.clone(),
                    path: path.clone(),
                }
                .at(at())
            };
            if filter.finds(path).ok_or_else(slow)? {
                runs.push(*run);
            }
        }
        if runs.is_empty() && !self.empty_allowed {
            let problem = Problem::MatchesNothing {
                filter: filter.text.clone(),
                runs: among.len(),
            };
            return Err(problem.at(at()));
        }
        Ok(runs)
    }
}

#[derive(Debug, Default)]
struct Folder {
    folders: BTreeMap<String, Folder>,
    runs: Vec<usize>,
}

impl Folder {
    fn all_runs(&self) -> Vec<usize> {
        let mut runs = self.runs.clone();
        for folder in self.folders.values() {
            runs.extend(folder.all_runs());
        }
        runs
    }

    /// A folder with a single run is that run, one with a single folder is that folder.
    fn simplified(self) -> Self {
        let mut simple = Self {
            runs: self.runs,
            ..Self::default()
        };
        for (name, folder) in self.folders {
            let mut folder = folder.simplified();
            if folder.folders.is_empty() && folder.runs.len() == 1 {
                simple.runs.append(&mut folder.runs);
            } else if folder.runs.is_empty() && folder.folders.len() == 1 {
                let only = folder
                    .folders
                    .into_iter()
                    .map(|(inner, folder)| (format!("{name}/{inner}"), folder));
                simple.folders.extend(only);
            } else {
                simple.folders.insert(name, folder);
            }
        }
        simple
    }
}

fn default_variables() -> Vec<String> {
    DEFAULT_VARIABLES
        .iter()
        .map(|figure| figure.name().to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn logs(paths: &[&str]) -> Vec<RunLog> {
        let log = |path: &&str| RunLog {
            path: PathBuf::from(path),
            root: 0,
            relative: path.split_once('/').unwrap().1.to_owned(),
            shown: (*path).to_owned(),
            segment: String::new(),
        };
        paths.iter().map(log).collect()
    }

    fn outline(tree: &Tree) -> Vec<(String, Vec<usize>)> {
        let name = |group| {
            tree.path_to(group)
                .iter()
                .map(|g| tree.groups[*g].name.as_str())
                .collect::<Vec<_>>()
        };
        (0..tree.groups.len())
            .map(|g| (name(g).join(" > "), tree.groups[g].runs.clone()))
            .collect()
    }

    #[test]
    fn a_filter_is_searched_in_the_whole_path_among_the_parents_runs() {
        let logs = logs(&[
            "data/sb/a2c_pong",
            "data/sb/a2c_breakout",
            "data/cule/pong_a2c",
        ]);
        let text = br#"{"All":{"child_experiments":{
            "Pong":{"filter":"(pong)","child_experiments":{"SB":{"filter":"(.*sb.*a2c.*)"}}},
            "Not cule":{"filter":"^(?!.*cule)"}}}}"#;
        let tree = Tree::of_spec(&Spec::parse(text).unwrap(), &logs, false).unwrap();
        let expected = [
            ("All", vec![0, 1, 2]),
            ("All > Pong", vec![0, 2]),
            ("All > Pong > SB", vec![0]),
            ("All > Not cule", vec![0, 1]),
        ];
        assert_eq!(
            outline(&tree),
            expected.map(|(name, runs)| (name.to_owned(), runs))
        );
        assert_eq!(tree.innermost_groups_of(0), [2, 3]);
        assert_eq!(tree.innermost_groups_of(2), [1]);
    }

    #[test]
    fn a_filter_that_finds_nothing_is_an_error_unless_allowed() {
        let logs = logs(&["data/a"]);
        let spec = Spec::parse(br#"{"G":{"child_experiments":{"X":{"filter":"zzz"}}}}"#).unwrap();
        let error = Tree::of_spec(&spec, &logs, false).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the spec is wrong at $.G.child_experiments.X.filter"
        );
        assert!(
            error
                .problem
                .to_string()
                .contains("`zzz` matches no run of the group it is in, which has 1 run")
        );
        assert_eq!(Tree::of_spec(&spec, &logs, true).unwrap().groups.len(), 1);
    }

    #[test]
    fn without_a_spec_folders_are_groups() {
        let logs = logs(&[
            "d/a/x/1",
            "d/a/x/2",
            "d/a/y/only/env",
            "d/b/deep/1",
            "d/b/deep/2",
            "d/lone",
        ]);
        let expected = [
            ("a", vec![0, 1, 2]),
            ("a > x", vec![0, 1]),
            ("b/deep", vec![3, 4]),
            ("Other runs", vec![5]),
        ];
        assert_eq!(
            outline(&Tree::by_folder(&logs)),
            expected.map(|(name, runs)| (name.to_owned(), runs))
        );
    }
}
