mod groups;

use std::collections::BTreeSet;
use std::ops::Bound;
use std::path::PathBuf;

use anyhow::{Context as _, anyhow};
use clap::{Args, ValueEnum};

use self::groups::pair;
use super::accounting::Accounting;
use super::bad_value::BadValue;
use super::destination::Destination;
use super::number::fraction;
use super::output::tell;
use super::settings::{Config, Sources};
use super::{Advise as _, Failure, Outcome, exit, folder, left_out};
use crate::files;
use crate::ledger::basis_split::BasisSplit;
use crate::ledger::compare::{
    self, BadCondition, Comparison, Condition, Detail, Direction, Gate, Group, Judged, METRICS,
    Metric, Options, OwnFigures, Resampling,
};
use crate::text::{escape, nearest};

/// Larger files are no site specs.
const LARGEST_SPEC: u64 = 16 << 20;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  impact compare logs/baseline logs/candidate
  impact compare logs/ --by lr --baseline 0.1 --metric energy
  impact compare logs/baseline logs/candidate --paired-by seed
  impact compare logs/baseline logs/candidate --phase train --metric j_per_tokens
  impact compare logs/baseline logs/candidate --metric 'energy,score=eval.csv:last(score)'
  impact compare logs/baseline logs/candidate --budget 'energy<=+5%'
  impact compare logs/baseline logs/candidate --fail-if 'co2 > 1.5x' --output compare.html

