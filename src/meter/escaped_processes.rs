use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::cgroup::CgroupUsage;
use super::process_tree::ProcessTree;
use super::sensor::Roots;
use super::throttle::Throttle;

/// The search may take one such part of the time.
const PART_OF_THE_TIME: u32 = 20_000;
/// The search runs no more often than this.
const SHORTEST_PAUSE: Duration = Duration::from_secs(1);
/// Moving a process to another group usually starts a process; without new ones a search this often
/// is enough.
const WITHOUT_NEW_PROCESSES: Duration = Duration::from_secs(60);

/// Searches for descendants of the command that have left its control group.
#[derive(Debug)]
pub(crate) struct EscapedProcesses {
    folder: PathBuf,
    throttle: Throttle,
    last_search: Option<Instant>,
    /// Some were found.
    pub(crate) are_known: bool,
}

impl EscapedProcesses {
    pub(crate) fn of(roots: &Roots) -> Self {
        Self {
            folder: roots.processes().to_owned(),
            throttle: Throttle::new(PART_OF_THE_TIME, SHORTEST_PAUSE),
            last_search: None,
            are_known: false,
        }
    }

    /// Searches if a search is due; says whether it found the first ones.
    pub(crate) fn search(
        &mut self,
        cgroup: &mut CgroupUsage,
        tree: &ProcessTree,
        members: &[u32],
    ) -> bool {
        let now = Instant::now();
        if self.are_known || !self.throttle.is_due(now) {
            return false;
        }
        let is_recent = |search| now.duration_since(search) < WITHOUT_NEW_PROCESSES;
        if !cgroup.take_has_new_processes() && self.last_search.is_some_and(is_recent) {
            return false;
        }
        self.last_search = Some(now);
        let others = tree.others_than(members);
        self.are_known = others
            .into_iter()
            .any(|pid| cgroup.was_left_by(&self.folder, pid));
        self.throttle.done(now);
        self.are_known
    }
}
