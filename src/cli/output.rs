use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use anyhow::Context as _;

use super::Failure;
use crate::files::atomic_file::AtomicFile;

/// Writes a new file, all of it or nothing; an existing one is only replaced when told to.
pub fn write_file(path: &Path, contents: &[u8], force: bool) -> Result<(), Failure> {
    if force {
        return replace(AtomicFile::with_mode_of_old(path), contents)
            .with_context(|| cannot_write(path))
            .map_err(Failure::new);
    }
    let created = OpenOptions::new().write(true).create_new(true).open(path);
    match created {
        Ok(mut file) => file
            .write_all(contents)
            .with_context(|| cannot_write(path))
            .map_err(|error| {
                // A half-written file is worse than none.
                let _ = std::fs::remove_file(path);
                Failure::new(error)
            }),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(Failure::new(
            anyhow::anyhow!("{} is already there", path.display()),
        )
        .advise("another name, or --force to replace it")),
        Err(error) => Err(Failure::new(
            anyhow::Error::new(error).context(format!("cannot create {}", path.display())),
        )),
    }
}

/// Writes a file that nobody but its owner may read, replacing what is there.
pub fn write_secret(path: &Path, contents: &[u8]) -> Result<(), Failure> {
    replace(AtomicFile::with_mode(path, 0o600), contents)
        .with_context(|| cannot_write(path))
        .map_err(Failure::new)
}

fn replace(replacement: io::Result<AtomicFile>, contents: &[u8]) -> io::Result<()> {
    let mut file = replacement?;
    file.write_all(contents)?;
    file.finish()
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

/// Tells a line on standard error; a terminal that is full or gone must not change what is done.
pub fn tell(line: impl Display) {
    let _ = io::stderr().write_all(format!("{line}\n").as_bytes());
}

/// Prints to standard output; a reader that has gone away, as `head` does, is no failure.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::new(
            anyhow::Error::new(error).context("cannot write to standard output"),
        )),
        _ => Ok(()),
    }
}
