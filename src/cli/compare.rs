use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::PathBuf;

use anyhow::anyhow;
use clap::{Args, ValueEnum};

use super::accounting::Accounting;
use super::destination::Destination;
use super::number::within;
use super::output::tell;
use super::settings::{Config, Sources};
use super::{Failure, Outcome, exit, left_out};
use crate::ledger::compare::gate::{Condition, Finding, METRICS, metric};
use crate::ledger::compare::{Comparison, Group, Options, Resampling};
use crate::ledger::{Figure, compare};
use crate::text::escape;
use crate::text::number::counted;

/// Test whether groups of runs differ in energy, CO2 and time
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  impact compare logs/baseline logs/candidate
  impact compare logs/ --by lr --metric energy
  impact compare logs/baseline logs/candidate --budget 'energy<=5%'
  impact compare logs/baseline logs/candidate --fail-if 'co2 > 1.5x' --output compare.svg

The other groups are compared with the first. A budget that is exceeded, a --fail-if that
comes true, or one whose figure is not known ends with exit code 1.")]
pub struct CompareArgs {
    /// Groups of runs: a directory or a quoted glob each; one directory is enough with --by
    #[arg(required = true, value_name = "GROUP")]
    groups: Vec<String>,
    /// Group the runs by the value of this tag instead
    #[arg(long, value_name = "TAG")]
    by: Option<String>,
    /// What to compare, such as energy, co2, time or gpu [default: energy, co2, time]
    #[arg(long, value_name = "METRIC", value_delimiter = ',', value_parser = parse_metric)]
    metric: Vec<Figure>,
    /// Fail unless this holds, such as 'energy<=5%': at most 5 % above the first group
    #[arg(long, value_name = "CONDITION")]
    budget: Vec<Condition>,
    /// Fail if this holds, such as 'co2 > 1.1x': more than 1.1 times the first group
    #[arg(long, value_name = "CONDITION")]
    fail_if: Vec<Condition>,
    /// Confidence level of the intervals, between 0 and 1
    #[arg(long, default_value_t = 0.95, value_parser = share, value_name = "SHARE")]
    confidence: f64,
    /// Number of draws of the bootstrap and the permutation test
    #[arg(long, default_value_t = 9999, value_parser = clap::value_parser!(u32).range(100..=10_000_000))]
    draws: u32,
    /// Seed of the bootstrap and the permutation test
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    accounting: Accounting,
    #[command(flatten)]
    destination: Destination<Format>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Markdown,
    Json,
    Csv,
    Svg,
    Html,
}

impl CompareArgs {
    pub fn run(mut self, settings: &Sources) -> Outcome {
        let config = Config::load(settings)?;
        self.accounting.fill(&config);
        let format = self.destination.format(&config)?;
        let (groups, some_left_out) = self.read_groups()?;
        if groups.len() < 2 {
            return Err(Failure::new(anyhow!("there is only one group to compare"))
                .advise("two directories, or a tag with several values after --by"));
        }
        let comparison = Comparison::of(
            &groups,
            &Options {
                assumptions: self.accounting.assumptions()?,
                figures: self.figures(),
                confidence: self.confidence,
                resampling: Resampling {
                    draws: self.draws as usize,
                    seed: self.seed,
                },
            },
        );
        let text = match format {
            Format::Text => escape::terminal(&compare::text(&comparison)).into_owned(),
            Format::Markdown => compare::markdown(&comparison),
            Format::Json => compare::json(&comparison, &self.conditions()),
            Format::Csv => compare::csv(&comparison),
            Format::Svg => compare::svg(&comparison),
            Format::Html => compare::html(&comparison),
        };
        self.destination.write(&text)?;
        let passed = self.judge(&comparison);
        Ok(if passed {
            left_out::exit_code(some_left_out)
        } else {
            exit::FAILED
        })
    }

    fn conditions(&self) -> Vec<&Condition> {
        self.budget.iter().chain(&self.fail_if).collect()
    }

