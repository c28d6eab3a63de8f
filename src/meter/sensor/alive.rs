use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// Whether there is a process with this id in the pid namespace of this one.
pub(crate) fn is_alive(pid: u32) -> bool {
    Pid::from_raw(pid as i32).is_some_and(|pid| test_kill_process(pid) != Err(Errno::SRCH))
}
