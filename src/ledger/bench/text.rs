use std::fmt::Write as _;

use super::Bench;
use super::bars::bars;
use super::notes::{notes, verdict};
use super::table::{heading, table};
use crate::text::escape;

/// Plain text: the verdict, a bar for each command, a table for each figure, then how it was measured.
#[must_use]
pub fn text(bench: &Bench) -> String {
    let comparison = bench.comparison();
    let mut out = String::new();
    for verdict in verdict(bench, &comparison) {
        let _ = writeln!(out, "{}", escape::line(&verdict));
    }
    let _ = writeln!(out, "\nmean energy of a run\n{}", bars(bench).trim_end());
    for contrasts in &comparison.figures {
        let _ = writeln!(out, "\n{}", escape::line(&heading(contrasts)));
        for line in table(bench, &comparison, contrasts).text().lines() {
            let _ = writeln!(out, "  {line}");
        }
    }
    out.push('\n');
    for line in notes(bench, &comparison) {
        let _ = writeln!(out, "{}", escape::line(&line));
    }
    out
}
