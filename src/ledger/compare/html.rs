use sha2::{Digest as _, Sha256};

use super::plot::figure_svg;
use super::sentence::{left_out, verdicts};
use super::text::{against, figure_table, notes, tests};
use super::{Comparison, Detail};
use crate::text::escape;

const STYLE: &str = include_str!("../../../site/compare.css");

/// A page with the verdict, a plot and a table for each figure; it needs nothing but itself.
///
/// Its security policy allows its own style, and neither scripts nor anything from the network.
#[must_use]
pub fn html(comparison: &Comparison) -> String {
    let title =
        escape::html(&format!("Comparison of {}", comparison.labels.join(", "))).to_string();
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"impact {}\">\n\
         <title>{title}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>{STYLE}</style>\n</head>\n\
         <body>\n<main>\n<h1>{title}</h1>\n",
        base64(&Sha256::digest(STYLE)),
        env!("CARGO_PKG_VERSION"),
    );
    for verdict in verdicts(comparison) {
        out.push_str(&paragraph("verdict", &verdict));
    }
    for contrasts in &comparison.figures {
        let heading = escape::html(contrasts.figure.meaning());
        out.push_str(&format!("<section>\n<h2>{heading}</h2>\n"));
        if contrasts.groups.iter().any(|group| group.moments.is_some()) {
            let plot = figure_svg(comparison, contrasts);
            out.push_str(&format!(
                "<figure>\n{plot}\n<figcaption>Every dot is a run; the upright bar is the mean, the level one its \
                 standard error.</figcaption>\n</figure>\n"
            ));
        }
        out.push_str(&scrolling(
            contrasts.figure.meaning(),
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
                let name = format!("{}: tests of {about}", contrasts.figure.meaning());
                out.push_str(&scrolling(&name, &tests(contrast).html()));
            }
            out.push_str("</details>\n");
        }
        out.push_str("</section>\n");
    }
    out.push_str("<section>\n<h2>Notes</h2>\n<ul>\n");
    let detail = Detail {
        packages: true,
        ..Detail::default()
    };
    for line in notes(comparison, detail) {
        out.push_str(&format!("<li>{}</li>\n", escape::html(&line)));
    }
    out.push_str("</ul>\n</section>\n</main>\n</body>\n</html>\n");
    out
}

fn paragraph(class: &str, text: &str) -> String {
    // A percentage is not broken over two lines.
    let text = text.replace(" %", "\u{a0}%");
    format!("<p class=\"{class}\">{}</p>\n", escape::html(&text))
}

/// A table that scrolls on a narrow screen, also by keyboard.
fn scrolling(name: &str, table: &str) -> String {
    let name = escape::html(name);
    format!(
        "<div class=\"scroll\" role=\"region\" aria-label=\"{name}\" tabindex=\"0\">\n{table}</div>\n"
    )
}

/// As a security policy writes a hash.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let at = |place: usize| u32::from(chunk.get(place).copied().unwrap_or_default());
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for letter in 0..4 {
            let is_there = letter <= chunk.len();
            let index = (bits >> (18 - 6 * letter) & 63) as usize;
            out.push(if is_there {
                char::from(LETTERS[index])
            } else {
                '='
            });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_hash_is_written_in_base64() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(super::base64(bytes.as_bytes()), text);
        }
    }
}
