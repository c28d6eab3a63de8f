//! The one place where text of others becomes harmless in a page.

use std::fmt;
use std::io;

/// Text as it may stand in HTML and SVG, between tags and in quotes.
pub(super) struct Escaped<'a>(pub(super) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| replacement(*c).is_some()) {
            f.write_str(&rest[..at])?;
            f.write_str(replacement(c).unwrap_or_default())?;
            rest = &rest[at + c.len_utf8()..];
        }
        f.write_str(rest)
    }
}

/// What the template engine calls for every value that is not marked as safe.
pub(super) fn escape(text: &str, out: &mut dyn io::Write) -> io::Result<()> {
    write!(out, "{}", Escaped(text))
}

/// Letters that would turn the direction of everything after them are made visible.
pub(super) fn upright(text: &str) -> String {
    text.chars()
        .map(|c| {
            if turns_direction(c) || is_forbidden(c) {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect()
}

fn replacement(c: char) -> Option<&'static str> {
    match c {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '"' => Some("&quot;"),
        '\'' => Some("&#39;"),
        '`' => Some("&#96;"),
        c if c.is_ascii() && !c.is_ascii_control() => None,
        c if turns_direction(c) || is_forbidden(c) => Some("\u{fffd}"),
        _ => None,
    }
}

fn turns_direction(c: char) -> bool {
    matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn is_forbidden(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t' | '\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_quotes_and_direction_marks_are_inert() {
        let text = Escaped("<script>\"'`&\u{202e}é\0").to_string();
        assert_eq!(text, "&lt;script&gt;&quot;&#39;&#96;&amp;\u{fffd}é\u{fffd}");
    }
}
