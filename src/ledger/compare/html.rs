use super::plot::figure_svg;
use super::sentence::{left_out, verdicts};
use super::text::{against, figure_table, notes, tests};
use super::{Comparison, Detail};
use crate::text::escape;
use crate::text::page::{Page, scrolling};

/// A page with the verdict, a plot and a table for each figure; it needs nothing but itself.
#[must_use]
pub fn html(comparison: &Comparison) -> String {
    let title = format!("Comparison of {}", comparison.labels.join(", "));
    let mut out = String::new();
    for verdict in verdicts(comparison) {
        out.push_str(&paragraph("verdict", &verdict));
    }
    for contrasts in &comparison.figures {
        let meaning = contrasts.figure.meaning();
        let heading = escape::html(&meaning);
        out.push_str(&format!("<section>\n<h2>{heading}</h2>\n"));
        if contrasts.groups.iter().any(|group| group.moments.is_some()) {
            let plot = figure_svg(comparison, contrasts);
            out.push_str(&format!(
                "<figure>\n{plot}\n<figcaption>Every dot is a run; the upright bar is the mean, the level one its \
                 standard error.</figcaption>\n</figure>\n"
            ));
        }
        out.push_str(&scrolling(
            &meaning,
            &figure_table(comparison, contrasts).html(),
        ));
        for line in left_out(comparison, contrasts) {
            out.push_str(&paragraph("note", &line));
        }
        if !contrasts.against_first.is_empty() {
            out.push_str("<details>\n<summary>Every test</summary>\n");
            for contrast in &contrasts.against_first {
                let about = against(comparison, contrast);
                out.push_str(&paragraph("note", &about));
                let name = format!("{meaning}: tests of {about}");
                out.push_str(&scrolling(
                    &name,
                    &tests(&contrasts.figure, contrast).html(),
                ));
            }
            out.push_str("</details>\n");
        }
        out.push_str("</section>\n");
    }
    let detail = Detail {
        packages: true,
        ..Detail::default()
    };
    page_with_notes(&title, out, &notes(comparison, detail))
}

/// A page of these sections, and the notes below them.
pub(in crate::ledger) fn page_with_notes(
    title: &str,
    mut sections: String,
    notes: &[String],
) -> String {
    sections.push_str("<section>\n<h2>Notes</h2>\n<ul>\n");
    for line in notes {
        sections.push_str(&format!("<li>{}</li>\n", escape::html(line)));
    }
    sections.push_str("</ul>\n</section>\n");
    let page = Page {
        title,
        style: include_str!("../../../site/compare.css"),
        script: None,
        body: &sections,
    };
    page.to_string()
}

pub(in crate::ledger) fn paragraph(class: &str, text: &str) -> String {
    // A percentage is not broken over two lines.
    let text = text.replace(" %", "\u{a0}%");
    format!("<p class=\"{class}\">{}</p>\n", escape::html(&text))
}
