//! The command line: clap, settings, terminals and exit codes; one command a file.

mod accounting;
#[cfg(feature = "site")]
mod appendix;
mod attribute;
#[cfg(feature = "live")]
mod backfill;
mod bad_value;
#[cfg(all(feature = "track", target_os = "linux"))]
mod bench;
mod cloud;
mod compare;
mod completions;
mod config;
mod configured;
mod deferred;
mod destination;
#[cfg(all(feature = "track", target_os = "linux"))]
mod doctor;
mod estimate;
mod exit;
mod export;
mod failure;
mod folder;
#[cfg(feature = "live")]
mod grid;
#[cfg(all(feature = "track", target_os = "linux"))]
mod hardware;
mod left_out;
mod list;
mod man;
mod map;
mod mark;
mod merge;
mod number;
mod output;
mod place;
mod place_of_runs;
#[cfg(all(feature = "track", target_os = "linux"))]
mod powercap;
mod region;
mod report;
#[cfg(all(feature = "track", target_os = "linux"))]
mod require;
mod settings;
mod statement;
mod table_format;
#[cfg(all(feature = "track", target_os = "linux"))]
mod track;
#[cfg(not(all(feature = "track", target_os = "linux")))]
mod unsupported;
mod usage;
mod version;
mod yaml;

/// What the fuzz targets call.
#[cfg(fuzzing)]
pub mod fuzzing {
    use std::path::Path;

    /// Reads a file as settings, and sets a value in its text.
    pub fn read_settings(path: &Path) {
        super::settings::read_any(path);
    }
}

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use deferred::Deferred;
use failure::{Advise, Failure};

use crate::cli::settings::Sources;
#[cfg(not(all(feature = "track", target_os = "linux")))]
use unsupported::{bench, doctor, powercap, require, track};

/// The exit code of a command, or why it failed.
type Outcome = Result<u8, Failure>;

/// Measure the energy and carbon emissions of experiments, and report them
#[derive(Debug, Parser)]
#[command(
    name = "impact",
    version,
    propagate_version = true,
    max_term_width = 100
)]
#[cfg_attr(
    not(all(feature = "track", target_os = "linux")),
    command(
        before_help = "This impact cannot measure on this system yet: `track`, `bench`, `powercap`, `doctor` and `require` only say so."
    )
)]
#[command(after_help = "\
Examples:
  impact track -- ./run.sh
  impact statement impact-logs/ USA

`impact COMMAND --help` has examples of every command. `impact --version --verbose` lists the data
tables inside and their versions.")]
struct Cli {
    /// Set a configuration key for this command; overrides files and environment variables
    #[arg(long = "config", global = true, value_name = "KEY=VALUE", value_parser = configured::pair)]
    config: Vec<(String, String)>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a command and measure the energy of it and all its descendants
    Track(Deferred<Box<track::TrackArgs>>),
    /// Measure commands many times, and say which needs less energy
    Bench(Deferred<Box<bench::BenchArgs>>),
    /// Mark a phase of a job that is being tracked, from inside the job, or count its work
    Mark(Deferred<mark::MarkArgs>),
    /// Show and set how much power the GPUs may draw
    Powercap(Deferred<powercap::PowercapArgs>),
    /// Say what can be measured on this machine, how well, and what would make it better
    Doctor(Deferred<doctor::DoctorArgs>),
    /// Check that this machine has the hardware an experiment requires
    Require(Deferred<require::RequireArgs>),
    /// Estimate the energy and emissions of a job from the design power of its hardware
    Estimate(Deferred<estimate::EstimateArgs>),
    /// List all runs below a directory in a table, with totals
    List(Deferred<list::ListArgs>),
    /// Show the figures of one or several runs, per device and per node
    Report(Deferred<report::ReportArgs>),
    /// Write the carbon impact statement of some runs, for a paper
    Statement(Deferred<statement::StatementArgs>),
    /// Write an HTML site of the runs in groups, for the appendix of a paper
    #[cfg(feature = "site")]
    Appendix(Deferred<Box<appendix::AppendixArgs>>),
    /// Say whether groups of runs differ in energy, CO2 and time
    Compare(Deferred<compare::CompareArgs>),
    /// Say which functions, layers or kernels of a run used how much energy, by a profile
    Attribute(Deferred<attribute::AttributeArgs>),
    /// Merge the logs of many nodes or ranks into one run
    Merge(Deferred<merge::MergeArgs>),
    /// Export tables for pandas and R, with one row per run, phase or sample
    Export(Deferred<export::ExportArgs>),
    /// Find the electricity zone of a place and its carbon intensity
    Region(Deferred<region::RegionArgs>),
    /// List the regions of a cloud provider with their carbon intensity, or suggest cleaner ones
    Cloud(Deferred<cloud::CloudArgs>),
    /// Draw a map of the zones, coloured by carbon intensity
    Map(Deferred<map::MapArgs>),
    /// Show the carbon intensity of a zone over time, from the services that publish it
    #[cfg(feature = "live")]
    Grid(Deferred<grid::GridArgs>),
    /// Add historical carbon intensities to runs that were tracked without a network
    #[cfg(feature = "live")]
    Backfill(Deferred<backfill::BackfillArgs>),
    /// Show and change settings
    Config(Deferred<config::ConfigArgs>),
    /// Print completions for a shell
    Completions(Deferred<completions::CompletionsArgs>),
    /// Write the manual pages
    Man(Deferred<man::ManArgs>),
}

