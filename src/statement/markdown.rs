use super::Statement;
use super::prose::{Span, paragraphs};
use super::table::Table;

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
                Span::Text(words) => out.push_str(&escape(&words)),
                Span::Co2eq => out.push_str("CO<sub>2</sub>eq"),
                Span::Cite(source) => {
                    out.push_str(&format!("([{}]({}))", source.short(), source.url()));
                }
                Span::Link(url) => out.push_str(&format!("<{}>", escape_url(&url))),
            }
        }
        out.push('\n');
    }
    if let Some(runs) = &statement.runs {
        let table = Table::of(runs);
        let row = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| escape(cell)).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        out.push('\n');
        out.push_str(&row(&table.head));
        out.push_str("| --- |");
        out.push_str(&" ---: |".repeat(table.head.len() - 1));
        out.push('\n');
        for cells in &table.rows {
            out.push_str(&row(cells));
        }
    }
    out
}

/// Every character that Markdown or HTML could take for more than itself is escaped.
pub(crate) fn escape(words: &str) -> String {
    let mut out = String::with_capacity(words.len());
    for c in words.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

fn escape_url(url: &str) -> String {
    url.chars()
        .filter(|c| !c.is_control() && !c.is_whitespace() && !matches!(c, '<' | '>'))
        .collect()
}
