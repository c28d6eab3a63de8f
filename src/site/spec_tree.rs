use super::logs::RunLog;
use super::problem::{Problem, SpecError};
use super::sanitise::sanitise;
use super::segment::Segments;
use super::spec::{Filter, GroupSpec, Spec};
use super::tree::{Group, Tree, default_variables};

impl Tree {
    /// Sorts runs into the groups of a spec: a group has the runs of its parent that match its filter.
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
}

struct Builder<'a> {
    tree: &'a mut Tree,
    logs: &'a [RunLog],
    empty_allowed: bool,
}

impl Builder<'_> {
    /// Adds a group and the groups inside it; none if it is empty and may be left out.
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

#[cfg(test)]
mod tests {
    use super::super::tree::tests::{logs, outline};
    use super::*;

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
}
