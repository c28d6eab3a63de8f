use std::io;
use std::path::PathBuf;

/// Which part of the machine's energy is attributed to the run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scope {
    /// The whole machine: all energy is attributed to the run, also that of an idle machine.
    Machine,
    /// A running process and its descendants, by process id.
    ///
    /// The process may be the calling one.
    ProcessTree(u32),
    /// A control group (cgroup v2) and all groups below it, by its folder.
    Cgroup(PathBuf),
    /// All processes that this process starts from now on, and their descendants.
    ///
    /// Report each child that you have waited for with
    /// [`Session::child_ended`](super::Session::child_ended).
    Children {
        /// The control group in which the children are started, if there is one. The kernel counts
        /// its CPU time exactly. It is used until a process leaves the group.
        cgroup: Option<PathBuf>,
    },
}

/// Why a scope cannot be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScopeError {
    /// There is no such process.
    #[error("there is no process {0}; give the id of a running process")]
    NoProcess(u32),
    /// The folder is not a control group that can be read.
    #[error(
        "{} is not a readable control group; give a cgroup v2 folder such as \
         /sys/fs/cgroup/system.slice", .folder.display()
    )]
    NoCgroup {
        /// The folder that was given.
        folder: PathBuf,
        /// Why it cannot be read.
        #[source]
        source: io::Error,
    },
}
