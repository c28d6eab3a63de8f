use super::Statement;
use super::prose::{Span, paragraphs};
use super::table::Table;

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
                Span::Text(words) => out.push_str(&escape(&words)),
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
        out.push_str(&table(&Table::of(runs)));
    }
    out.push_str("</section>\n");
    out
}

/// Only web addresses become links; anything else stays text.
fn link(url: &str) -> String {
    let text = escape(url);
    if url.starts_with("https://") || url.starts_with("http://") {
        format!("<a href=\"{text}\">{text}</a>")
    } else {
        text
    }
}

fn table(table: &Table) -> String {
    let mut out = String::from("<table>\n<thead><tr>");
    for title in &table.head {
        out.push_str(&format!("<th scope=\"col\">{}</th>", escape(title)));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for cells in &table.rows {
        out.push_str("<tr>");
        for (column, cell) in cells.iter().enumerate() {
            let cell = escape(cell);
            out.push_str(&if column == 0 {
                format!("<th scope=\"row\">{cell}</th>")
            } else {
                format!("<td>{cell}</td>")
            });
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n");
    out
}

pub(crate) fn escape(words: &str) -> String {
    let mut out = String::with_capacity(words.len());
    for c in words.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
