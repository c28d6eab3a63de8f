use super::spec::{Ordering, Plot};
use crate::ledger::Figure;

const DEFAULT_VARIABLES: [Figure; 5] = [
    Figure::Energy,
    Figure::Emissions,
    Figure::Duration,
    Figure::CpuHours,
    Figure::GpuHours,
];
/// The groups of a site; a group comes after the group it is in.
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
    /// The indexes of its runs among all logs, in order.
    pub(super) runs: Vec<usize>,
    /// Sanitised HTML.
    pub(super) description: Option<String>,
    pub(super) variables: Vec<String>,
    pub(super) ordering: Option<Ordering>,
    /// Whether the spec chose the ordering, so that the first row is the best.
    pub(super) is_ranked: bool,
    pub(super) plots: Vec<Plot>,
    pub(super) processor: Option<usize>,
}

impl Tree {
    /// The folder of a group in the site.
    pub(super) fn folder_of(&self, parent: Option<usize>, segment: &str) -> String {
        match parent {
            Some(parent) => format!("{}/{segment}", self.groups[parent].folder),
            None => format!("group/{segment}"),
        }
    }

    /// The groups from the outermost one to this one.
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

/// The columns of tables for which a spec chooses none.
pub(super) fn default_variables() -> Vec<String> {
    DEFAULT_VARIABLES
        .iter()
        .map(|figure| figure.name().to_owned())
        .collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::log::KeptInfo;
    use crate::site::logs::RunLog;
    use std::path::PathBuf;

    /// Logs at these paths, whose first folder is the root.
    pub(in crate::site) fn logs(paths: &[&str]) -> Vec<RunLog> {
        let log = |path: &&str| RunLog {
            path: PathBuf::from(path),
            root: 0,
            relative: path.split_once('/').unwrap().1.to_owned(),
            shown: (*path).to_owned(),
            segment: String::new(),
            info: KeptInfo::default(),
        };
        paths.iter().map(log).collect()
    }

    /// The path of each group, and its runs.
    pub(in crate::site) fn outline(tree: &Tree) -> Vec<(String, Vec<usize>)> {
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
}
