use std::path::PathBuf;

use anyhow::anyhow;
use clap::{Args, ValueEnum};

use super::accounting::{Accounting, exit_code};
use super::destination::Destination;
use super::output::{tell, write_file};
use super::settings::{Config, Sources, keys};
use super::{Failure, Outcome, folder};
use crate::grid::zone::{Iso3, ZoneId, register};
use crate::ledger::statement;
use crate::ledger::statement::{Options, Price, Statement, bibliography};
use crate::ledger::totals::Accumulator;
use crate::model::Redaction;
use crate::text::escape;
use crate::text::number::counted;
use crate::units::PricePerKwh;

#[derive(Debug, Args)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
#[command(after_help = "\
Examples:
  impact statement logs/ USA
  impact statement logs/ --format latex --bib impact.bib
  impact statement logs/ --format checklist
  impact statement logs/ --format json --redact --output for-reviewers.json
  impact statement logs/ --format model-card --training-type fine-tuning
  impact statement cluster-a/ cluster-b/ DEU --pue 1.1 --price 0.31 --currency EUR

The country is an ISO code or an English name; without one, the country the runs took place in is
used. Its average is used for runs of which nothing else says where they took place. Exit code 3
means that some logs could not be read; they are listed on standard error. So are copies and parts
of other runs, which are counted once and do not change the exit code.")]
pub struct StatementArgs {
    /// Directories with logs [default: impact-logs], then the country whose social cost of carbon is stated
    #[arg(value_name = "LOGDIR... [COUNTRY]")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    accounting: Accounting,
    #[command(flatten)]
    destination: Destination<Format>,
    /// Write the BibTeX entries to this file instead of below the LaTeX
    #[arg(long, value_name = "FILE")]
    bib: Option<PathBuf>,
    /// Price of a kWh; adds the electricity bill
    #[arg(long, value_name = "PER_KWH", allow_negative_numbers = true)]
    price: Option<PricePerKwh>,
    /// Currency of the price [default: USD]
    #[arg(long, value_parser = keys::currency)]
    currency: Option<String>,
    /// Kind of training for the model card, such as pre-training or fine-tuning
    #[arg(long, value_name = "TYPE")]
    training_type: Option<String>,
    /// Address of the appendix with the details
    #[arg(long)]
    url: Option<String>,
    /// Tell every detail: sources, models, reasons, failed runs
    #[arg(long)]
    detail: bool,
    /// Add a table of the runs
    #[arg(long)]
    per_run: bool,
    /// For double-blind review: leave out the folders of the logs, in every format
    #[arg(long)]
    redact: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Markdown,
    Latex,
    Html,
    Json,
    /// Answers to the compute questions of the NeurIPS and ACL checklists
    Checklist,
    /// The `co2_eq_emissions` of a Hugging Face model card, in YAML
    ModelCard,
}

impl StatementArgs {
    pub fn run(mut self, settings: &Sources) -> Outcome {
        let config = Config::load(settings)?;
        self.accounting.fill(&config);
        let format = self.destination.format(&config)?;
        self.destination.refuse_again(self.bib.as_deref())?;
        let (folders, country) = self.folders_and_country(&config)?;
        self.accounting.place.make_for(country);
        let country = country.or(self.accounting.place.country());
        let mut assumptions = self.accounting.assumptions()?;
        if self.price.is_none() {
            let bill = config.of_project(["price", "currency"]);
            assumptions.project_settings.extend(bill);
        }
        let options = Options {
            assumptions,
            country,
            price: config.or(self.price, "price").map(|per_kwh| Price {
                per_kwh,
                currency: config
                    .or(self.currency.clone(), "currency")
                    .unwrap_or_default(),
            }),
            url: self.url.clone(),
            detail: self.detail,
            per_run: self.per_run,
        };
        // Runs are added up as they are read: there may be more of them than fit into memory.
        let sum = Accumulator::new(&options.assumptions, options.per_run);
        let gathered = self
            .accounting
            .gather(&folders, |path, run| sum.add(path, &run))?;
        let mut statement = Statement::on(sum.finish(gathered), &options);
        tell_what_is_unknown(&statement);
        let redaction = if self.redact {
            statement.shorten_paths(&folders);
            Redaction::Identity
        } else {
            Redaction::Secrets
        };
        let text = match format {
            Format::Text => escape::terminal(&statement::text(&statement)).into_owned(),
            Format::Markdown => statement::markdown(&statement),
            Format::Latex => statement::latex(&statement, self.bib.is_none()),
            Format::Html => statement::html(&statement),
            Format::Json => statement::json(&statement),
            Format::Checklist => escape::terminal(&statement::checklist(&statement)).into_owned(),
            Format::ModelCard => statement::model_card(&statement, self.training_type.as_deref()),
        };
        if let Some(bib) = &self.bib {
            let entries = bibliography::bibtex(&statement);
            write_file(bib, entries.as_bytes(), self.destination.force)?;
        }
        self.destination.write(&redaction.without_places(&text))?;
        Ok(exit_code(&statement.skipped))
    }

    /// The last argument is a country unless there is such a directory.
    fn folders_and_country(
        &self,
        config: &Config,
    ) -> Result<(Vec<PathBuf>, Option<Iso3>), Failure> {
        let Some((last, others)) = self.paths.split_last() else {
            return Ok((vec![folder::usual(config)?], None));
        };
        if last.is_dir() {
            return Ok((self.paths.clone(), None));
        }
        let name = last.to_string_lossy();
        if others.is_empty() && Iso3::meant_by(&name).is_none() {
            return Err(Failure::new(anyhow!("{name} is not a directory"))
                .advise("impact statement LOGDIR... COUNTRY"));
        }
        let country = name.parse::<Iso3>().map_err(|error| {
            let is_zone = |zone: ZoneId| register::find_area(&zone).is_ok();
            Failure::new(error).advise(if name.parse().is_ok_and(is_zone) {
                format!("--zone {name}; the last argument is a country such as USA")
            } else {
                format!("a country such as USA; {name} is not a directory either")
            })
        })?;
        let folders = folder::or_usual(others.to_vec(), config)?;
        Ok((folders, Some(country)))
    }
}

/// The advice is for the author; the statement only says what is not known.
fn tell_what_is_unknown(statement: &Statement) {
    let unknown = statement.tally.runs_without_intensity();
    if unknown > 0 {
        tell(format!(
            "carbon intensity not known for {unknown} of {}",
            counted(statement.tally.runs, "run")
        ));
        tell(
            "try: --zone ZONE or --country COUNTRY for runs that did not record where they took place, \
             or --emissions-factor G_PER_KWH for all runs",
        );
    }
}
