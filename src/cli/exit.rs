//! The exit codes of every command but `track`, which ends as its child does, and `bench`, where a signal ends it.

/// Done.
pub(crate) const DONE: u8 = 0;
/// Failed.
pub(crate) const FAILED: u8 = 1;
/// The command line is wrong; clap uses the same code.
pub(crate) const USAGE: u8 = 2;
/// Done, but some logs were left out.
pub(crate) const PARTIAL: u8 = 3;
/// `doctor`: CPU energy can only be estimated.
pub(crate) const ESTIMATED: u8 = 4;
/// `require`: a requirement is not met.
pub(crate) const NOT_MET: u8 = 5;
/// `compare`: a gate failed. `attribute`: the spans cover less than the target.
pub(crate) const GATE_FAILED: u8 = 6;
/// `track`, `bench`: impact failed before the command was started.
pub(crate) const NOT_STARTED: u8 = 125;
/// `track`, `bench`: the command cannot be run.
pub(crate) const CANNOT_RUN: u8 = 126;
/// `track`, `bench`: the command was not found.
pub(crate) const NOT_FOUND: u8 = 127;
