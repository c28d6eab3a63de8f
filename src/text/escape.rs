//! The one place where text of others becomes harmless: a function for each format it goes into.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use serde::Serialize;

/// Text as it may stand in HTML and SVG, between tags and in quotes.
#[must_use]
pub fn html(text: &str) -> Html<'_> {
    Html(text)
}

/// Text that is escaped as it is written.
#[derive(Debug, Clone, Copy)]
pub struct Html<'a>(&'a str);

impl fmt::Display for Html<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| entity(*c).is_some()) {
            f.write_str(&rest[..at])?;
            f.write_str(entity(c).unwrap_or_default())?;
            rest = &rest[at + c.len_utf8()..];
        }
        f.write_str(rest)
    }
}

fn entity(c: char) -> Option<&'static str> {
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

/// Letters that would turn the direction of everything after them are made visible.
#[must_use]
pub fn upright(text: &str) -> String {
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

/// Every character that Markdown or HTML could take for more than itself is escaped.
#[must_use]
pub fn markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => out.push(' '),
            c if turns_direction(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// An address as it may stand between `<` and `>`, which end nowhere but where we end them.
#[must_use]
pub fn markdown_link(address: &str) -> String {
    address
        .chars()
        .filter(|c| !c.is_control() && !c.is_whitespace() && !matches!(c, '<' | '>'))
        .collect()
}

/// No character of the text is a command; what plain LaTeX cannot print becomes a question mark.
#[must_use]
pub fn latex(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
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
            // Behind a line's end these would be its arguments.
            '[' | '*' => out.extend(['{', c, '}']),
            c if c.is_control() => out.push(' '),
            // These Latin letters are in the fonts of every LaTeX since 2018.
            'Ð' | 'Þ' | 'ð' | 'þ' | '×' | '÷' => out.push('?'),
            c if c.is_ascii() || ('À'..='ÿ').contains(&c) => out.push(c),
            _ => out.push('?'),
        }
    }
    out
}

/// Text that a spreadsheet would run as a formula gets a quote in front, and none of it steers a terminal.
///
/// Line feeds stay: the writer quotes the cell they stand in.
#[must_use]
pub fn csv(text: &str) -> Cow<'_, str> {
    let text = if text.chars().all(stays_put) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.replace(|c| !stays_put(c), "\u{fffd}"))
    };
    if text.starts_with(['=', '+', '-', '@', '\t', '\n', '＝', '＋', '－', '＠'])
        && !is_number(&text)
    {
        Cow::Owned(format!("'{text}"))
    } else {
        text
    }
}

/// Whether a text is a plain number, which no spreadsheet runs.
fn is_number(text: &str) -> bool {
    text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// Text that stays in its line, so that nobody can write one of ours.
#[must_use]
pub fn line(text: &str) -> Cow<'_, str> {
    if text.contains(char::is_control) {
        Cow::Owned(text.replace(char::is_control, " "))
    } else {
        Cow::Borrowed(text)
    }
}

/// A path as one word of a command that can be pasted into a POSIX shell.
#[must_use]
pub fn shell_path(path: &Path) -> String {
    let shown = path.display().to_string();
    // What begins so would be taken for an option, however it is quoted.
    if shown.starts_with('-') {
        return shell(&format!("./{shown}")).into_owned();
    }
    shell(&shown).into_owned()
}

/// A text as one word: in single quotes unless every letter of it is plainly safe.
#[must_use]
pub fn shell(text: &str) -> Cow<'_, str> {
    let is_safe = |c: char| c.is_alphanumeric() || "/._-+,:@%".contains(c);
    if !text.is_empty() && text.chars().all(is_safe) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("'{}'", text.replace('\'', r"'\''")))
}

/// Everything that could move a cursor, change a colour or reorder letters is spelled out.
#[must_use]
pub fn terminal(text: &str) -> Cow<'_, str> {
    if text.chars().all(stays_put) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if stays_put(c) {
            out.push(c);
        } else {
            out.extend(c.escape_unicode());
        }
    }
    Cow::Owned(out)
}

/// A value as JSON that people can read, in which nothing steers a terminal.
pub fn pretty_json(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut document = serde_json::to_string_pretty(value)?;
    document.push('\n');
    Ok(json(&document).into_owned())
}

/// JSON in which nothing steers a terminal; it means the same as before.
///
/// Such characters stand only in strings, where an escape may stand for each.
#[must_use]
pub fn json(document: &str) -> Cow<'_, str> {
    if document.chars().all(stays_put) {
        return Cow::Borrowed(document);
    }
    let mut out = String::with_capacity(document.len() + 16);
    for c in document.chars() {
        if stays_put(c) {
            out.push(c);
        } else {
            out.push_str(&format!("\\u{:04x}", u32::from(c)));
        }
    }
    Cow::Owned(out)
}