impl Command {
    /// Whether settings change what it does.
    fn has_settings(&self) -> bool {
        !matches!(
            self,
            Self::Mark(_) | Self::Completions(_) | Self::Man(_) | Self::Merge(_)
        )
    }

    fn run(self, settings: &Sources) -> Outcome {
        match self {
            Self::Track(args) => args.0.run(settings),
            Self::Bench(args) => args.0.run(settings),
            Self::Mark(args) => Ok(args.0.run(settings)),
            Self::Powercap(args) => args.0.run(settings),
            Self::Doctor(args) => args.0.run(settings),
            Self::Require(args) => args.0.run(settings),
            Self::Estimate(args) => args.0.run(settings),
            Self::List(args) => args.0.run(settings),
            Self::Report(args) => args.0.run(settings),
            Self::Statement(args) => args.0.run(settings),
            #[cfg(feature = "site")]
            Self::Appendix(args) => args.0.run(settings),
            Self::Compare(args) => args.0.run(settings),
            Self::Attribute(args) => args.0.run(settings),
            Self::Merge(args) => args.0.run(),
            Self::Export(args) => args.0.run(settings),
            Self::Region(args) => args.0.run(settings),
            Self::Cloud(args) => args.0.run(settings),
            Self::Map(args) => args.0.run(settings),
            #[cfg(feature = "live")]
            Self::Grid(args) => args.0.run(settings),
            #[cfg(feature = "live")]
            Self::Backfill(args) => args.0.run(settings),
            Self::Config(args) => args.0.run(settings),
            Self::Completions(args) => args.0.run(),
            Self::Man(args) => args.0.run(),
        }
    }
}

/// Runs the program: parses the command line, runs the command and returns its exit code.
#[must_use]
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if version::is_asked_for(&arguments) {
        return match output::print(&version::verbose()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    let mut settings = Sources::of_process();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => match usage::failure(&error, &arguments) {
            Some(failure) => {
                output::tell_failure(&failure, &settings);
                return ExitCode::from(failure.code);
            }
            None => error.exit(),
        },
    };
    settings.command_line = cli.config;
    if let Some(ignored) = settings
        .ignored
        .as_ref()
        .filter(|_| cli.command.has_settings())
    {
        let text = format!("impact: {ignored}");
        output::tell(crate::text::escape::terminal(&text));
    }
    match cli.command.run(&settings) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            output::tell_failure(&failure, &settings);
            ExitCode::from(failure.code)
        }
    }
}
