//! The command line: clap, settings, terminals and exit codes; one command a file.

mod accounting;
#[cfg(feature = "site")]
mod appendix;
mod attribute;
#[cfg(feature = "live")]
mod backfill;
mod bad_value;
mod cloud;
mod compare;
mod completions;
mod config;
mod configured;
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
mod region;
mod report;
#[cfg(all(feature = "track", target_os = "linux"))]
mod require;
mod settings;
mod statement;
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

use failure::{Advise, Failure};

use crate::cli::settings::Sources;
#[cfg(not(all(feature = "track", target_os = "linux")))]
use unsupported::{doctor, require, track};

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
    Track(Box<track::TrackArgs>),
    Mark(mark::MarkArgs),
    Doctor(doctor::DoctorArgs),
    Require(require::RequireArgs),
    Estimate(estimate::EstimateArgs),
    List(list::ListArgs),
    Report(report::ReportArgs),
    Statement(statement::StatementArgs),
    #[cfg(feature = "site")]
    Appendix(Box<appendix::AppendixArgs>),
    Compare(compare::CompareArgs),
    Attribute(attribute::AttributeArgs),
    Merge(merge::MergeArgs),
    Export(export::ExportArgs),
    Region(region::RegionArgs),
    Cloud(cloud::CloudArgs),
    Map(map::MapArgs),
    #[cfg(feature = "live")]
    Grid(grid::GridArgs),
    #[cfg(feature = "live")]
    Backfill(backfill::BackfillArgs),
    Config(config::ConfigArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
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
            Self::Track(args) => args.run(settings),
            Self::Mark(args) => Ok(args.run(settings)),
            Self::Doctor(args) => args.run(settings),
            Self::Require(args) => args.run(settings),
            Self::Estimate(args) => args.run(settings),
            Self::List(args) => args.run(settings),
            Self::Report(args) => args.run(settings),
            Self::Statement(args) => args.run(settings),
            #[cfg(feature = "site")]
            Self::Appendix(args) => args.run(settings),
            Self::Compare(args) => args.run(settings),
            Self::Attribute(args) => args.run(settings),
            Self::Merge(args) => args.run(),
            Self::Export(args) => args.run(settings),
            Self::Region(args) => args.run(settings),
            Self::Cloud(args) => args.run(settings),
            Self::Map(args) => args.run(settings),
            #[cfg(feature = "live")]
            Self::Grid(args) => args.run(settings),
            #[cfg(feature = "live")]
            Self::Backfill(args) => args.run(settings),
            Self::Config(args) => args.run(settings),
            Self::Completions(args) => args.run(),
            Self::Man(args) => args.run(),
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
