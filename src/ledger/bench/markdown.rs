use super::Bench;
use super::notes::{notes, verdict};
use super::table::{heading, table};
use crate::text::escape;

/// Markdown, for example for a pull request.
#[must_use]
pub fn markdown(bench: &Bench) -> String {
    let comparison = bench.comparison();
    let mut out = String::from("## Benchmark\n");
    for verdict in verdict(bench, &comparison) {
        out.push_str(&format!("\n{}\n", escape::markdown(&verdict)));
    }
    for contrasts in &comparison.figures {
        let heading = escape::markdown(&heading(contrasts));
        let table = table(bench, &comparison, contrasts).markdown();
        out.push_str(&format!("\n### {heading}\n\n{table}"));
    }
    out.push('\n');
    for line in notes(bench, &comparison) {
        out.push_str(&format!("- {}\n", escape::markdown(&line)));
    }
    out
}
