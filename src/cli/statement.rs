use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::{Args, ValueEnum};

use super::accounting::{Accounting, exit_code};
use super::output::{print, write_file};
use super::terminal::printable;
use super::{Failure, Outcome, configured};
use crate::config::{Config, Sources, keys};
use crate::statement::{self, Options, Price, Statement, bibliography};
use crate::units::PricePerKwh;
use crate::zone::Iso3;

/// Turn log directories into the carbon impact statement a paper needs
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  impact statement logs/ USA
  impact statement logs/ --format latex --bib impact.bib
  impact statement cluster-a/ cluster-b/ DEU --pue 1.1 --price 0.31 --currency EUR

The country is an ISO code or an English name; without one, the country the runs took place in is
used. Exit code 3 says that some logs could not be read; they are listed on standard error.")]
pub struct StatementArgs {
    /// Directories with logs, then the country whose social cost of carbon is stated
    #[arg(required = true, value_name = "LOGDIR... [COUNTRY]")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    accounting: Accounting,
    /// How to write the statement [default: by the ending of --output, else text]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Write to this file instead of standard output; never overwrites without --force
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write the BibTeX entries to this file instead of below the LaTeX
    #[arg(long, value_name = "FILE")]
    bib: Option<PathBuf>,
    /// Replace files that are already there
    #[arg(long)]
    force: bool,
    /// Price of a kWh; adds the electricity bill
    #[arg(long, value_name = "PER_KWH")]
    price: Option<PricePerKwh>,
    /// Currency of the price [default: USD]
    #[arg(long, value_parser = currency)]
    currency: Option<String>,
    /// Address of the appendix with the details
    #[arg(long)]
    url: Option<String>,
    /// Add a table of the runs
    #[arg(long)]
    per_run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Markdown,
    Latex,
    Html,
    Json,
}

impl Format {
    fn of_file(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "txt" => Some(Self::Text),
            "md" | "markdown" => Some(Self::Markdown),
            "tex" | "latex" => Some(Self::Latex),
            "html" | "htm" => Some(Self::Html),
            "json" => Some(Self::Json),
            _ => None,
        }
    }
}

impl StatementArgs {
    pub fn run(mut self, settings: &Sources) -> Outcome {
        let config = Config::load(settings)?;
        self.accounting.fill(&config);
        if self.output.is_none() {
            self.format = self.format.or_else(|| configured::format(&config));
        }
        let format = self.format()?;
        let (folders, country) = self.folders_and_country()?;
        let assumptions = self.accounting.assumptions()?;
        let collection = self.accounting.collect(&folders)?;
        let statement = Statement::of(
            &collection,
            &Options {
                assumptions,
                country,
                price: config.or(self.price, "price").map(|per_kwh| Price {
                    per_kwh,
                    currency: config
                        .or(self.currency.clone(), "currency")
                        .unwrap_or_default(),
                }),
                url: self.url.clone(),
                per_run: self.per_run,
            },
        );
        let text = match format {
            Format::Text => printable(&statement::text(&statement)).into_owned(),
            Format::Markdown => statement::markdown(&statement),
            Format::Latex => statement::latex(&statement, self.bib.is_none()),
            Format::Html => statement::html(&statement),
            Format::Json => statement::json(&statement),
        };
        if let Some(bib) = &self.bib {
            write_file(bib, bibliography::bibtex(&statement).as_bytes(), self.force)?;
        }
        match &self.output {
            Some(file) => write_file(file, text.as_bytes(), self.force)?,
            None => print(&text)?,
        }
        Ok(exit_code(&collection))
    }

    fn format(&self) -> Result<Format, Failure> {
        match (self.format, &self.output) {
            (Some(format), _) => Ok(format),
            (None, None) => Ok(Format::Text),
            (None, Some(file)) => Format::of_file(file).ok_or_else(|| {
                Failure::new(anyhow!(
                    "the ending of {} does not tell a format",
                    file.display()
                ))
                .advise("an ending of .txt, .md, .tex, .html or .json, or --format")
            }),
        }
    }

    /// The last argument is a country unless there is such a directory.
    fn folders_and_country(&self) -> Result<(Vec<PathBuf>, Option<Iso3>), Failure> {
        let (last, others) = self.paths.split_last().expect("clap requires one");
        if last.is_dir() {
            return Ok((self.paths.clone(), None));
        }
        let name = last.to_string_lossy();
        if others.is_empty() {
            return Err(Failure::new(anyhow!("{name} is not a directory"))
                .advise("impact statement LOGDIR... COUNTRY"));
        }
        let country = name.parse::<Iso3>().map_err(|error| {
            Failure::new(error).advise(format!(
                "a country such as USA; {name} is not a directory either"
            ))
        })?;
        Ok((others.to_vec(), Some(country)))
    }
}

fn currency(text: &str) -> Result<String, String> {
    keys::currency(text).map(|()| text.to_owned())
}
