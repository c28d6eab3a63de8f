mod command_list;
mod runner;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::anyhow;
use clap::{Args, ValueEnum};

use self::command_list::{Command, commands};
use self::runner::{Rounds, Runner};
use super::bad_value::BadValue;
use super::destination::Destination;
use super::hardware::Hardware;
use super::output::{cannot_write, tell, write_file};
use super::settings::{Config, Sources};
use super::track::not_started;
use super::{Failure, Outcome, exit};
use crate::ledger::bench::{self, Bench, BenchCommand, WorkOfRun};
use crate::ledger::compare;
use crate::text::escape;
use crate::track::{CommandMeter, RunOptions};
use crate::units::Span;

#[derive(Debug, Args)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
#[command(after_help = "\
Examples:
  impact bench --runs 3 -- ./run.sh
  impact bench --runs 4 --warmup 1 --seed 7 -- './run.sh small' -- './run.sh large'
  impact bench --runs 3 --name a --name b --baseline b --output bench.json -- ./run.sh -- true
  impact bench --runs 3 --per tokens=4096 --subtract-idle --svg bench.svg -- ./run.sh

Several commands are separated by `--`. A command of one word with blanks is run by `sh -c`, whose
energy is then part of it; write a command that has a `--` of its own so. Commands have no input.
A short command runs several times in each sample, until a sample is far longer than the counters
take to be updated; its figures are means of these runs, with the time to start the next.
With --prepare or --warmup 0 a sample is one run, unless --repeat says otherwise.
Ctrl-C ends the command and shows what was measured so far.
Exit code 1: a command failed. 2: an option is wrong. 125, 126, 127: a command could not be
started, cannot be run, was not found. 128+n: signal n ended the benchmark; 130 for Ctrl-C.")]
pub struct BenchArgs {
    /// Samples of each command
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    runs: u32,
    /// Measure each command for at least this time instead
    #[arg(long, value_name = "TIME", conflicts_with = "runs")]
    min_time: Option<Span>,
    /// Runs of each command before the first sample, which are not part of any figure
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    warmup: u32,
    /// Run this by `sh -c` before each warm-up run and each sample; it is not measured
    #[arg(long, value_name = "CMD")]
    prepare: Option<OsString>,
    /// Runs in each sample [default: as many as the counters need]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    repeat: Option<u32>,
    /// The command that the others are compared with, by its number from 1 or its name [default: 1]
    #[arg(long, value_name = "N|NAME")]
    baseline: Option<String>,
    /// Name of a command; may be given once for each, in their order [default: the command]
    #[arg(long = "name", value_name = "NAME")]
    names: Vec<String>,
    /// Seed of the order of the commands and of the tests that draw
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// How long to measure the idle machine before; 0 for not at all
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = idle_time)]
    idle: Duration,
    /// Also give the energy without what the idle machine would have drawn
    #[arg(long)]
    subtract_idle: bool,
    /// Work that one run does, such as tokens=4096, to give the energy for a unit of it
    #[arg(long, value_name = "UNIT=NUMBER", value_parser = work)]
    per: Option<WorkOfRun>,
    /// Go on where a command fails, and say how often
    #[arg(long)]
    ignore_failure: bool,
    /// Show the output of the commands
    #[arg(long)]
    show_output: bool,
    /// Also draw the samples and means, as SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Do not put the commands into control groups of their own
    #[arg(long)]
    no_cgroup: bool,
    #[command(flatten)]
    destination: Destination<Format>,
    #[command(flatten)]
    hardware: Hardware,
    /// The commands and their arguments
    #[arg(
        value_name = "CMD",
        help_heading = "Arguments",
        required = true,
        trailing_var_arg = true
    )]
    words: Vec<OsString>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
    Csv,
    Markdown,
    Html,
}

