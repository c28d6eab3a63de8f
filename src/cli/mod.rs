//! The only place that knows clap, terminals and exit codes; one command a file.

mod accounting;
#[cfg(feature = "site")]
mod appendix;
#[cfg(feature = "live")]
mod backfill;
mod cloud;
mod compare;
mod completions;
mod config;
mod configured;
mod destination;
mod doctor;
mod estimate;
mod exit;
mod export;
mod failure;
mod filter;
mod folder;
#[cfg(feature = "live")]
mod grid;
mod hardware;
mod left_out;
mod list;
mod man;
mod map;
mod mark;
mod merge;
mod output;
mod place;
mod region;
mod report;
mod require;
mod settings;
mod statement;
mod track;
mod version;
mod yaml;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::{Advise, Failure};

use crate::cli::settings::Sources;

/// What a command ends with: an exit code, or why it could not do its job.
type Outcome = Result<u8, Failure>;

/// Measure what experiments draw, and say it in a paper
#[derive(Debug, Parser)]
#[command(
    name = "impact",
    version,
    propagate_version = true,
    max_term_width = 100
)]
#[command(after_help = "\
Examples:
  impact statement logs/ USA
  impact --version --verbose

The second names the version of every data table inside.")]
struct Cli {
    /// Set a key of the configuration for this command; stronger than every file and variable
    #[arg(long = "config", global = true, value_name = "KEY=VALUE", value_parser = configured::pair)]
    config: Vec<(String, String)>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Track(Box<track::TrackArgs>),
    Statement(statement::StatementArgs),
    Report(report::ReportArgs),
    #[cfg(feature = "site")]
    Appendix(Box<appendix::AppendixArgs>),
    Region(region::RegionArgs),
    Cloud(cloud::CloudArgs),
    Map(map::MapArgs),
    #[cfg(feature = "live")]
    Grid(grid::GridArgs),
    #[cfg(feature = "live")]
    Backfill(backfill::BackfillArgs),
    List(list::ListArgs),
    Compare(compare::CompareArgs),
    Merge(merge::MergeArgs),
    Export(export::ExportArgs),
    Estimate(estimate::EstimateArgs),
    Require(require::RequireArgs),
    Mark(mark::MarkArgs),
    Doctor(doctor::DoctorArgs),
    Config(config::ConfigArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

impl Command {
    fn run(self, settings: &Sources) -> Outcome {
        match self {
            Self::Config(args) => args.run(settings),
            Self::List(args) => args.run(settings),
            Self::Compare(args) => args.run(settings),
            Self::Merge(args) => args.run(),
            Self::Export(args) => args.run(settings),
            Self::Estimate(args) => args.run(settings),
            Self::Require(args) => args.run(settings),
            Self::Completions(args) => args.run(),
            Self::Man(args) => args.run(),
            #[cfg(feature = "site")]
            Self::Appendix(args) => args.run(settings),
            Self::Track(args) => args.run(settings),
            Self::Mark(args) => Ok(args.run(settings)),
            Self::Doctor(args) => args.run(settings),
            Self::Report(args) => args.run(settings),
            Self::Statement(args) => args.run(settings),
            #[cfg(feature = "live")]
            Self::Grid(args) => args.run(settings),
            #[cfg(feature = "live")]
            Self::Backfill(args) => args.run(settings),
            Self::Cloud(args) => args.run(settings),
            Self::Map(args) => args.run(settings),
            Self::Region(args) => args.run(settings),
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
    let cli = Cli::parse();
    settings.command_line = cli.config;
    match cli.command.run(&settings) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            output::tell_failure(&failure, &settings);
            ExitCode::from(failure.code)
        }
    }
}
