//! Programs whose work is done by processes that are not their children.

use std::ffi::OsStr;
use std::path::Path;

/// Clients of a daemon or of another machine, which starts the processes: of batch systems, containers and logins.
const CLIENTS: [&str; 12] = [
    "srun", "sbatch", "qsub", "qrsh", "bsub", "jsrun", "aprun", "flux", "docker", "nerdctl",
    "kubectl", "ssh",
];

/// The name of a program that has its work done elsewhere.
pub(crate) fn client(program: &Path) -> Option<&'static str> {
    let name = program.file_name().and_then(OsStr::to_str)?;
    CLIENTS.into_iter().find(|client| *client == name)
}

/// What the log says of a run with such a program.
pub(crate) fn note(client: &str) -> String {
    format!(
        "{client} has its work done by processes that are not its own, which are not counted; to measure them, let \
         {client} start impact track"
    )
}
