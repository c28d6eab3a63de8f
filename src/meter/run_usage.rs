use super::cgroup::CgroupUsage;
use super::escaped_processes::EscapedProcesses;
use super::process_tree::{ProcessTree, TreeRoot};
use super::scope::{Scope, ScopeError};
use super::sensor::alive::is_alive;
use super::sensor::{CpuTimes, Roots};

/// The CPU time and the processes of a scope.
#[derive(Debug)]
pub(crate) struct RunUsage {
    /// The processes, counted one by one; none for the whole machine and for a control group.
    tree: Option<ProcessTree>,
    cgroup: Option<CgroupUsage>,
    escaped: EscapedProcesses,
    last: CpuTimes,
    /// What the CPU time is called in the log.
    pub(crate) label: String,
}

impl RunUsage {
    pub(crate) fn of(scope: &Scope, roots: &Roots) -> Result<Self, ScopeError> {
        let tree = |root| Some(ProcessTree::of(root, roots));
        let open = |folder| CgroupUsage::open(folder, roots);
        let (tree, cgroup, label) = match scope {
            Scope::Machine => (None, None, "machine".to_owned()),
            Scope::ProcessTree(pid) if !is_alive(*pid) => return Err(ScopeError::NoProcess(*pid)),
            Scope::ProcessTree(pid) => (tree(TreeRoot::Process(*pid)), None, pid.to_string()),
            Scope::Cgroup(folder) => {
                let cgroup = open(folder).map_err(|source| ScopeError::NoCgroup {
                    folder: folder.clone(),
                    source,
                })?;
                let label = cgroup.name().to_owned();
                (None, Some(cgroup), label)
            }
            Scope::Children { cgroup } => {
                let cgroup = cgroup.as_deref().and_then(|folder| open(folder).ok());
                (tree(TreeRoot::Ours), cgroup, "children".to_owned())
            }
        };
        Ok(Self {
            tree,
            cgroup,
            escaped: EscapedProcesses::of(roots),
            last: CpuTimes::default(),
            label,
        })
    }

    pub(crate) fn is_whole_machine(&self) -> bool {
        self.tree.is_none() && self.cgroup.is_none()
    }

    /// Counts the processes one by one from now on.
    pub(crate) fn drop_cgroup(&mut self) {
        self.cgroup = None;
    }

    /// A child of this process has ended and was waited for.
    pub(crate) fn child_ended(&mut self, pid: u32, time: CpuTimes, max_resident: u64) {
        if let Some(tree) = &mut self.tree {
            tree.reaped.add(pid, time, max_resident);
        }
    }

    /// The largest resident size of an ended child, in bytes.
    pub(crate) fn largest_ended(&self) -> Option<u64> {
        self.tree.as_ref()?.reaped.largest()
    }

    /// Whether processes must be read often because this process does not wait for them.
    pub(crate) fn is_not_waited_for(&self) -> bool {
        self.tree
            .as_ref()
            .is_some_and(ProcessTree::is_not_waited_for)
    }

    /// Reads the CPU time of processes that this process does not wait for, before they end.
    pub(crate) fn read_not_waited_for(&mut self) {
        if let Some(tree) = self.tree.as_mut().filter(|tree| tree.is_not_waited_for()) {
            tree.read();
        }
    }

    /// CPU time so far; none for the whole machine.
    pub(crate) fn cpu_time(&mut self) -> Option<CpuTimes> {
        let by_cgroup = self.whole_cgroup().map(|cgroup| cgroup.cpu_time());
        self.last = match (by_cgroup, &mut self.tree) {
            (Some(Ok(times)), Some(tree)) => {
                // Work outside of the group is known once its process has been waited for.
                let reaped = tree.reaped.time();
                if times.total() >= reaped.total() {
                    times
                } else {
                    reaped
                }
            }
            (Some(Ok(times)), None) => times,
            (_, Some(tree)) => tree.read(),
            // The group was removed: it keeps the time that it had.
            (Some(Err(_)), None) => self.last,
            (None, None) => return None,
        };
        Some(self.last)
    }

    /// The processes now running, and whether some were just found to have left the control group.
    pub(crate) fn processes(&mut self) -> (Vec<u32>, bool) {
        let Some(cgroup) = self.whole_cgroup() else {
            let tree = self.tree.as_ref();
            return (tree.map(ProcessTree::processes).unwrap_or_default(), false);
        };
        let processes = cgroup.processes().to_vec();
        let have_escaped = match (&mut self.cgroup, &self.tree) {
            (Some(cgroup), Some(tree)) => self.escaped.search(cgroup, tree, &processes),
            _ => false,
        };
        (processes, have_escaped)
    }

    /// The control group, as long as all of the run is in it.
    fn whole_cgroup(&mut self) -> Option<&mut CgroupUsage> {
        self.cgroup.as_mut().filter(|_| !self.escaped.are_known)
    }
}
