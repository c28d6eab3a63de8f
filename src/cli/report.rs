use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::accounting::{Accounting, exit_code};
use super::destination::Destination;
use super::settings::{Config, Sources};
use super::yaml::yaml;
use super::{Outcome, folder};
use crate::ledger::statement::Report;
use crate::text::escape;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  impact report impact-logs/
  impact report logs/run-1 logs/run-2 --format csv --output runs.csv")]
pub struct ReportArgs {
    /// Runs, or directories with runs in them [default: impact-logs]
    #[arg(value_name = "RUN")]
    runs: Vec<PathBuf>,
    #[command(flatten)]
    accounting: Accounting,
    #[command(flatten)]
    destination: Destination<Format>,
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
        let format = self.destination.format(&config)?;
        let assumptions = self.accounting.assumptions()?;
        let runs = folder::or_usual(self.runs, &config)?;
        let collection = self.accounting.collect(&runs)?;
        let report = Report::of(&collection, &assumptions);
        let text = match format {
            Format::Text => escape::terminal(&report.text()).into_owned(),
            Format::Yaml => yaml(&report)?,
            Format::Json => escape::pretty_json(&report)?,
            Format::Csv => report.csv(),
        };
        self.destination.write(&text)?;
        Ok(exit_code(&collection.skipped))
    }
}
