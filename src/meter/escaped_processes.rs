use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::process_tree::ProcessTree;
use super::run_cgroup::RunCgroup;
use super::sensor::Roots;
use super::throttle::Throttle;

/// Looking for them may take this part of the time.
const PART_OF_THE_TIME: u32 = 20_000;
/// Nor are they looked for more often than this.
const SHORTEST_PAUSE: Duration = Duration::from_secs(1);
/// Whoever makes others leave starts a process for it, so without newest_pid once in this time will do.
const WITHOUT_BIRTHS: Duration = Duration::from_secs(60);

/// Descendants of the command that are no longer in its control group, looked for now and then.
#[derive(Debug)]
pub(crate) struct EscapedProcesses {
    folder: PathBuf,
    pace: Throttle,
    looked: Option<Instant>,
    pub(crate) are_known: bool,
}

impl EscapedProcesses {
    pub(crate) fn of(roots: &Roots) -> Self {
        Self {
            folder: roots.processes().to_owned(),
            pace: Throttle::new(PART_OF_THE_TIME, SHORTEST_PAUSE),
            looked: None,
            are_known: false,
        }
    }

    /// Looks again if it is time; says whether there are any who were not known of.
    pub(crate) fn are_found(
        &mut self,
        cgroup: &mut RunCgroup,
        tree: &ProcessTree,
        members: &[u32],
    ) -> bool {
        let now = Instant::now();
        if self.are_known || !self.pace.is_due(now) {
            return false;
        }
        let just_looked = |looked| now.duration_since(looked) < WITHOUT_BIRTHS;
        if !cgroup.take_has_new_processes() && self.looked.is_some_and(just_looked) {
            return false;
        }
        self.looked = Some(now);
        let others = tree.others_than(members);
        self.are_known = others
            .into_iter()
            .any(|pid| cgroup.was_left_by(&self.folder, pid));
        self.pace.done(now);
        self.are_known
    }
}