impl BenchArgs {
    pub fn run(self, settings: &Sources) -> Outcome {
        let config = Config::load(settings)?;
        let format = self.destination.format(&config)?;
        self.check()?;
        let commands = commands(&self.words, &self.names, self.baseline.as_deref())?;
        let roots = self.hardware.roots(&config);
        let options = RunOptions {
            shows_output: self.show_output,
            own_group: !self.no_cgroup,
        };
        let meter = CommandMeter::new(roots.clone(), options);
        let meter = meter.map_err(|error| not_started(error, "bench"))?;
        let bench = Bench {
            commands: commands.iter().map(described).collect(),
            work: self.per.clone(),
            subtract_idle: self.subtract_idle,
            seed: self.seed,
            ..Bench::default()
        };
        let mut runner = Runner {
            meter,
            roots,
            rounds: match self.min_time {
                Some(time) => Rounds::Lasting(time.0),
                None => Rounds::Count(self.runs),
            },
            prepare: self.prepare.clone(),
            warm_up: self.warmup,
            repeat: self.repeat,
            idle: self.idle,
            ignores_failure: self.ignore_failure,
            shows_progress: !self.show_output,
            commands,
            bench,
            notes: Vec::new(),
        };
        let interrupted = runner.run()?;
        let bench = runner.bench;
        if bench
            .commands
            .iter()
            .any(|command| !command.samples.is_empty())
        {
            self.write(&bench, format)?;
        } else {
            tell("impact: ended before the first sample was complete");
        }
        Ok(interrupted.map_or(exit::DONE, |signal| 128 + signal))
    }

    /// Refuses what can be known to fail before the benchmark, which can take long.
    fn check(&self) -> Result<(), Failure> {
        if self.subtract_idle && self.idle.is_zero() {
            return Err(Failure::new(anyhow!(
                "--subtract-idle needs the power of the idle machine, which --idle 0 does not measure"
            ))
            .advise("--idle 2s")
            .exit_with(exit::USAGE));
        }
        self.destination.refuse_again(self.svg.as_deref())?;
        self.destination.refuse_existing()?;
        match &self.svg {
            Some(file) if !self.destination.force && file.exists() => {
                Err(cannot_write(file, io::ErrorKind::AlreadyExists.into()))
            }
            _ => Ok(()),
        }
    }

    fn write(&self, bench: &Bench, format: Format) -> Result<(), Failure> {
        if let Some(file) = &self.svg {
            let picture = compare::svg(&bench.comparison());
            write_file(file, picture.as_bytes(), self.destination.force)?;
        }
        let text = match format {
            Format::Text => escape::terminal(&bench::text(bench)).into_owned(),
            Format::Json => bench::json(bench),
            Format::Csv => bench::csv(bench),
            Format::Markdown => bench::markdown(bench),
            Format::Html => bench::html(bench),
        };
        self.destination.write(&text)
    }
}

fn described(command: &Command) -> BenchCommand {
    let words = command.words.iter();
    BenchCommand {
        name: command.name.clone(),
        words: words
            .map(|word| word.to_string_lossy().into_owned())
            .collect(),
        ..BenchCommand::default()
    }
}

/// A length of time, or 0.
fn idle_time(text: &str) -> Result<Duration, BadValue> {
    if text.trim() == "0" {
        return Ok(Duration::ZERO);
    }
    let span: Result<Span, _> = text.parse();
    span.map(|span| span.0)
        .map_err(|error| BadValue::Unparsed(error.into()))
}

fn work(text: &str) -> Result<WorkOfRun, BadValue> {
    let (unit, amount) = text.split_once('=').ok_or(BadValue::NotAPair {
        example: Some("tokens=4096"),
    })?;
    if unit.is_empty() || unit.chars().any(char::is_control) {
        return Err(BadValue::NotAText);
    }
    let amount = amount.trim().parse().ok();
    let amount = amount.filter(|amount: &f64| amount.is_finite() && *amount > 0.0);
    Ok(WorkOfRun {
        unit: unit.to_owned(),
        amount: amount.ok_or(BadValue::OutOfRange {
            rule: "it must be a number above 0, such as tokens=4096",
        })?,
    })
}
