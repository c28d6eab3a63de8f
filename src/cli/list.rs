use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use chrono::{DateTime, Utc};
use clap::Args;
use serde::Serialize;

use super::Outcome;
use super::accounting::{Accounting, exit_code};
use super::folder::RunFolders;
use super::output::print;
use super::settings::{Config, Sources};
use super::table_format::{TableFormat, TableFormatArg};
use crate::ledger::compare::{METRICS, NoSuchMetric, metric};
use crate::ledger::figure::{Amount, Figures, without_intensity};
use crate::ledger::filter::Filter;
use crate::ledger::{AccountedRun, Figure, RunOutcome, Tally};
use crate::text::number::{counted, percent};
use crate::text::table::{Table, UNKNOWN};
use crate::text::{escape, quantity};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  impact list logs/
  impact list logs/ --sort energy --filter 'tag.lr=0.1'
  impact list logs/ --filter 'energy>0.01' --format csv

A filter compares tag.NAME, name, host or a figure with a value. Texts may be globs; figures are
in kWh, kg and h, as in --format csv.")]
pub struct ListArgs {
    #[command(flatten)]
    folders: RunFolders,
    /// Largest first by a figure such as energy, co2 or time; or by path, name, host or started
    #[arg(long, default_value = "path", value_name = "KEY")]
    sort: Sort,
    /// Keep only runs for which this holds; may be given several times
    #[arg(long, value_name = "CONDITION")]
    filter: Vec<Filter>,
    #[command(flatten)]
    accounting: Accounting,
    #[command(flatten)]
    format: TableFormatArg,
}

#[derive(Debug, Clone, Copy)]
enum Sort {
    Path,
    Name,
    Host,
    Started,
    Figure(Figure),
}

/// A name of nothing that runs can be sorted by.
#[derive(Debug, thiserror::Error)]
#[error("{error}; known are path, name, host, started, {}", METRICS.map(|(name, _)| name).join(", "))]
struct NoSuchOrder {
    error: NoSuchMetric,
}

impl std::str::FromStr for Sort {
    type Err = NoSuchOrder;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "path" => Self::Path,
            "name" => Self::Name,
            "host" => Self::Host,
            "started" => Self::Started,
            other => Self::Figure(metric(other).map_err(|error| NoSuchOrder { error })?),
        })
    }
}

/// Each with its unit in CSV and its name for people.
const FIGURES: [(&str, &str, Figure); 4] = [
    ("kWh", "energy", Figure::Energy),
    ("kg CO2eq", "CO2eq", Figure::Emissions),
    ("h", "time", Figure::Duration),
    ("measured", "measured", Figure::MeasuredShare),
];

/// What a line of the list needs of a run; there may be a hundred thousand.
struct Line {
    path: Box<Path>,
    name: Option<Box<str>>,
    host: Option<Box<str>>,
    started: Option<DateTime<Utc>>,
    tags: BTreeMap<String, String>,
    /// The figures that are shown, in their order.
    figures: Box<[Option<Amount>]>,
    /// What the run is sorted by.
    key: Option<f64>,
}

#[derive(Serialize)]
struct Entry<'a> {
    path: String,
    name: Option<&'a str>,
    host: Option<&'a str>,
    started: Option<String>,
    tags: &'a BTreeMap<String, String>,
    #[serde(flatten)]
    figures: Figures,
}

impl ListArgs {
    pub fn run(mut self, settings: &Sources) -> Outcome {
        let config = Config::load(settings)?;
        self.accounting.fill(&config);
        let assumptions = self.accounting.assumptions()?;
        let format = self.format.or_configured(&config);
        let shown: &[Figure] = match format {
            TableFormat::Json => &Figure::ALL,
            _ => &FIGURES.map(|(.., figure)| figure),
        };
        let total = Mutex::new(Tally::default());
        let folders = self.folders.or_usual(&config)?;
        let gathered = self.accounting.gather(&folders, |path, run| {
            let accounted = AccountedRun::new(path, &run, &assumptions);
            let is_wanted = self.filter.iter().all(|filter| filter.keeps(&accounted));
            is_wanted.then(|| {
                let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
                *total = std::mem::take(&mut *total).merge(accounted.tally.clone());
                drop(total);
                self.line(&accounted, shown)
            })
        })?;
        let mut lines: Vec<Line> = gathered.kept.into_iter().flatten().collect();
        self.sort(&mut lines);
        let total = total.into_inner().unwrap_or_else(PoisonError::into_inner);
        let text = match format {
            TableFormat::Json => json(&lines)?,
            TableFormat::Csv => exact_table(lines).csv(),
            TableFormat::Markdown => table(lines, &total).markdown() + &remarks(&total),
            TableFormat::Text => {
                let text = table(lines, &total).text() + &remarks(&total);
                escape::terminal(&text).into_owned()
            }
        };
        print(&text)?;
        Ok(exit_code(&gathered.skipped))
    }

