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
        let owners = TrustedOwners::of_process(environment.raw("SUDO_UID"));
        Self::of(
            environment,
            std::env::current_dir().ok().as_deref(),
            &owners,
        )
    }

    /// Those of a process in this folder.
    fn of(environment: Environment, folder: Option<&Path>, owners: &TrustedOwners) -> Self {
        let mut project = folder.and_then(upwards);
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

/// The nearest project file in a folder or those above it; what is there need not be a file.
fn upwards(folder: &Path) -> Option<PathBuf> {
    folder
        .ancestors()
        .map(|folder| folder.join(PROJECT_FILE))
        .find(|file| file.symlink_metadata().is_ok())
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::cli::settings::Config;

    #[test]
    fn the_nearest_file_decides_and_one_of_somebody_else_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("below");
        std::fs::create_dir(&below).unwrap();
        std::fs::write(folder.path().join(PROJECT_FILE), "pue = 3\n").unwrap();
        let own = rustix::process::geteuid().as_raw();
        let sources = |users: &[u32]| {
            let owners = TrustedOwners::these(users);
            Sources::of(Environment::default(), Some(&below), &owners)
        };
        let pue = |sources: &Sources| {
            let config = Config::load(sources).unwrap();
            config.setting("pue").unwrap().value.clone()
        };
        let used = sources(&[own]);
        assert!(used.ignored.is_none());
        assert_eq!(pue(&used).as_deref(), Some("3"));
        let unused = sources(&[own + 1]);
        let why = unused.ignored.as_ref().unwrap().to_string();
        assert!(why.ends_with(&format!(
            "belongs to user {own}, who is neither you nor root"
        )));
        assert_eq!(pue(&unused), None);
        // A link that leads nowhere belongs to somebody all the same.
        std::os::unix::fs::symlink("nowhere", below.join(PROJECT_FILE)).unwrap();
        assert!(sources(&[own + 1]).ignored.is_some());
        assert!(Config::load(&sources(&[own])).is_err());
    }
}
