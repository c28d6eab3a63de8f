use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write};
use std::path::Path;

use super::Failure;
use super::settings::Sources;
use crate::files::AtomicFile;

/// Writes a file completely or not at all; an existing one is replaced only with `force`.
pub(crate) fn write_file(path: &Path, contents: &[u8], force: bool) -> Result<(), Failure> {
    let write = || {
        let mut file = if force {
            AtomicFile::keeping_permissions(path)?
        } else {
            AtomicFile::new(path)?
        };
        file.write_all(contents)?;
        if force {
            file.replace()
        } else {
            file.create_new()
        }
    };
    write().map_err(|error| cannot_write(path, error))
}

/// Writes a file that only its owner may read, and replaces an existing one.
pub(crate) fn write_secret(path: &Path, contents: &[u8]) -> Result<(), Failure> {
    let write = || {
        // Readable by its owner only from the start.
        let mut file = AtomicFile::private(path)?;
        file.write_all(contents)?;
        file.replace()
    };
    write().map_err(|error| cannot_write(path, error))
}

/// Why a file was not written; if it exists, with advice.
pub(crate) fn cannot_write(path: &Path, error: io::Error) -> Failure {
    if error.kind() == io::ErrorKind::AlreadyExists {
        return Failure::new(anyhow::anyhow!("{} is already there", path.display()))
            .advise("another name, or --force to replace it");
    }
    let advice = match error.kind() {
        io::ErrorKind::NotFound => Some("make its folder first, or name another"),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            Some("a folder that you may write to")
        }
        _ => None,
    };
    let failure = anyhow::Error::new(error).context(format!("cannot write {}", path.display()));
    match advice {
        Some(advice) => Failure::new(failure).advise(advice),
        None => Failure::new(failure),
    }
}

/// Prints a line to standard error; errors of the terminal are ignored.
pub(crate) fn tell(line: impl Display) {
    let _ = io::stderr().write_all(format!("{line}\n").as_bytes());
}

/// Prints why a command failed, in colour on a terminal that shows colours.
pub(crate) fn tell_failure(failure: &Failure, settings: &Sources) {
    let report = failure.report();
    let report = report.trim_end();
    if io::stderr().is_terminal() && !settings.is_colourless() {
        tell(report.replacen("error:", "\x1b[1;31merror:\x1b[0m", 1));
    } else {
        tell(report);
    }
}

/// Prints to standard output; a closed pipe, as by `head`, is not a failure.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::new(
            anyhow::Error::new(error).context("cannot write to standard output"),
        )),
        _ => Ok(()),
    }
}

/// The first line of a text in bold, on a terminal that shows colours.
pub(crate) fn bold_heading(text: String, settings: &Sources) -> String {
    match text.split_once('\n') {
        Some((heading, rest)) if !settings.is_colourless() && io::stdout().is_terminal() => {
            format!("\x1b[1m{heading}\x1b[0m\n{rest}")
        }
        _ => text,
    }
}
