use std::fmt;

use sha2::{Digest as _, Sha256};

use super::escape;

const COLOURS: &str = include_str!("../../site/colours.css");

/// An HTML page that needs nothing but itself.
///
/// Its security policy allows its own style and script, and nothing from the network.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Page<'a> {
    pub(crate) title: &'a str,
    /// In addition to the colours of the site.
    pub(crate) style: &'a str,
    pub(crate) script: Option<&'a str>,
    /// HTML, in which all text is escaped.
    pub(crate) body: &'a str,
}

impl fmt::Display for Page<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let title = escape::html(self.title);
        let heading = escape::breakable_html(self.title);
        let style = format!("{COLOURS}\n{}", self.style);
        let script_policy = self.script.map_or_else(String::new, |script| {
            format!("script-src 'sha256-{}'; ", hash(script))
        });
        write!(
            f,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; {script_policy}\
             style-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta name=\"generator\" content=\"impact {}\">\n\
             <title>{title}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>{style}</style>\n</head>\n\
             <body>\n<main>\n<h1>{heading}</h1>\n{}</main>\n",
            hash(&style),
            env!("CARGO_PKG_VERSION"),
            self.body,
        )?;
        if let Some(script) = self.script {
            writeln!(f, "<script>{script}</script>")?;
        }
        f.write_str("</body>\n</html>\n")
    }
}

/// A table that scrolls on a narrow screen, also by keyboard.
pub(crate) fn scrolling(name: &str, table: &str) -> String {
    let name = escape::html(name);
    format!(
        "<div class=\"scroll\" role=\"region\" aria-label=\"{name}\" tabindex=\"0\">\n{table}</div>\n"
    )
}

/// The SHA-256 of a style or script, as a security policy names it.
fn hash(text: &str) -> String {
    base64(&Sha256::digest(text))
}

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
