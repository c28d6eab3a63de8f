use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The project's file, looked for upwards from the working directory.
pub const PROJECT_FILE: &str = ".impact.toml";

/// Where settings are looked for, strongest first; the defaults come last.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    pub command_line: Vec<(String, String)>,
    pub environment: BTreeMap<String, String>,
    pub project: Option<PathBuf>,
    pub user: Option<PathBuf>,
}

impl Sources {
    /// Those of this process, with what its command line set.
    #[must_use]
    pub fn of_process(command_line: Vec<(String, String)>) -> Self {
        // A variable that is empty is one that is not set.
        let environment: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(_, value)| !value.trim().is_empty())
            .collect();
        let project = std::env::current_dir()
            .ok()
            .and_then(|folder| upwards(&folder));
        Self {
            command_line,
            user: user_file(&environment),
            environment,
            project,
        }
    }
}

/// The nearest project file in a folder or those above it.
fn upwards(folder: &Path) -> Option<PathBuf> {
    folder
        .ancestors()
        .map(|folder| folder.join(PROJECT_FILE))
        .find(|file| file.is_file())
}

/// `$XDG_CONFIG_HOME/impact/config.toml`, or in `~/.config`; it need not be there.
fn user_file(environment: &BTreeMap<String, String>) -> Option<PathBuf> {
    let folder = match environment.get("XDG_CONFIG_HOME") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(environment.get("HOME")?).join(".config"),
    };
    // The standard says that relative paths are to be ignored.
    folder
        .is_absolute()
        .then(|| folder.join("impact").join("config.toml"))
}
