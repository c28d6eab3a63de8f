use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::accounting::{Accounting, exit_code};
use super::output::{print, write_file};
use super::terminal::printable;
use super::yaml::yaml;
use super::{Outcome, configured};
use crate::config::{Config, Sources};
use crate::statement::Report;

/// Show the figures of one or several runs, per device and per node
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  impact report impact-logs/
  impact report logs/run-1 logs/run-2 --format csv --output runs.csv")]
pub struct ReportArgs {
    /// Runs, or directories with runs in them
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    #[command(flatten)]
    accounting: Accounting,
    /// How to write the report [default: text]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Write to this file instead of standard output; never overwrites without --force
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file if it is already there
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Yaml,
    Json,
    Csv,
}

impl ReportArgs {
    pub fn run(mut self, settings: &Sources) -> Outcome {
        let config = Config::load(settings)?;
        self.accounting.fill(&config);
        let format = self.format.or_else(|| configured::format(&config));
        let assumptions = self.accounting.assumptions()?;
        let collection = self.accounting.collect(&self.runs)?;
        let report = Report::of(&collection, &assumptions);
        let text = match format.unwrap_or(Format::Text) {
            Format::Text => printable(&report.text()).into_owned(),
            Format::Yaml => yaml(&report)?,
            Format::Json => serde_json::to_string_pretty(&report)? + "\n",
            Format::Csv => report.csv()?,
        };
        match &self.output {
            Some(file) => write_file(file, text.as_bytes(), self.force)?,
            None => print(&text)?,
        }
        Ok(exit_code(&collection))
    }
}
