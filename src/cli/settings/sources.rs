use std::path::{Path, PathBuf};

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
}

impl Sources {
    /// Those of this process.
    pub(crate) fn of_process() -> Self {
        let environment = Environment::of_process();
        let folder = std::env::current_dir().ok();
        Self {
            command_line: Vec::new(),
            project: folder.and_then(|folder| upwards(&folder)),
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
