//! What logs do not tell and what is not among the runs, in words.

use super::prose::{Paragraph, text};
use crate::ledger::{Skipped, SkippedKind, Tally};
use crate::text::quantity;

/// What the logs of the runs do not hold to their end.
pub(super) fn gaps(tally: &Tally) -> Paragraph {
    let mut sentences = Vec::new();
    let cut = tally.runs_without_end;
    if cut > 0 {
        let (has, counts, its) = match cut {
            1 => ("has", "counts", "its"),
            _ => ("have", "count", "their"),
        };
        sentences.push(format!(
            "{} {has} no recorded end and {counts} up to {its} last sample, so that {its} energy is \
             a lower bound.",
            out_of(cut, tally.runs)
        ));
    }
    let damaged = tally.runs_with_bad_lines;
    if damaged > 0 {
        let has = if damaged == 1 { "has" } else { "have" };
        sentences.push(format!(
            "{} {has} lines in the log that could not be read.",
            out_of(damaged, tally.runs)
        ));
    }
    let contradicted = tally.runs_with_contradictions;
    if contradicted > 0 {
        let (has, counts) = if contradicted == 1 {
            ("has", "counts")
        } else {
            ("have", "count")
        };
        sentences.push(format!(
            "{} {has} samples that contradict each other or cannot be, and {counts} without them.",
            out_of(contradicted, tally.runs)
        ));
    }
    let implausible = tally.runs_with_implausible_energy;
    if implausible > 0 {
        sentences.push(format!(
            "Of {} {} that cannot have been drawn are left out.",
            out_of(implausible, tally.runs).to_lowercase(),
            quantity::electricity(tally.implausible)
        ));
    }
    let changed = tally.runs_with_changed_info;
    if changed > 0 {
        let has = if changed == 1 { "has" } else { "have" };
        sentences.push(format!(
            "{} {has} an info.json that was changed after it was written.",
            out_of(changed, tally.runs)
        ));
    }
    if sentences.is_empty() {
        return Vec::new();
    }
    vec![text(sentences.join(" "))]
}

/// The subject of a sentence about some of the runs.
pub(super) fn out_of(some: u64, runs: u64) -> String {
    match (some, runs) {
        (1, 1) => "The run".to_owned(),
        (some, runs) if some == runs => format!("All {runs} runs"),
        (some, runs) => format!("{some} of {runs} runs"),
    }
}

/// What was left out beside the runs that are counted.
pub(super) fn skipped(skipped: &[Skipped], counted: u64) -> Paragraph {
    let how_many = |kind| skipped.iter().filter(|one| one.kind == kind).count() as u64;
    let mut sentences = Vec::new();
    match how_many(SkippedKind::Run) {
        0 => {}
        runs => sentences.push(format!(
            "{runs} of {} runs could not be read and {} not included.",
            counted + runs,
            if runs == 1 { "is" } else { "are" },
        )),
    }
    match how_many(SkippedKind::Folder) {
        0 => {}
        1 => sentences
            .push("1 folder could not be looked into; runs in it are not included.".to_owned()),
        folders => sentences.push(format!(
            "{folders} folders could not be looked into; runs in them are not included."
        )),
    }
    if sentences.is_empty() {
        return Vec::new();
    }
    vec![text(sentences.join(" "))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_could_not_be_looked_into_are_not_counted_as_runs() {
        let left_out = |kind| Skipped {
            path: "somewhere".into(),
            kind,
            reason: "Permission denied".to_owned(),
        };
        let all = [SkippedKind::Run, SkippedKind::Folder].map(left_out);
        assert_eq!(
            skipped(&all, 1),
            [text(
                "1 of 2 runs could not be read and is not included. \
                 1 folder could not be looked into; runs in it are not included."
            )]
        );
    }
}
