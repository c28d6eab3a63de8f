//! What may reach a terminal.

use std::borrow::Cow;

/// The text with everything escaped that could move a cursor, change a colour or reorder letters.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_harmless) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_harmless(c) {
            out.push(c);
        } else {
            out.extend(c.escape_unicode());
        }
    }
    Cow::Owned(out)
}

fn is_harmless(c: char) -> bool {
    let reorders =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c == '\n' || c == '\t' || !(c.is_control() || reorders)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_and_direction_marks_are_spelled_out() {
        assert_eq!(
            printable("a\u{1b}[31mb\u{202e}c"),
            "a\\u{1b}[31mb\\u{202e}c"
        );
        assert_eq!(printable("São Paulo\n"), "São Paulo\n");
    }
}
