use std::collections::BTreeMap;

use super::logs::RunLog;
use super::segment::Segments;
use super::spec::{Direction, Ordering, Plot};
use super::tree::{Group, Tree, default_variables};
use crate::ledger::Figure;

/// Runs in deeper folders belong to the group at this depth.
const DEEPEST_FOLDER: usize = 12;

impl Tree {
    /// Sorts runs into groups by their folders.
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

    /// Replaces a folder that has only one run by that run, and one that has only one folder by that folder.
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

#[cfg(test)]
mod tests {
    use super::super::tree::tests::{logs, outline};
    use super::*;

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
