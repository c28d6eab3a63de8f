use std::fs::{Metadata, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use anyhow::Context as _;

use super::Failure;

/// Writes a new file, all of it or nothing; an existing one is only replaced when told to.
pub fn write_file(path: &Path, contents: &[u8], force: bool) -> Result<(), Failure> {
    if force {
        return replace(path, contents).map_err(Failure::new);
    }
    let created = OpenOptions::new().write(true).create_new(true).open(path);
    match created {
        Ok(mut file) => file
            .write_all(contents)
            .with_context(|| format!("cannot write {}", path.display()))
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
    replace_with_mode(path, contents, Some(0o600)).map_err(Failure::new)
}

/// The new file may be read by whom the old one could.
fn replace(path: &Path, contents: &[u8]) -> anyhow::Result<()> {
    let old = std::fs::metadata(path).ok().filter(Metadata::is_file);
    replace_with_mode(
        path,
        contents,
        old.map(|old| old.permissions().mode() & 0o7777),
    )
}

fn replace_with_mode(path: &Path, contents: &[u8], mode: Option<u32>) -> anyhow::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let name = path.file_name().context("the output has no file name")?;
    let beside = folder.join(format!(
        ".{}.{}",
        name.to_string_lossy(),
        std::process::id()
    ));
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    if mode.is_some() {
        // Closed until it has the mode it shall have.
        options.mode(0o600);
    }
    options
        .open(&beside)
        .and_then(|mut file| {
            file.write_all(contents)?;
            mode.map_or(Ok(()), |mode| {
                file.set_permissions(Permissions::from_mode(mode))
            })
        })
        .and_then(|()| std::fs::rename(&beside, path))
        .inspect_err(|_| {
            let _ = std::fs::remove_file(&beside);
        })
        .with_context(|| format!("cannot write {}", path.display()))
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
