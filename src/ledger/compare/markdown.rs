use super::sentence::{left_out, verdicts};
use super::text::{against, figure_table, notes, tests};
use super::{Comparison, Detail};
use crate::text::escape;

/// Markdown, for example for a pull request.
#[must_use]
pub fn markdown(comparison: &Comparison, detail: Detail) -> String {
    let mut out = String::from("## Comparison\n");
    for verdict in verdicts(comparison) {
        out.push_str(&format!("\n{}\n", escape::markdown(&verdict)));
    }
    for contrasts in &comparison.figures {
        let heading = escape::markdown(&contrasts.figure.meaning());
        out.push_str(&format!("\n### {heading}\n\n"));
        out.push_str(&figure_table(comparison, contrasts).markdown());
        for line in left_out(comparison, contrasts) {
            out.push_str(&format!("\n{}\n", escape::markdown(&line)));
        }
        if detail.tests {
            for contrast in &contrasts.against_first {
                let about = escape::markdown(&against(comparison, contrast));
                out.push_str(&format!(
                    "\n{about}\n\n{}",
                    tests(&contrasts.figure, contrast).markdown()
                ));
            }
        }
    }
    out.push('\n');
    for line in notes(comparison, detail) {
        out.push_str(&format!("- {}\n", escape::markdown(&line)));
    }
    out
}
