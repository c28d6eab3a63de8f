use super::Bench;
use super::notes::{notes, verdict};
use super::table::{heading, table};
use crate::ledger::compare::figure_svg;
use crate::text::escape;
use crate::text::page::{Page, scrolling};

/// A page with the verdict, a plot and a table for each figure; it needs nothing but itself.
#[must_use]
pub fn html(bench: &Bench) -> String {
    let comparison = bench.comparison();
    let title = format!("Benchmark of {}", comparison.labels.join(", "));
    let mut out = String::new();
    for verdict in verdict(bench, &comparison) {
        let verdict = verdict.replace(" %", "\u{a0}%");
        let verdict = escape::html(&verdict);
        out.push_str(&format!("<p class=\"verdict\">{verdict}</p>\n"));
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
    out.push_str("<section>\n<h2>Notes</h2>\n<ul>\n");
    for line in notes(bench, &comparison) {
        out.push_str(&format!("<li>{}</li>\n", escape::html(&line)));
    }
    out.push_str("</ul>\n</section>\n");
    let page = Page {
        title: &title,
        style: include_str!("../../../site/compare.css"),
        script: None,
        body: &out,
    };
    page.to_string()
}
