use super::Bench;
use super::notes::{notes, verdict};
use super::table::{heading, table};
use crate::ledger::compare::{figure_svg, page_with_notes, paragraph};
use crate::text::escape;
use crate::text::page::scrolling;

/// A page with the verdict, a plot and a table for each figure; it needs nothing but itself.
#[must_use]
pub fn html(bench: &Bench) -> String {
    let comparison = bench.comparison();
    let title = format!("Benchmark of {}", comparison.labels.join(", "));
    let mut out = String::new();
    for verdict in verdict(bench, &comparison) {
        out.push_str(&paragraph("verdict", &verdict));
    }
    for contrasts in &comparison.figures {
        let meaning = heading(contrasts);
        let heading = escape::html(&meaning);
        let plot = figure_svg(&comparison, contrasts);
        let table = scrolling(&meaning, &table(bench, &comparison, contrasts).html());
        out.push_str(&format!(
            "<section>\n<h2>{heading}</h2>\n<figure>\n{plot}\n<figcaption>Every dot is a sample; the upright bar is the \
             mean, the level one its standard error.</figcaption>\n</figure>\n{table}</section>\n"
        ));
    }
    page_with_notes(&title, out, &notes(bench, &comparison))
}
