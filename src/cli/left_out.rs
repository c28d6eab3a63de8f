//! What is left out of an answer: named on standard error, counted, and told by the exit code.

use std::fmt::Display;

use super::{Failure, exit};
use crate::account::Skipped;
use crate::escape;
use crate::units::counted;

/// Names one thing that is left out, and why.
pub fn tell(what: impl Display, why: &str) {
    eprintln!(
        "left out: {}: {}",
        escape::terminal(&what.to_string()),
        escape::terminal(why)
    );
}

/// Names everything that is left out, and why.
pub fn tell_all(skipped: &[Skipped]) {
    for skipped in skipped {
        tell(skipped.path.display(), &skipped.reason);
    }
}

/// Fails if anything is left out where nothing may be.
pub fn refuse(skipped: &[Skipped], strict: bool) -> Result<(), Failure> {
    if !strict || skipped.is_empty() {
        return Ok(());
    }
    let were = if skipped.len() == 1 { "was" } else { "were" };
    let logs = counted(skipped.len(), "log");
    Err(Failure::new(anyhow::anyhow!("{logs} {were} left out"))
        .advise("without --strict the others are counted"))
}

/// The exit code that tells whether anything was left out.
pub fn exit_code(any: bool) -> u8 {
    if any { exit::PARTIAL } else { exit::DONE }
}
