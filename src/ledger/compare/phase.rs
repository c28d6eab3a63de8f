use std::collections::BTreeSet;

use super::Group;
use crate::units::OutOfRange;

/// The groups of a comparison of one phase.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct PhaseGroups {
    /// The groups, with the phase in place of each run.
    pub groups: Vec<Group>,
    /// How many runs have no such phase.
    pub without: usize,
    /// The phases that there are.
    pub known: BTreeSet<String>,
}

impl PhaseGroups {
    /// Takes the phase of each run that has it.
    ///
    /// # Errors
    ///
    /// If a figure is out of range.
    pub fn of(groups: Vec<Group>, phase: &str) -> Result<Self, OutOfRange> {
        let mut taken = Self {
            groups: Vec::with_capacity(groups.len()),
            without: 0,
            known: BTreeSet::new(),
        };
        for group in groups {
            let mut runs = Vec::with_capacity(group.runs.len());
            for (path, run) in group.runs {
                let names = run.phases.iter().map(|phase| phase.name.to_string());
                taken.known.extend(names);
                match run.of_phase(phase)? {
                    Some(run) => runs.push((path, run)),
                    None => taken.without += 1,
                }
            }
            taken.groups.push(Group {
                name: group.name,
                label: group.label,
                runs,
            });
        }
        Ok(taken)
    }
}
