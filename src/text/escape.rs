//! Escaping of text from outside: one function for each format.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use serde::Serialize;

/// Escapes text for HTML and SVG, between tags and in quoted attributes.
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

/// A name for HTML, whose lines may end after each of its parts rather than within one.
#[must_use]
pub fn breakable_html(name: &str) -> String {
    let parts = name.split_inclusive(['_', '/', '.', '=', ',']);
    let parts: Vec<String> = parts.map(|part| html(part).to_string()).collect();
    parts.join("<wbr>")
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
        c if changes_direction(c) || is_forbidden(c) => Some("\u{fffd}"),
        _ => None,
    }
}

/// Replaces control characters and characters that change the writing direction.
#[must_use]
pub fn without_controls(text: &str) -> String {
    text.chars()
        .map(|c| {
            if changes_direction(c) || is_forbidden(c) {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect()
}

/// Escapes every character that has a meaning in Markdown or HTML.
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
            c if changes_direction(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Removes from an address what could end a `<link>` in Markdown.
#[must_use]
pub fn markdown_link(address: &str) -> String {
    address
        .chars()
        .filter(|c| !c.is_control() && !c.is_whitespace() && !matches!(c, '<' | '>'))
        .collect()
}

/// Escapes every LaTeX command; characters that plain LaTeX cannot print become `?`.
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
            // After `\\` these would be its arguments.
            '[' | '*' => out.extend(['{', c, '}']),
            'µ' => out.push_str("$\\mu$"),
            c if c.is_control() => out.push(' '),
            // These Latin letters are in the fonts of every LaTeX since 2018.
            'Ð' | 'Þ' | 'ð' | 'þ' | '×' | '÷' => out.push('?'),
            c if c.is_ascii() || ('À'..='ÿ').contains(&c) => out.push(c),
            _ => out.push('?'),
        }
    }
    out
}

/// Puts a quote before text that a spreadsheet would run as a formula, and replaces terminal controls.
///
/// Line feeds are kept, because the CSV writer quotes their cell.
#[must_use]
pub(super) fn csv(text: &str) -> Cow<'_, str> {
    let text = if text.chars().all(is_plain) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.replace(|c| !is_plain(c), "\u{fffd}"))
    };
    if text.starts_with(['=', '+', '-', '@', '\t', '\n', '＝', '＋', '－', '＠'])
        && !is_number(&text)
    {
        Cow::Owned(format!("'{text}"))
    } else {
        text
    }
}

/// Whether a text is a number, which is never a formula.
fn is_number(text: &str) -> bool {
    text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// Replaces line feeds and other controls by spaces, so that text from outside cannot look like a line of impact.
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
    // A path that begins with `-` would be an option, even in quotes.
    if shown.starts_with('-') {
        return shell(&format!("./{shown}")).into_owned();
    }
    shell(&shown).into_owned()
}

/// A text as one word of a shell command, in single quotes unless all its characters are safe.
#[must_use]
pub fn shell(text: &str) -> Cow<'_, str> {
    let is_safe = |c: char| c.is_alphanumeric() || "/._-+,:@%".contains(c);
    if !text.is_empty() && text.chars().all(is_safe) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("'{}'", text.replace('\'', r"'\''")))
}

/// Replaces terminal controls and characters that reorder text by their escapes, such as `\u{1b}`.
#[must_use]
pub fn terminal(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_plain(c) {
            out.push(c);
        } else {
            out.extend(c.escape_unicode());
        }
    }
    Cow::Owned(out)
}

/// Indented JSON without terminal controls.
pub fn pretty_json(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut document = serde_json::to_string_pretty(value)?;
    document.push('\n');
    Ok(json(&document).into_owned())
}

/// Text as a quoted scalar of YAML, which reads JSON's strings; what YAML takes for a line end is escaped too.
#[must_use]
pub fn yaml(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    let mut out = String::with_capacity(quoted.len());
    for c in quoted.chars() {
        if is_plain(c) && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}') {
            out.push(c);
        } else {
            out.push_str(&format!("\\u{:04x}", u32::from(c)));
        }
    }
    out
}

/// JSON with terminal controls escaped; its meaning does not change.
///
/// Such characters occur only in strings, where escapes are allowed.
#[must_use]
pub fn json(document: &str) -> Cow<'_, str> {
    if document.chars().all(is_plain) {
        return Cow::Borrowed(document);
    }
    let mut out = String::with_capacity(document.len() + 16);
    for c in document.chars() {
        if is_plain(c) {
            out.push(c);
        } else {
            out.push_str(&format!("\\u{:04x}", u32::from(c)));
        }
    }
    Cow::Owned(out)
}

/// Whether a terminal only shows a character, or breaks the line at it.
fn is_plain(c: char) -> bool {
    c == '\n' || c == '\t' || !(c.is_control() || changes_direction(c))
}

fn changes_direction(c: char) -> bool {
    matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn is_forbidden(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t' | '\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_a_name_end_after_its_parts() {
        assert_eq!(
            breakable_html("lr=0.1/a_<b>"),
            "lr=<wbr>0.<wbr>1/<wbr>a_<wbr>&lt;b&gt;"
        );
        assert_eq!(breakable_html("a_"), "a_");
        assert_eq!(breakable_html(""), "");
    }

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
        assert_eq!(latex("1 µJ"), "1 $\\mu$J");
        assert_eq!(latex("Zürich \u{202e}x"), "Zürich ?x");
    }

    #[test]
    fn no_scalar_of_yaml_ends_before_its_quote() {
        assert_eq!(
            yaml("a: \"b\"\n- c # \u{2028}\u{85}é"),
            "\"a: \\\"b\\\"\\n- c # \\u2028\\u0085é\""
        );
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
        assert!(escaped.chars().all(is_plain));
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
