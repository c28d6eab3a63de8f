//! The exit codes of every command but `track`, which ends as its child does.

/// Done.
pub const DONE: u8 = 0;
/// Nothing usable came of it.
pub const FAILED: u8 = 1;
/// The command line asks for what cannot be; also what clap ends with.
pub const USAGE: u8 = 2;
/// Done, but some logs were left out.
pub const PARTIAL: u8 = 3;
/// `doctor`: CPU energy can only be estimated.
pub const ESTIMATED: u8 = 4;
/// `require`: the hardware is not the one asked for.
pub const NOT_MET: u8 = 5;
/// `track`: impact failed before the command was started.
pub const NOT_STARTED: u8 = 125;
/// `track`: the command cannot be run.
pub const CANNOT_RUN: u8 = 126;
/// `track`: the command was not found.
pub const NOT_FOUND: u8 = 127;
