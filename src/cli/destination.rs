use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::{Args, ValueEnum};

use super::output::{print, write_file};
use super::settings::Config;
use super::{Failure, configured, exit};

/// How and where a command writes what it found.
#[derive(Debug, Args)]
pub(crate) struct Destination<F: Format> {
    /// Output format [default: by the extension of --output, else text]
    #[arg(long, value_enum)]
    format: Option<F>,
    /// Write to this file instead of standard output; never overwrites without --force
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace existing files
    #[arg(long)]
    pub(crate) force: bool,
}

/// A format a command can write.
pub(crate) trait Format: ValueEnum + Copy + Send + Sync + 'static {
    /// What is written where nothing was asked for.
    const USUAL: Self;
    /// The endings that tell each format.
    const ENDINGS: &'static [(&'static str, Self)];
}

impl<F: Format> Destination<F> {
    /// The format asked for; a file's ending is stronger than the configuration.
    pub(crate) fn format(&self, config: &Config) -> Result<F, Failure> {
        match (self.format, &self.output) {
            (Some(format), _) => Ok(format),
            (None, Some(file)) => told_by_ending(file),
            (None, None) => Ok(configured::format(config).unwrap_or(F::USUAL)),
        }
    }

    /// Refuses a second file of the same name, which one of the two would replace.
    pub(crate) fn refuse_again(&self, second: Option<&Path>) -> Result<(), Failure> {
        match (&self.output, second) {
            (Some(first), Some(second)) if is_same_place(first, second) => Err(Failure::new(
                anyhow!("{} is given as the name of two files", second.display()),
            )
            .advise("a different name for each")
            .exit_with(exit::USAGE)),
            _ => Ok(()),
        }
    }

    pub(crate) fn write(&self, text: &str) -> Result<(), Failure> {
        match &self.output {
            Some(file) => write_file(file, text.as_bytes(), self.force),
            None => print(text),
        }
    }
}

/// Whether two names mean the same file, also where it is not there yet.
fn is_same_place(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| {
        let path = std::path::absolute(path).ok()?;
        let folder = path.parent()?;
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        Some(folder.join(path.file_name()?))
    };
    place(a).is_some_and(|a| Some(a) == place(b))
}

/// The format that the ending of a file tells.
pub(crate) fn told_by_ending<F: Format>(file: &Path) -> Result<F, Failure> {
    let ending = file.extension().and_then(|ending| ending.to_str());
    let known = F::ENDINGS.iter().find(|(known, _)| Some(*known) == ending);
    known.map(|(_, format)| *format).ok_or_else(|| {
        let endings: Vec<String> = F::ENDINGS.iter().map(|(e, _)| format!(".{e}")).collect();
        Failure::new(anyhow!(
            "the extension of {} does not name a format",
            file.display()
        ))
        .advise(format!("one of {}, or --format", endings.join(", ")))
    })
}
