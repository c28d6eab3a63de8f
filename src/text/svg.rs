//! SVG, written element by element.

use std::fmt::{self, Display, Write as _};

use super::escape;

/// An SVG document in the making; text and attribute values are escaped.
#[derive(Debug, Default)]
pub(crate) struct Svg(String);

/// Names and values of attributes, in the order in which they are written.
pub(crate) type Attributes<'a> = &'a [(&'a str, &'a dyn Display)];

impl Svg {
    /// `<element a="b">`
    pub(crate) fn open(&mut self, element: &str, attributes: Attributes) {
        self.start(element, attributes);
        self.0.push('>');
    }

    /// `</element>`
    pub(crate) fn close(&mut self, element: &str) {
        self.0.push_str("</");
        self.0.push_str(element);
        self.0.push('>');
    }

    /// `<element a="b"/>`
    pub(crate) fn empty(&mut self, element: &str, attributes: Attributes) {
        self.start(element, attributes);
        self.0.push_str("/>");
    }

    /// `<element a="b">text</element>`
    pub(crate) fn text(&mut self, element: &str, attributes: Attributes, text: &dyn Display) {
        self.open(element, attributes);
        self.escaped(text);
        self.close(element);
    }

    /// An element with a title that browsers show under the pointer; none if the title is empty.
    pub(crate) fn titled(&mut self, element: &str, attributes: Attributes, title: &str) {
        if title.is_empty() {
            self.empty(element, attributes);
        } else {
            self.open(element, attributes);
            self.text("title", &[], &title);
            self.close(element);
        }
    }

    pub(crate) fn line_break(&mut self) {
        self.0.push('\n');
    }

    pub(crate) fn finish(self) -> String {
        self.0
    }

    fn start(&mut self, element: &str, attributes: Attributes) {
        self.0.push('<');
        self.0.push_str(element);
        for (name, value) in attributes {
            self.0.push(' ');
            self.0.push_str(name);
            self.0.push_str("=\"");
            self.escaped(value);
            self.0.push('"');
        }
    }

    fn escaped(&mut self, value: &dyn Display) {
        write!(Escaped(&mut self.0), "{value}").expect("a string can be written to");
    }
}

/// Escapes what is written through it.
struct Escaped<'a>(&'a mut String);

impl fmt::Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        write!(self.0, "{}", escape::html(text))
    }
}

/// The beginning of a long text, with `…` for the rest.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(most.saturating_sub(1)).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_breaks_out_of_its_element() {
        let mut svg = Svg::default();
        svg.text("text", &[("class", &"\"><x"), ("x", &1.5)], &"<b>&");
        svg.titled("circle", &[], "</svg>");
        assert_eq!(
            svg.finish(),
            "<text class=\"&quot;&gt;&lt;x\" x=\"1.5\">&lt;b&gt;&amp;</text>\
             <circle><title>&lt;/svg&gt;</title></circle>"
        );
    }
}
