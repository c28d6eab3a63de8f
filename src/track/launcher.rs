//! Programs whose work is done by processes that are not their children.

use std::ffi::OsStr;
use std::path::Path;

/// Clients of a daemon or of another machine, which starts the processes: of batch systems and containers.
const CLIENTS: [&str; 11] = [
    "srun", "sbatch", "qsub", "qrsh", "bsub", "jsrun", "aprun", "flux", "docker", "nerdctl",
    "kubectl",
];

/// A login that is the command; git and rsync start it to fetch files.
const LOGIN: &str = "ssh";

/// The name of a program that has its work done elsewhere, given whether it is the command itself.
pub(crate) fn client(program: &Path, is_command: bool) -> Option<&'static str> {
    let name = program.file_name().and_then(OsStr::to_str)?;
    let login = is_command.then_some(LOGIN);
    let mut clients = CLIENTS.into_iter().chain(login);
    clients.find(|client| *client == name)
}

/// What the log says of a run with such a program.
pub(crate) fn note(client: &str) -> String {
    format!(
        "{client} has its work done by processes that are not its own, which are not counted; to measure them, let \
         {client} start impact track"
    )
}