    fn line(&self, accounted: &AccountedRun, shown: &[Figure]) -> Line {
        let run = accounted.run;
        let amount = |figure: &Figure| match figure {
            // That of a single run is the mean of what was recorded.
            Figure::CarbonIntensity => accounted.figure(*figure).map(Amount::Ratio),
            figure => figure.amount(&accounted.tally),
        };
        Line {
            path: accounted.path.into(),
            name: run.name.as_deref().map(Box::from),
            host: run.host.as_deref().map(Box::from),
            started: run.started,
            tags: run.tags.clone(),
            figures: shown.iter().map(amount).collect(),
            key: match self.sort {
                Sort::Figure(figure) => accounted.figure(figure),
                _ => None,
            },
        }
    }

    /// A stable sort: runs that are equal stay in the order of their paths.
    fn sort(&self, lines: &mut [Line]) {
        match self.sort {
            Sort::Path => {}
            Sort::Name => lines.sort_by(|a, b| a.name.cmp(&b.name)),
            Sort::Host => lines.sort_by(|a, b| a.host.cmp(&b.host)),
            Sort::Started => lines.sort_by_key(|line| line.started),
            Sort::Figure(_) => lines.sort_by(|a, b| match (a.key, b.key) {
                (Some(a), Some(b)) => b.total_cmp(&a),
                // Runs that do not tell the figure come last.
                (a, b) => b.is_some().cmp(&a.is_some()),
            }),
        }
    }
}

const WORDS: [&str; 4] = ["run", "name", "host", "started"];

/// For programs: rows of one kind, with fixed units and all digits.
fn exact_table(lines: Vec<Line>) -> Table {
    let mut table = Table::new(&WORDS, &FIGURES.map(|(unit, ..)| unit));
    for line in lines {
        let figures = line.figures.iter().map(|amount| match amount {
            Some(Amount::Sum(exact)) => exact.to_string(),
            Some(Amount::Ratio(ratio)) => ratio.to_string(),
            None => String::new(),
        });
        table.push(words(&line).into_iter().chain(figures));
    }
    table
}

/// For people: the runs, and what they come to.
fn table(lines: Vec<Line>, total: &Tally) -> Table {
    let mut table = Table::new(&WORDS, &FIGURES.map(|(_, label, _)| label));
    let shown = |figure: Figure, amount: Option<Amount>| match amount {
        Some(amount) => figure.shown(amount.value()),
        None => UNKNOWN.to_owned(),
    };
    let all = counted(lines.len(), "run");
    for line in lines {
        let figures = FIGURES.iter().zip(&line.figures);
        let figures = figures.map(|((.., figure), amount)| shown(*figure, *amount));
        table.push(words(&line).into_iter().chain(figures));
    }
    let words = [format!("total of {all}")]
        .into_iter()
        .chain([const { String::new() }; 3]);
    let figures =
        FIGURES.map(|(.., figure)| figure.total(total).unwrap_or_else(|| UNKNOWN.to_owned()));
    table.push(words.chain(figures));
    table
}

/// What a reader of the total must know.
fn remarks(total: &Tally) -> String {
    let (failed, energy) = total.outcomes.get(RunOutcome::Failed);
    let failed = (failed > 0).then(|| {
        let share = total.outcomes.failed_share().map(percent);
        let share = share.map_or_else(String::new, |share| format!(", {share} of the energy"));
        let of = counted(total.runs, "run");
        let energy = quantity::electricity(energy);
        format!("failed: {failed} of {of}, {energy}{share}")
    });
    let unknown = total.runs_without_intensity();
    let lines = (unknown > 0).then(|| format!("CO2eq: {}", without_intensity(unknown, total.runs)));
    let lines: Vec<String> = lines.into_iter().chain(failed).collect();
    if lines.is_empty() {
        return String::new();
    }
    format!("\n{}\n", lines.join("\n"))
}

fn words(line: &Line) -> [String; 4] {
    [
        line.path.display().to_string(),
        line.name.as_deref().unwrap_or_default().to_owned(),
        line.host.as_deref().unwrap_or_default().to_owned(),
        started(line).unwrap_or_default(),
    ]
}

fn started(line: &Line) -> Option<String> {
    let started = line.started?;
    Some(started.format("%Y-%m-%dT%H:%M:%SZ").to_string())
}

fn json(lines: &[Line]) -> Result<String, serde_json::Error> {
    let entries: Vec<Entry> = lines
        .iter()
        .map(|line| Entry {
            path: line.path.display().to_string(),
            name: line.name.as_deref(),
            host: line.host.as_deref(),
            started: started(line),
            tags: &line.tags,
            figures: Figure::ALL
                .into_iter()
                .zip(line.figures.iter().copied())
                .map(|(figure, amount)| (figure.name(), amount))
                .collect(),
        })
        .collect();
    escape::pretty_json(&entries)
}
