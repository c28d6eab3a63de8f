use super::prose::{Span, paragraphs};
use super::{Statement, runs};
use crate::text::escape;

/// An HTML fragment: one `<section>` to be put into any page.
#[must_use]
pub fn html(statement: &Statement) -> String {
    let mut out =
        String::from("<section class=\"impact-statement\">\n<h2>Carbon impact statement</h2>\n");
    for paragraph in paragraphs(statement)
        .into_iter()
        .filter(|words| !words.is_empty())
    {
        out.push_str("<p>");
        for span in paragraph {
            match span {
                Span::Text(words) => out.push_str(&escape::html(&words).to_string()),
                Span::Co2eq => out.push_str("CO<sub>2</sub>eq"),
                Span::Cite(source) => out.push_str(&format!(
                    "(<a href=\"{}\">{}</a>)",
                    source.url(),
                    source.short()
                )),
                Span::Link(url) => out.push_str(&link(&url)),
            }
        }
        out.push_str("</p>\n");
    }
    if let Some(runs) = &statement.runs {
        out.push_str(&runs::table(runs).html());
    }
    out.push_str("</section>\n");
    out
}

/// Only web addresses become links; anything else stays text.
fn link(url: &str) -> String {
    let text = escape::html(url);
    if url.starts_with("https://") || url.starts_with("http://") {
        format!("<a href=\"{text}\">{text}</a>")
    } else {
        text.to_string()
    }
}
