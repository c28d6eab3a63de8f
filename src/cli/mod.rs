//! The only place that knows clap, terminals and exit codes; one command a file.

mod accounting;
mod compare;
mod doctor;
mod export;
mod filter;
pub mod exit;
mod failure;
mod hardware;
mod list;
mod mark;
mod merge;
pub mod output;
mod report;
mod statement;
pub mod terminal;
mod track;
mod cloud;
mod map;
mod region;
mod yaml;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use failure::{Advise, Failure};

/// What a command ends with: an exit code, or why it could not do its job.
pub type Outcome = Result<u8, Failure>;

/// Measure what experiments draw, and say it in a paper
#[derive(Debug, Parser)]
#[command(
    name = "impact",
    version,
    propagate_version = true,
    max_term_width = 100
)]
#[command(after_help = "Example:\n  impact statement logs/ USA")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    List(list::ListArgs),
    Compare(compare::CompareArgs),
    Merge(merge::MergeArgs),
    Export(export::ExportArgs),
    Track(Box<track::TrackArgs>),
    Mark(mark::MarkArgs),
    Doctor(doctor::DoctorArgs),
    Report(report::ReportArgs),
    Statement(statement::StatementArgs),
    Cloud(cloud::CloudArgs),
    Map(map::MapArgs),
    Region(region::RegionArgs),
}

impl Command {
    fn run(self) -> Outcome {
        match self {
            Self::List(args) => args.run(),
            Self::Compare(args) => args.run(),
            Self::Merge(args) => args.run(),
            Self::Export(args) => args.run(),
            Self::Track(args) => args.run(),
            Self::Mark(args) => args.run(),
            Self::Doctor(args) => args.run(),
            Self::Report(args) => args.run(),
            Self::Statement(args) => args.run(),
            Self::Cloud(args) => args.run(),
            Self::Map(args) => args.run(),
            Self::Region(args) => args.run(),
        }
    }
}

/// Parses the command line, runs the command and turns what came of it into an exit code.
#[must_use]
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    match cli.command.run() {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            let report = failure.report();
            if std::io::stderr().is_terminal()
                && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
            {
                eprint!(
                    "{}",
                    report.replacen("error:", "\x1b[1;31merror:\x1b[0m", 1)
                );
            } else {
                eprint!("{report}");
            }
            ExitCode::from(failure.code)
        }
    }
}
