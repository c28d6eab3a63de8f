use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;

use super::settings::Config;
use super::{Failure, exit};

/// Advice if no run was found.
pub(crate) const WITH_RUNS: &str =
    "a folder with runs in it: each has a folder `impacttracker` with a data.json";

/// Fails if one of the folders does not exist.
pub(crate) fn check<'a>(folders: impl IntoIterator<Item = &'a Path>) -> Result<(), Failure> {
    match folders.into_iter().find(|folder| !folder.is_dir()) {
        Some(missing) => Err(
            Failure::new(anyhow!("{} is not a directory", missing.display()))
                .advise("the folder that holds your runs, such as impact-logs"),
        ),
        None => Ok(()),
    }
}

/// The folders that a command reads runs from.
#[derive(Debug, Args)]
pub(crate) struct RunFolders {
    /// Runs, or directories with runs in them [default: impact-logs]
    #[arg(value_name = "LOGDIR")]
    named: Vec<PathBuf>,
}

impl RunFolders {
    /// The folders that are named, else the one that `impact track` writes to.
    pub(crate) fn or_usual(&self, config: &Config) -> Result<Vec<PathBuf>, Failure> {
        or_usual(self.named.clone(), config)
    }
}

/// The folders that are named, else the one that `impact track` writes to.
pub(crate) fn or_usual(named: Vec<PathBuf>, config: &Config) -> Result<Vec<PathBuf>, Failure> {
    if named.is_empty() {
        usual(config).map(|folder| vec![folder])
    } else {
        Ok(named)
    }
}

/// The folder that `impact track` writes to: impact-logs, unless the settings name another.
pub(crate) fn usual(config: &Config) -> Result<PathBuf, Failure> {
    let folder: PathBuf = config.or(None, "output").unwrap_or_default();
    if folder.is_dir() {
        return Ok(folder);
    }
    Err(Failure::new(anyhow!(
        "no folder with runs is named, and there is no {} here",
        folder.display()
    ))
    .advise("name the folder, or make a run first: impact track -- COMMAND")
    .exit_with(exit::USAGE))
}