    /// The figures of --metric and of the conditions.
    fn figures(&self) -> Vec<Figure> {
        let mut figures = if self.metric.is_empty() {
            METRICS[..3].iter().map(|(_, figure)| *figure).collect()
        } else {
            self.metric.clone()
        };
        figures.extend(self.conditions().iter().map(|condition| condition.figure));
        let mut known = Vec::new();
        figures.retain(|figure| {
            let new = !known.contains(figure);
            known.push(*figure);
            new
        });
        figures
    }

    /// Prints to standard error which conditions fail; whether all are met.
    fn judge(&self, comparison: &Comparison) -> bool {
        let budgets = self
            .budget
            .iter()
            .map(|condition| (condition, "budget", true));
        let failures = self
            .fail_if
            .iter()
            .map(|condition| (condition, "fail-if", false));
        let mut passed = true;
        for (condition, option, wanted) in budgets.chain(failures) {
            for finding in condition.judge(comparison) {
                let complaint = match finding {
                    Finding::Holds(found) if !wanted => found,
                    Finding::Fails(found) if wanted => found,
                    Finding::Unknown(why) => why,
                    Finding::Holds(_) | Finding::Fails(_) => continue,
                };
                passed = false;
                tell(format!(
                    "failed: --{option} '{}': {}",
                    escape::terminal(&condition.to_string()),
                    escape::terminal(&complaint)
                ));
            }
        }
        passed
    }

    /// The groups in order, and whether any log was left out.
    fn read_groups(&self) -> Result<(Vec<Group>, bool), Failure> {
        if let Some(tag) = &self.by {
            let folders: Vec<PathBuf> = self
                .groups
                .iter()
                .map(|group| folders_of(group))
                .collect::<Result<Vec<_>, _>>()?
                .concat();
            return self.by_tag(&folders, tag.strip_prefix("tag.").unwrap_or(tag));
        }
        let mut left_out = false;
        let mut groups = Vec::with_capacity(self.groups.len());
        for name in &self.groups {
            let collection = self.accounting.collect(&folders_of(name)?)?;
            left_out |= left_out::missing(&collection.skipped) > 0;
            groups.push(Group {
                name: name.clone(),
                runs: collection.runs,
            });
        }
        Ok((groups, left_out))
    }

    fn by_tag(&self, folders: &[PathBuf], tag: &str) -> Result<(Vec<Group>, bool), Failure> {
        let collection = self.accounting.collect(folders)?;
        let mut groups: BTreeMap<String, Group> = BTreeMap::new();
        let mut without = 0usize;
        for (path, run) in collection.runs {
            let Some(value) = run.tags.get(tag) else {
                without += 1;
                continue;
            };
            let name = format!("{tag}={value}");
            groups
                .entry(name.clone())
                .or_insert_with(|| Group {
                    name,
                    runs: Vec::new(),
                })
                .runs
                .push((path, run));
        }
        if without > 0 {
            tell(format!(
                "left out: {} without the tag {}",
                counted(without, "run"),
                escape::terminal(tag)
            ));
        }
        let left_out = without > 0 || left_out::missing(&collection.skipped) > 0;
        Ok((groups.into_values().collect(), left_out))
    }
}

/// The directory, or the directories that a glob matches.
fn folders_of(group: &str) -> Result<Vec<PathBuf>, Failure> {
    let folder = PathBuf::from(group);
    if folder.is_dir() || !group.contains(['*', '?', '[']) {
        return Ok(vec![folder]);
    }
    let matches: Vec<PathBuf> = glob::glob(group)
        .map_err(|error| Failure::new(error).advise("a glob such as 'logs/baseline-*'"))?
        .filter_map(Result::ok)
        .filter(|path| path.is_dir())
        .collect();
    if matches.is_empty() {
        return Err(Failure::new(anyhow!("no directory matches {group}")));
    }
    Ok(matches)
}

fn parse_metric(name: &str) -> Result<Figure, String> {
    metric(name).map_err(|error| error.to_string())
}

fn share(text: &str) -> Result<f64, String> {
    let range = (Bound::Excluded(0.0), Bound::Excluded(1.0));
    within(text, range, "it must lie between 0 and 1, such as 0.95")
}