/// Whether a terminal shows a character where it stands, and obeys it no further.
fn stays_put(c: char) -> bool {
    c == '\n' || c == '\t' || !(c.is_control() || turns_direction(c))
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
        let text = html("<script>\"'`&\u{202e}é\0").to_string();
        assert_eq!(text, "&lt;script&gt;&quot;&#39;&#96;&amp;\u{fffd}é\u{fffd}");
    }

    #[test]
    fn no_word_ends_a_cell_or_becomes_a_link() {
        assert_eq!(
            markdown("a|b [x](y) <i>\n\u{202e}"),
            "a\\|b \\[x\\](y) &lt;i&gt; \u{fffd}"
        );
    }

    #[test]
    fn nothing_in_a_name_is_a_command() {
        assert_eq!(
            latex(r"\input{/etc/passwd}% 100$ _^~"),
            r"\textbackslash{}input\{/etc/passwd\}\% 100\$ \_\textasciicircum{}\textasciitilde{}"
        );
        assert_eq!(latex("[1em]*"), "{[}1em]{*}");
        assert_eq!(latex("Zürich \u{202e}x"), "Zürich ?x");
    }

    #[test]
    fn nothing_in_a_cell_is_a_formula() {
        assert_eq!(csv("=HYPERLINK(1)"), "'=HYPERLINK(1)");
        assert_eq!(csv("＝HYPERLINK(1)"), "'＝HYPERLINK(1)");
        assert_eq!(csv("\n=1"), "'\n=1");
        assert_eq!(csv("\r=1"), "\u{fffd}=1");
        assert_eq!(csv("run=1"), "run=1");
    }

    #[test]
    fn no_cell_steers_a_terminal_and_its_line_feeds_stay() {
        assert_eq!(
            csv("a\u{1b}[2J\rb\u{202e}c\td\ne"),
            "a\u{fffd}[2J\u{fffd}b\u{fffd}c\td\ne"
        );
    }

    #[test]
    fn no_string_in_json_steers_a_terminal_and_each_says_what_it_said() {
        let text = "a\u{7f}\u{9b}2J\u{202e}é\u{1b}\n";
        let escaped = pretty_json(&[text]).unwrap();
        assert!(escaped.contains("a\\u007f\\u009b2J\\u202eé"), "{escaped}");
        assert!(escaped.chars().all(stays_put));
        assert_eq!(
            serde_json::from_str::<[String; 1]>(&escaped).unwrap(),
            [text]
        );
    }

    #[test]
    fn a_number_with_a_sign_is_a_number_and_no_formula() {
        assert_eq!(csv("-0.1"), "-0.1");
        assert_eq!(csv("+1e-3"), "+1e-3");
        assert_eq!(csv("-1+cmd()"), "'-1+cmd()");
        assert_eq!(csv("-inf"), "'-inf");
    }

    #[test]
    fn no_address_ends_its_link() {
        assert_eq!(
            markdown_link("https://a.b/?q=1> [x](y)\n<z"),
            "https://a.b/?q=1[x](y)z"
        );
    }

    #[test]
    fn no_name_becomes_a_line_of_ours() {
        assert_eq!(line("a\n  measured:\t100 %"), "a   measured: 100 %");
    }

    #[test]
    fn escape_sequences_and_direction_marks_are_spelled_out() {
        assert_eq!(
            terminal("a\u{1b}[31mb\u{202e}c\u{61c}"),
            "a\\u{1b}[31mb\\u{202e}c\\u{61c}"
        );
        assert_eq!(terminal("São Paulo\n"), "São Paulo\n");
    }

    #[test]
    fn a_shell_reads_back_what_was_written() {
        for path in [
            "logs/run-1",
            "my logs/run",
            "$(touch evil)",
            "`id`",
            "it's",
            "\"two\"; ls & *",
            "~root",
            "a\\b!#",
            "{a,b}",
            "größer",
        ] {
            let printed = format!("printf %s {}", shell_path(Path::new(path)));
            let read = std::process::Command::new("sh")
                .args(["-c", &printed])
                .output()
                .unwrap();
            assert_eq!(String::from_utf8(read.stdout).unwrap(), path);
        }
    }

    #[test]
    fn what_is_plainly_safe_stays_plain_and_no_path_is_an_option() {
        assert_eq!(shell_path(Path::new("logs/run-1")), "logs/run-1");
        assert_eq!(shell_path(Path::new("-rf")), "./-rf");
        assert_eq!(shell(""), "''");
    }
}
