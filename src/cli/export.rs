use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::accounting::{Accounting, exit_code};
use super::destination::{default_format, format_of};
use super::folder::RunFolders;
use super::output::{cannot_write, write_file};
use super::settings::{Config, Sources};
use super::{Failure, Outcome};
use crate::files::AtomicFile;
use crate::ledger::export::{Column, RowFormat, phases, runs, samples};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  impact export logs/ --output runs.csv
  impact export logs/ --what phases --output phases.csv
  impact export logs/ --what samples --format jsonl

A second file, such as runs.columns.csv, describes the unit and meaning of each column.
An empty cell, or null, is an unknown figure.")]
pub struct ExportArgs {
    #[command(flatten)]
    folders: RunFolders,
    /// What each row holds
    #[arg(long, value_enum, default_value_t = What::Runs)]
    what: What,
    /// Output format [default: by the extension of --output, else csv]
    #[arg(long, value_enum)]
    format: Option<Format>,
    #[command(flatten)]
    accounting: Accounting,
    /// Write to this file instead of standard output; never overwrites without --force
    #[arg(long, short, alias = "out", value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace existing files
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// One row per run
    Runs,
    /// One row each time that a phase marked with `impact mark` occurs
    Phases,
    /// One row per sample
    Samples,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Csv,
    Jsonl,
}

impl ExportArgs {
    pub fn run(mut self, settings: &Sources) -> Outcome {
        let config = Config::load(settings)?;
        self.accounting.fill(&config);
        let format = match (self.format, &self.output) {
            (Some(format), _) => format,
            (None, Some(file)) => format_of(file)?,
            (None, None) => default_format(),
        };
        let folders = self.folders.or_usual(&config)?;
        let collection = self.accounting.collect(&folders)?;
        let assumptions = self.accounting.assumptions()?;
        let row_format = match format {
            Format::Csv => RowFormat::Csv,
            Format::Jsonl => RowFormat::JsonLines,
        };
        let write = |out: &mut dyn io::Write| -> Result<Vec<Column>, Failure> {
            match self.what {
                What::Runs => Ok(runs(&collection, &assumptions, row_format, out)?),
                What::Phases => Ok(phases(&collection, row_format, out)?),
                What::Samples => {
                    let paths: Vec<PathBuf> = collection
                        .runs
                        .iter()
                        .map(|(path, _)| path.clone())
                        .collect();
                    Ok(samples(&paths, row_format, out)?)
                }
            }
        };
        match &self.output {
            None => match write(&mut BufWriter::new(io::stdout().lock())) {
                Err(failure) if !failure.is_broken_pipe() => return Err(failure),
                _ => {}
            },
            Some(file) => {
                let columns = self.to_file(file, write)?;
                let header = Column::describe(&columns);
                write_file(&columns_file(file), header.as_bytes(), self.force)?;
            }
        }
        Ok(exit_code(&collection.skipped))
    }

    /// Writes the file completely or not at all.
    fn to_file(
        &self,
        file: &Path,
        write: impl FnOnce(&mut dyn io::Write) -> Result<Vec<Column>, Failure>,
    ) -> Result<Vec<Column>, Failure> {
        // Checked before the samples are read, which can take long.
        for path in [file, &columns_file(file)] {
            if !self.force && path.exists() {
                return Err(cannot_write(path, io::ErrorKind::AlreadyExists.into()));
            }
        }
        let failed = |error| cannot_write(file, error);
        let out = if self.force {
            AtomicFile::keeping_permissions(file)
        } else {
            AtomicFile::new(file)
        };
        let mut out = BufWriter::new(out.map_err(failed)?);
        let columns = write(&mut out)?;
        let out = out
            .into_inner()
            .map_err(|error| failed(error.into_error()))?;
        if self.force {
            out.replace().map_err(failed)?;
        } else {
            out.create_new().map_err(failed)?;
        }
        Ok(columns)
    }
}

/// `runs.columns.csv` beside `runs.csv`.
fn columns_file(file: &Path) -> PathBuf {
    file.with_extension("columns.csv")
}
