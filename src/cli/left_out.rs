//! Logs that are left out: listed on standard error, and shown by the exit code.

use std::fmt::Display;

use super::{Failure, exit, output};
use crate::ledger::{Skipped, SkippedKind};
use crate::text::escape;
use crate::text::number::counted;

/// Prints what is left out, and why.
pub(crate) fn tell(what: impl Display, why: &str) {
    output::tell(format!(
        "left out: {}: {}",
        escape::terminal(&what.to_string()),
        escape::terminal(why)
    ));
}

/// Prints everything that is left out, and why.
pub(crate) fn tell_all(skipped: &[Skipped]) {
    for skipped in skipped {
        tell(skipped.path.display(), &skipped.reason);
    }
}

/// How many logs are missing from the figures; copies and parts of other runs are not.
pub(crate) fn missing(skipped: &[Skipped]) -> usize {
    let is_missing = |skipped: &&Skipped| skipped.kind != SkippedKind::Counted;
    skipped.iter().filter(is_missing).count()
}

/// Fails if logs are missing and `strict` forbids it.
pub(crate) fn refuse(skipped: &[Skipped], strict: bool) -> Result<(), Failure> {
    let missing = missing(skipped);
    if !strict || missing == 0 {
        return Ok(());
    }
    let were = if missing == 1 { "was" } else { "were" };
    let logs = counted(missing, "log");
    Err(Failure::new(anyhow::anyhow!("{logs} {were} left out"))
        .advise("without --strict, to leave them out"))
}

/// The exit code for whether anything is missing.
pub(crate) fn exit_code(any: bool) -> u8 {
    if any { exit::PARTIAL } else { exit::DONE }
}
