use super::bibliography::bibtex_of;
use super::prose::{Span, paragraphs};
use super::{Statement, runs};
use crate::text::escape;

/// A LaTeX fragment that needs no package, to be pasted into a paper.
///
/// The BibTeX entries it cites follow as comments, unless they go to a file of their own.
#[must_use]
pub fn latex(statement: &Statement, with_bibliography: bool) -> String {
    let mut out = String::new();
    let paragraphs = paragraphs(statement);
    for paragraph in paragraphs.iter().filter(|words| !words.is_empty()) {
        for span in paragraph {
            match span {
                Span::Text(words) => out.push_str(&escape::latex(words)),
                Span::Co2eq => out.push_str("CO$_2$eq"),
                Span::Cite(source) => {
                    // The space before a citation must not break the line.
                    out.truncate(out.trim_end_matches(' ').len());
                    out.push_str(&format!("~\\cite{{{}}}", source.key()));
                }
                Span::Link(url) => out.push_str(&format!("\\texttt{{{}}}", escape::latex(url))),
            }
        }
        out.push('\n');
    }
    if let Some(runs) = &statement.runs {
        out.push('\n');
        out.push_str(&runs::table(runs).latex());
    }
    if with_bibliography {
        out.push_str("\n% BibTeX entries of the works cited above:\n");
        for line in bibtex_of(&paragraphs).lines() {
            out.push_str(format!("% {line}").trim_end());
            out.push('\n');
        }
    }
    out
}
