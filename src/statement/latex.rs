use super::Statement;
use super::bibliography::bibtex;
use super::prose::{Span, paragraphs};
use super::table::Table;

/// A LaTeX fragment that needs no package, to be pasted into a paper.
///
/// The BibTeX entries it cites follow as comments, unless they go to a file of their own.
#[must_use]
pub fn latex(statement: &Statement, with_bibliography: bool) -> String {
    let mut out = String::new();
    for paragraph in paragraphs(statement)
        .into_iter()
        .filter(|words| !words.is_empty())
    {
        for span in paragraph {
            match span {
                Span::Text(words) => out.push_str(&escape(&words)),
                Span::Co2eq => out.push_str("CO$_2$eq"),
                Span::Cite(source) => {
                    // The space before a citation must not break the line.
                    out.truncate(out.trim_end_matches(' ').len());
                    out.push_str(&format!("~\\cite{{{}}}", source.key()));
                }
                Span::Link(url) => out.push_str(&format!("\\texttt{{{}}}", escape(&url))),
            }
        }
        out.push('\n');
    }
    if let Some(runs) = &statement.runs {
        out.push_str(&table(&Table::of(runs)));
    }
    if with_bibliography {
        out.push_str("\n% BibTeX entries of the works cited above:\n");
        for line in bibtex(statement).lines() {
            out.push_str(format!("% {line}").trim_end());
            out.push('\n');
        }
    }
    out
}

fn table(table: &Table) -> String {
    let row = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| escape(cell)).collect();
        format!("{} \\\\\n", cells.join(" & "))
    };
    let mut out = format!(
        "\n\\begin{{tabular}}{{l{}}}\n",
        "r".repeat(table.head.len() - 1)
    );
    out.push_str(&row(&table.head));
    out.push_str("\\hline\n");
    for cells in &table.rows {
        out.push_str(&row(cells));
    }
    out.push_str("\\end{tabular}\n");
    out
}

/// No character of the text is a command; what plain LaTeX cannot print becomes a question mark.
fn escape(words: &str) -> String {
    let mut out = String::with_capacity(words.len());
    for c in words.chars() {
        match c {
            '\\' => out.push_str("\\textbackslash{}"),
            '{' | '}' | '$' | '&' | '#' | '_' | '%' => {
                out.push('\\');
                out.push(c);
            }
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            '|' => out.push_str("\\textbar{}"),
            '"' => out.push_str("''"),
            c if c.is_control() => out.push(' '),
            // These Latin letters are in the fonts of every LaTeX since 2018.
            'Ð' | 'Þ' | 'ð' | 'þ' | '×' | '÷' => out.push('?'),
            c if c.is_ascii() || ('À'..='ÿ').contains(&c) => out.push(c),
            _ => out.push('?'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn nothing_in_a_name_is_a_command() {
        assert_eq!(
            escape(r"\input{/etc/passwd}% 100$ _^~"),
            r"\textbackslash{}input\{/etc/passwd\}\% 100\$ \_\textasciicircum{}\textasciitilde{}"
        );
        assert_eq!(escape("Zürich \u{202e}x"), "Zürich ?x");
    }
}