The other groups are compared with the first, or with --baseline. A bound of --budget and --fail-if
is +5% (5 % more than the baseline), 105% (of it), 1.05x (times it), or an amount in J, Wh, kWh, g,
kg, s, min or h.
j_per_UNIT is the energy for a unit of work, as counted with `impact mark --count UNIT=NUMBER`.
A figure from a file is NAME=FILE:FORMULA, with FILE in the folder of each run, and mean, median,
min, max, sum, first, last, count or std of a column; --metrics-from reads them from a site spec.
Exit code 6: a gate failed. Exit code 1: an error, or the figure of a gate is not known.")]
pub struct CompareArgs {
    /// Groups of runs: a directory or a quoted glob each; with --by one directory [default: impact-logs]
    #[arg(required_unless_present = "by", value_name = "GROUP")]
    groups: Vec<String>,
    /// Group the runs by the value of this tag instead
    #[arg(long, value_name = "TAG")]
    by: Option<String>,
    /// Compare this phase of the runs, as marked with `impact mark`, instead of the whole runs
    #[arg(long, value_name = "NAME")]
    phase: Option<String>,
    /// The group that the others are compared with [default: the first]
    #[arg(long, value_name = "NAME")]
    baseline: Option<String>,
    /// Compare runs in pairs that have the same value of this tag, such as seed
    #[arg(long, value_name = "TAG")]
    paired_by: Option<String>,
    /// What to compare, such as energy, co2, time, gpu or NAME=FILE:FORMULA [default: energy, co2, time]
    #[arg(long, value_name = "METRIC", value_delimiter = ',')]
    metric: Vec<String>,
    /// Also offer the figures that the `processors` of this site spec take from files
    #[arg(long, value_name = "SPEC")]
    metrics_from: Option<PathBuf>,
    /// Run the commands of --metrics-from
    #[arg(long, requires = "metrics_from")]
    allow_commands: bool,
    /// Fail unless this holds, such as 'energy<=+5%': at most 5 % more than the baseline
    #[arg(long, value_name = "CONDITION")]
    budget: Vec<String>,
    /// Fail if this holds, such as 'co2 > 1.1x': more than 1.1 times the baseline
    #[arg(long, value_name = "CONDITION")]
    fail_if: Vec<String>,
    /// Fail if any of the figures differs significantly from the baseline: more, less or any
    #[arg(
        long,
        value_name = "DIRECTION",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "any"
    )]
    fail_if_significant: Option<Significant>,
    /// Print the result of every test
    #[arg(long)]
    tests: bool,
    /// List the Python packages whose versions differ
    #[arg(long)]
    environment: bool,
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
enum Significant {
    Any,
    More,
    Less,
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

/// What to compare and what must hold, as the options say.
struct Wanted {
    own: OwnFigures,
    figures: Vec<Metric>,
    gates: Vec<Gate>,
}

impl CompareArgs {
    pub fn run(mut self, settings: &Sources) -> Outcome {
        let config = Config::load(settings)?;
        self.accounting.fill(&config);
        for tag in [&mut self.by, &mut self.paired_by].into_iter().flatten() {
            if let Some(name) = tag.strip_prefix("tag.") {
                *tag = name.to_owned();
            }
        }
        let format = self.destination.format(&config)?;
        let wanted = self.wanted()?;
        if self.groups.is_empty() {
            self.groups
                .push(folder::usual(&config)?.display().to_string());
        }
        let (groups, some_left_out) = self.read_groups()?;
        if let Some(tag) = self.by.as_ref().filter(|_| groups.is_empty()) {
            return Err(Failure::new(anyhow!("no run has the tag {tag}"))
                .advise("a tag that the runs have: impact list --format json shows them"));
        }
        if groups.len() < 2 {
            return Err(Failure::new(anyhow!("there is only one group to compare"))
                .advise("two directories, or a tag with several values after --by"));
        }
        let (mut groups, some_without) = self.of_phase(groups)?;
        let some_left_out = some_left_out || some_without;
        refuse_unknown_work(&wanted.figures, &groups)?;
        if let Some(baseline) = &self.baseline {
            self.put_first(baseline, &mut groups)?;
        }
        let alone = match &self.paired_by {
            Some(tag) => pair(tag, &mut groups)?,
            None => 0,
        };
        let assumptions = self.accounting.assumptions()?;
        let runs = groups.iter().flat_map(|group| &group.runs);
        let bases = BasisSplit::over(runs.map(|(_, run)| run), &assumptions);
        if let Some(parts) = bases.different() {
            tell(format!(
                "note: the carbon intensities have different bases, which are not comparable: {parts}; \
                 --basis chooses one"
            ));
        }
        let comparison = Comparison::of(
            &groups,
            &Options {
                assumptions,
                figures: wanted.figures,
                own: wanted.own,
                paired_by: self.paired_by.clone(),
                confidence: self.confidence,
                resampling: Resampling {
                    draws: self.draws as usize,
                    seed: self.seed,
                },
            },
        );
        let judged: Vec<Judged> = wanted
            .gates
            .iter()
            .map(|gate| gate.judge(&comparison))
            .collect();
        let detail = Detail {
            tests: self.tests,
            packages: self.environment,
        };
        let text = match format {
            Format::Text => escape::terminal(&compare::text(&comparison, detail)).into_owned(),
            Format::Markdown => compare::markdown(&comparison, detail),
            Format::Json => compare::json(&comparison, &judged),
            Format::Csv => compare::csv(&comparison),
            Format::Svg => compare::svg(&comparison),
            Format::Html => compare::html(&comparison),
        };
        self.destination.write(&text)?;
        match tell_gates(&judged) {
            compare::Outcome::Failed => Ok(exit::GATE_FAILED),
            compare::Outcome::Unknown => Ok(exit::FAILED),
            compare::Outcome::Passed => Ok(left_out::exit_code(some_left_out || alone > 0)),
        }
    }

