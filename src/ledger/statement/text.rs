use super::prose::{Paragraph, Span, paragraphs};
use super::{Statement, runs};
use crate::text::escape;

/// Plain text, a topic a paragraph.
#[must_use]
pub fn text(statement: &Statement) -> String {
    let mut out = prose(paragraphs(statement));
    if let Some(runs) = &statement.runs {
        out.push('\n');
        out.push_str(&runs::table(runs).text());
    }
    out
}

pub(super) fn prose(paragraphs: Vec<Paragraph>) -> String {
    let mut out = String::new();
    for paragraph in paragraphs.into_iter().filter(|words| !words.is_empty()) {
        if !out.is_empty() {
            out.push('\n');
        }
        for span in paragraph {
            match span {
                Span::Text(words) => out.push_str(&escape::line(&words)),
                Span::Co2eq => out.push_str("CO2eq"),
                Span::Cite(source) => {
                    out.push('(');
                    out.push_str(source.short());
                    out.push_str(", ");
                    out.push_str(source.url());
                    out.push(')');
                }
                Span::Link(url) => out.push_str(&escape::line(&url)),
            }
        }
        out.push('\n');
    }
    out
}
