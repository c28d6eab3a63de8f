//! What is left out of an answer: named on standard error, counted, and told by the exit code.

use std::fmt::Display;

use super::{Failure, exit, output};
use crate::ledger::{Skipped, SkippedKind};
use crate::text::escape;
use crate::text::number::counted;

/// Names one thing that is left out, and why.
pub(crate) fn tell(what: impl Display, why: &str) {
    output::tell(format!(
        "left out: {}: {}",
        escape::terminal(&what.to_string()),
        escape::terminal(why)
    ));
}

/// Names everything that is left out, and why.
pub(crate) fn tell_all(skipped: &[Skipped]) {
    for skipped in skipped {
        tell(skipped.path.display(), &skipped.reason);
    }
}

/// How many of these are missing: a copy, or a part of another run, is counted all the same.
pub(crate) fn missing(skipped: &[Skipped]) -> usize {
    let is_missing = |skipped: &&Skipped| skipped.kind != SkippedKind::Counted;
    skipped.iter().filter(is_missing).count()
}

/// Fails if anything is missing where nothing may be.
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

/// The exit code that tells whether anything is missing.
pub(crate) fn exit_code(any: bool) -> u8 {
    if any { exit::PARTIAL } else { exit::DONE }
}
