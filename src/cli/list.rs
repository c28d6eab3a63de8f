use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::accounting::{Accounting, exit_code};
use super::output::print;
use super::settings::{Config, Sources};
use super::{Outcome, configured};
use crate::ledger::compare::gate::metric;
use crate::ledger::figure::{Amount, Figures};
use crate::ledger::filter::Filter;
use crate::ledger::{AccountedRun, Figure, RunSummary, Tally};
use crate::text::escape;
use crate::text::number::{counted, human};
use crate::text::table::{Table, UNKNOWN};

/// List all runs below a directory in a table, with totals
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  impact list logs/
  impact list logs/ --sort energy --filter 'tag.lr=0.1'
  impact list logs/ --filter 'energy>0.01' --format csv

A filter compares tag.NAME, name, host or a figure with a value; texts may be globs.")]
pub struct ListArgs {
    /// Directories with runs in them
    #[arg(required = true, value_name = "LOGDIR")]
    folders: Vec<PathBuf>,
    /// Largest first by a figure such as energy, co2 or time; or by path, name, host or started
    #[arg(long, default_value = "path", value_name = "KEY")]
    sort: Sort,
    /// Keep only runs for which this holds; may be given several times
    #[arg(long, value_name = "CONDITION")]
    filter: Vec<Filter>,
    #[command(flatten)]
    accounting: Accounting,
    /// Output format [default: text]
    #[arg(long, value_enum)]
    format: Option<Format>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Markdown,
    Csv,
    Json,
}

#[derive(Debug, Clone, Copy)]
enum Sort {
    Path,
    Name,
    Host,
    Started,
    Figure(Figure),
}

impl std::str::FromStr for Sort {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "path" => Self::Path,
            "name" => Self::Name,
            "host" => Self::Host,
            "started" => Self::Started,
            other => Self::Figure(metric(other).map_err(|error| error.to_string())?),
        })
    }
}

const FIGURES: [(&str, Figure); 4] = [
    ("kWh", Figure::Energy),
    ("kg CO2eq", Figure::Emissions),
    ("h", Figure::Duration),
    ("measured", Figure::MeasuredShare),
];

#[derive(Serialize)]
struct Entry<'a> {
    path: String,
    name: Option<&'a str>,
    host: Option<&'a str>,
    started: Option<String>,
    tags: &'a std::collections::BTreeMap<String, String>,
    #[serde(flatten)]
    figures: Figures,
}

impl ListArgs {
    pub fn run(mut self, settings: &Sources) -> Outcome {
        let config = Config::load(settings)?;
        self.accounting.fill(&config);
        let collection = self.accounting.collect(&self.folders)?;
        let assumptions = self.accounting.assumptions()?;
        let mut lines: Vec<AccountedRun> = collection
            .accounted(&assumptions)
            .filter(|run| self.filter.iter().all(|filter| filter.keeps(run)))
            .collect();
        self.sort(&mut lines);
        let format = self.format.or_else(|| configured::format(&config));
        let text = match format.unwrap_or(Format::Text) {
            Format::Json => json(&lines)?,
            Format::Csv => table(&lines, &exact, "").csv(),
            Format::Markdown => table(&lines, &rounded, UNKNOWN).markdown(),
            Format::Text => escape::terminal(&table(&lines, &rounded, UNKNOWN).text()).into_owned(),
        };
        print(&text)?;
        Ok(exit_code(&collection))
    }

    /// A stable sort: runs that are equal stay in the order of their paths.
    fn sort(&self, lines: &mut [AccountedRun]) {
        match self.sort {
            Sort::Path => {}
            Sort::Name => lines.sort_by(|a, b| a.run.name.cmp(&b.run.name)),
            Sort::Host => lines.sort_by(|a, b| a.run.host.cmp(&b.run.host)),
            Sort::Started => lines.sort_by_key(|line| line.run.started),
            Sort::Figure(figure) => {
                let value = |line: &AccountedRun| line.figure(figure);
                lines.sort_by(|a, b| match (value(a), value(b)) {
                    (Some(a), Some(b)) => b.total_cmp(&a),
                    // Runs that do not tell the figure come last.
                    (a, b) => b.is_some().cmp(&a.is_some()),
                });
            }
        }
    }
}

/// The runs and, for people, what they come to.
fn table(lines: &[AccountedRun], number: &dyn Fn(Amount) -> String, unknown: &str) -> Table {
    let mut table = Table::new(
        &["run", "name", "host", "started"],
        &FIGURES.map(|(title, _)| title),
    );
    let figures = |tally: &Tally| {
        FIGURES.map(|(_, figure)| {
            figure
                .amount(tally)
                .map_or_else(|| unknown.to_owned(), number)
        })
    };
    for line in lines {
        let words = [
            line.path.display().to_string(),
            line.run.name.clone().unwrap_or_default(),
            line.run.host.clone().unwrap_or_default(),
            started(line.run).unwrap_or_default(),
        ];
        table.push(words.into_iter().chain(figures(&line.tally)));
    }
    // A table for machines has rows of one kind.
    if !unknown.is_empty() {
        let total = lines
            .iter()
            .fold(Tally::default(), |sum, line| sum.merge(line.tally.clone()));
        let words = [
            format!("total of {}", counted(lines.len(), "run")),
            String::new(),
            String::new(),
            String::new(),
        ];
        table.push(words.into_iter().chain(figures(&total)));
    }
    table
}

fn rounded(amount: Amount) -> String {
    human(amount.value())
}

fn exact(amount: Amount) -> String {
    match amount {
        Amount::Sum(exact) => exact.to_string(),
        Amount::Ratio(ratio) => ratio.to_string(),
    }
}

fn started(run: &RunSummary) -> Option<String> {
    let started = run.started?;
    Some(started.format("%Y-%m-%dT%H:%M:%SZ").to_string())
}

fn json(lines: &[AccountedRun]) -> Result<String, serde_json::Error> {
    let entries: Vec<Entry> = lines
        .iter()
        .map(|line| Entry {
            path: line.path.display().to_string(),
            name: line.run.name.as_deref(),
            host: line.run.host.as_deref(),
            started: started(line.run),
            tags: &line.run.tags,
            figures: line.figures(),
        })
        .collect();
    escape::pretty_json(&entries)
}
