use super::prose::{Span, paragraphs};
use super::{Statement, runs};
use crate::text::escape;

/// Markdown: the statement under a heading, links behind the citations, the runs as a table.
#[must_use]
pub fn markdown(statement: &Statement) -> String {
    let mut out = String::from("## Carbon impact statement\n");
    for paragraph in paragraphs(statement)
        .into_iter()
        .filter(|words| !words.is_empty())
    {
        out.push('\n');
        for span in paragraph {
            match span {
                Span::Text(words) => out.push_str(&escape::markdown(&words)),
                Span::Co2eq => out.push_str("CO<sub>2</sub>eq"),
                Span::Cite(source) => {
                    out.push_str(&format!("([{}]({}))", source.short(), source.url()));
                }
                Span::Link(url) => out.push_str(&format!("<{}>", escape::markdown_link(&url))),
            }
        }
        out.push('\n');
    }
    if let Some(runs) = &statement.runs {
        out.push('\n');
        out.push_str(&runs::table(runs).markdown());
    }
    out
}