    /// Reads the options that name figures and conditions.
    fn wanted(&self) -> Result<Wanted, Failure> {
        let mut own = OwnFigures::default();
        own.commands_allowed = self.allow_commands;
        if let Some(spec) = &self.metrics_from {
            let text = files::read_text(spec, LARGEST_SPEC)
                .with_context(|| format!("cannot read {}", spec.display()))?;
            own.add_spec(text.as_bytes())
                .with_context(|| format!("{} defines no figures", spec.display()))
                .advise("a site spec with `processors`; impact appendix --print-spec shows one")?;
        }
        let mut figures: Vec<Metric> = Vec::new();
        for name in &self.metric {
            figures.push(if name.contains('=') {
                let defined = own.add_definition(name);
                Metric::Own(
                    defined.map_err(|error| usage(error, "--metric score=eval.csv:last(score)"))?,
                )
            } else {
                own.metric(name).map_err(|error| {
                    usage(
                        error,
                        "energy, co2, time, cpu, gpu, memory, j_per_UNIT or NAME=FILE:FORMULA",
                    )
                })?
            });
        }
        if self.metric.is_empty() {
            figures.extend(
                METRICS[..3]
                    .iter()
                    .map(|(_, figure)| Metric::Figure(*figure)),
            );
            figures.extend(own.names().map(|name| Metric::Own(name.to_owned())));
        }
        let condition = |text: &String| {
            Condition::parse(text, &own).map_err(|error: BadCondition| {
                let advice = error.advice();
                let advice = advice
                    .unwrap_or_else(|| "'energy<=+5%', 'co2 > 1.1x' or 'time < 2 h'".to_owned());
                usage(error, advice)
            })
        };
        let mut gates = Vec::new();
        for text in &self.budget {
            gates.push(Gate::Budget(condition(text)?));
        }
        for text in &self.fail_if {
            gates.push(Gate::FailIf(condition(text)?));
        }
        gates.extend(self.fail_if_significant.map(|direction| {
            Gate::FailIfSignificant(match direction {
                Significant::Any => Direction::Any,
                Significant::More => Direction::More,
                Significant::Less => Direction::Less,
            })
        }));
        figures.extend(
            gates
                .iter()
                .filter_map(Gate::condition)
                .map(|of| of.figure.clone()),
        );
        let mut known = Vec::new();
        figures.retain(|figure| {
            let is_new = !known.contains(figure);
            known.push(figure.clone());
            is_new
        });
        Ok(Wanted {
            own,
            figures,
            gates,
        })
    }
}

/// Fails where no run has counted the work that a figure is about.
fn refuse_unknown_work(figures: &[Metric], groups: &[Group]) -> Result<(), Failure> {
    let runs = groups.iter().flat_map(|group| &group.runs);
    let known: BTreeSet<&str> = runs
        .flat_map(|(_, run)| run.counts.keys().map(|unit| &**unit))
        .collect();
    let mut wanted = figures.iter().filter_map(Metric::work);
    let Some(unit) = wanted.find(|unit| !known.contains(unit)) else {
        return Ok(());
    };
    let nearest = nearest::said(&nearest::of(unit, known.iter().copied()));
    let names: Vec<String> = known.iter().map(|unit| format!("j_per_{unit}")).collect();
    let advice = if names.is_empty() {
        format!("impact mark --count {unit}=NUMBER in the job, which counts its work")
    } else {
        names.join(", ")
    };
    Err(Failure::new(anyhow!("no run has counted {unit}{nearest}")).advise(advice))
}

/// Prints to standard error why gates did not pass.
fn tell_gates(gates: &[Judged]) -> compare::Outcome {
    let mut worst = compare::Outcome::Passed;
    for gate in gates {
        let how = match gate.outcome {
            compare::Outcome::Failed => "failed",
            _ => "not judged",
        };
        for complaint in gate.complaints() {
            tell(format!(
                "{how}: --{} '{}': {}",
                gate.option,
                escape::terminal(&gate.condition),
                escape::terminal(complaint)
            ));
        }
        worst = match (worst, gate.outcome) {
            (compare::Outcome::Failed, _) | (_, compare::Outcome::Failed) => {
                compare::Outcome::Failed
            }
            (compare::Outcome::Unknown, _) | (_, compare::Outcome::Unknown) => {
                compare::Outcome::Unknown
            }
            _ => compare::Outcome::Passed,
        };
    }
    worst
}

fn usage(error: impl Into<anyhow::Error>, advice: impl Into<String>) -> Failure {
    Failure::new(error).advise(advice).exit_with(exit::USAGE)
}

fn share(text: &str) -> Result<f64, BadValue> {
    let range = (Bound::Excluded(0.0), Bound::Excluded(1.0));
    fraction(
        text,
        range,
        "it must lie between 0 and 1, such as 0.95 or 95%",
    )
}
