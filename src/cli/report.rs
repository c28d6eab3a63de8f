use clap::{Args, ValueEnum};

use super::Outcome;
use super::accounting::{Accounting, exit_code};
use super::destination::Destination;
use super::folder::RunFolders;
use super::settings::{Config, Sources};
use super::yaml::yaml;
use crate::ledger::statement::Report;
use crate::text::escape;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  impact report impact-logs/
  impact report logs/run-1 logs/run-2 --format csv --output runs.csv")]
pub struct ReportArgs {
    #[command(flatten)]
    folders: RunFolders,
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
        let runs = self.folders.or_usual(&config)?;
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
