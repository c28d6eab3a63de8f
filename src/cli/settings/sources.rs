use std::path::{Path, PathBuf};

use crate::files::{TrustedOwners, UntrustedOwner};
use crate::model::Environment;

/// The project's file, looked for upwards from the working directory.
pub(crate) const PROJECT_FILE: &str = ".impact.toml";

/// Where settings are looked for, strongest first; the defaults come last.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sources {
    pub(crate) command_line: Vec<(String, String)>,
    pub(crate) environment: Environment,
    pub(crate) project: Option<PathBuf>,
    pub(crate) user: Option<PathBuf>,
    /// The project's file, if it is not used because it belongs to somebody else.
    pub(crate) ignored: Option<IgnoredFile>,
}

/// A project's file that is not used.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{} is not used: {why}", .path.display())]
pub(crate) struct IgnoredFile {
    pub(crate) path: PathBuf,
    why: UntrustedOwner,
}

impl Sources {
    /// Those of this process.
    pub(crate) fn of_process() -> Self {
        let environment = Environment::of_process();
        let folder = std::env::current_dir().ok();
        let mut project = folder.and_then(|folder| upwards(&folder));
        let owners = TrustedOwners::of_process(environment.raw("SUDO_UID"));
        let ignored = project.clone().and_then(|path| {
            let why = owners.check(&path).ok()?.err()?;
            Some(IgnoredFile { path, why })
        });
        if ignored.is_some() {
            project = None;
        }
        Self {
            command_line: Vec::new(),
            project,
            ignored,
            user: user_file(&environment),
            environment,
        }
    }

    /// Whether colours are not wanted (<https://no-color.org>).
    pub(crate) fn is_colourless(&self) -> bool {
        self.environment.get_os("NO_COLOR").is_some()
    }
}

/// The nearest project file in a folder or those above it.
fn upwards(folder: &Path) -> Option<PathBuf> {
    folder
        .ancestors()
        .map(|folder| folder.join(PROJECT_FILE))
        .find(|file| file.is_file())
}

/// `$XDG_CONFIG_HOME/impact/config.toml`, or in `~/.config`; the file may be missing.
fn user_file(environment: &Environment) -> Option<PathBuf> {
    let home = || Some(environment.absolute_path("HOME")?.join(".config"));
    let folder = match environment.get_os("XDG_CONFIG_HOME") {
        Some(_) => environment.absolute_path("XDG_CONFIG_HOME"),
        None => home(),
    };
    Some(folder?.join("impact").join("config.toml"))
}
