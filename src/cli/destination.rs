use std::io;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::{Args, ValueEnum};

use super::output::{cannot_write, print, write_file};
use super::settings::Config;
use super::{Failure, configured, exit};

/// How and where a command writes what it found.
#[derive(Debug, Args)]
pub(crate) struct Destination<F: Format> {
    /// Output format [default: by the extension of --output, else text]
    #[arg(long, value_enum)]
    format: Option<F>,
    /// Write to this file instead of standard output; never overwrites without --force
    #[arg(long, short, alias = "out", value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace existing files
    #[arg(long)]
    pub(crate) force: bool,
}

/// Extensions that differ from the name of their format.
///
/// The first of a format is the one that is advised.
const EXTENSIONS: [(&str, &str); 12] = [
    ("txt", "text"),
    ("md", "markdown"),
    ("tex", "latex"),
    ("html", "html"),
    ("htm", "html"),
    ("yaml", "yaml"),
    ("yml", "yaml"),
    ("json", "json"),
    ("jsonl", "jsonl"),
    ("geojson", "geojson"),
    ("csv", "csv"),
    ("svg", "svg"),
];

/// A format a command can write; the first is the default.
pub(crate) trait Format: ValueEnum + Clone + Send + Sync + 'static {}

impl<F: ValueEnum + Clone + Send + Sync + 'static> Format for F {}

/// The format that is written where nothing was asked for.
pub(crate) fn default_format<F: Format>() -> F {
    F::value_variants()[0].clone()
}

impl<F: Format> Destination<F> {
    /// The format asked for; a file's ending is stronger than the configuration.
    pub(crate) fn format(&self, config: &Config) -> Result<F, Failure> {
        match (&self.format, &self.output) {
            (Some(format), _) => Ok(format.clone()),
            (None, Some(file)) => format_of(file),
            (None, None) => Ok(configured::format(config).unwrap_or_else(default_format)),
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

    /// Refuses a file that is already there, before the work that is to be written to it.
    pub(crate) fn refuse_existing(&self) -> Result<(), Failure> {
        match &self.output {
            Some(file) if !self.force && file.exists() => {
                Err(cannot_write(file, io::ErrorKind::AlreadyExists.into()))
            }
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

/// The format that the extension of a file names.
pub(crate) fn format_of<F: Format>(file: &Path) -> Result<F, Failure> {
    let extension = file.extension().and_then(|extension| extension.to_str());
    let name = extension.and_then(|extension| {
        let known = EXTENSIONS.iter().find(|(known, _)| *known == extension);
        known.map(|(_, name)| *name)
    });
    let format = name.and_then(|name| F::from_str(name, false).ok());
    format.ok_or_else(|| {
        let extensions: Vec<String> = F::value_variants()
            .iter()
            .filter_map(extension_of)
            .collect();
        Failure::new(anyhow!(
            "the extension of {} does not name a format",
            file.display()
        ))
        .advise(format!("one of {}, or --format", extensions.join(", ")))
    })
}

fn extension_of<F: Format>(format: &F) -> Option<String> {
    let value = format.to_possible_value()?;
    let name = value.get_name();
    let (extension, _) = EXTENSIONS.iter().find(|(_, known)| *known == name)?;
    Some(format!(".{extension}"))
}
