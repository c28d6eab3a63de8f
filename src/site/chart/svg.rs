use std::fmt::{self, Write as _};

use crate::text::escape;

/// An SVG picture in the making; everything that goes in as text comes out escaped.
#[derive(Debug)]
pub(super) struct Svg(String);

/// Where a text is held.
#[derive(Debug, Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    /// A picture of this size; `id` must be its own on the page.
    pub(super) fn new(id: &str, width: f64, height: f64, title: &str, description: &str) -> Self {
        let mut svg = Self(String::with_capacity(4096));
        svg.push(format_args!(
            "<svg class=\"chart\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\">\
             <title id=\"{id}-t\">{}</title><desc id=\"{id}-d\">{}</desc>",
            escape::html(title),
            escape::html(description)
        ));
        svg
    }

    fn push(&mut self, text: fmt::Arguments) {
        // Writing to a string cannot fail.
        let _ = self.0.write_fmt(text);
    }

    pub(super) fn line(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        self.push(format_args!(
            "<path class=\"{class}\" d=\"M{} {}L{} {}\"/>",
            Short(x1),
            Short(y1),
            Short(x2),
            Short(y2)
        ));
    }

    pub(super) fn rect(&mut self, class: &str, x: f64, y: f64, width: f64, height: f64, tip: &str) {
        self.push(format_args!(
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
            Short(x),
            Short(y),
            Short(width.max(0.0)),
            Short(height.max(0.0))
        ));
        self.tip("rect", tip);
    }

    pub(super) fn circle(&mut self, class: &str, (x, y): (f64, f64), radius: f64, tip: &str) {
        self.push(format_args!(
            "<circle class=\"{class}\" cx=\"{}\" cy=\"{}\" r=\"{radius}\"",
            Short(x),
            Short(y)
        ));
        self.tip("circle", tip);
    }

    fn tip(&mut self, element: &str, tip: &str) {
        if tip.is_empty() {
            self.0.push_str("/>");
        } else {
            self.push(format_args!(
                "><title>{}</title></{element}>",
                escape::html(tip)
            ));
        }
    }

    pub(super) fn text(&mut self, class: &str, (x, y): (f64, f64), anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        self.push(format_args!(
            "<text class=\"{class}\" x=\"{}\" y=\"{}\"{anchor}>{}</text>",
            Short(x),
            Short(y),
            escape::html(text)
        ));
    }

    /// Text that is read from the bottom to the top.
    pub(super) fn upright(&mut self, class: &str, (x, y): (f64, f64), text: &str) {
        self.push(format_args!(
            "<text class=\"{class}\" text-anchor=\"middle\" transform=\"translate({} {}) rotate(-90)\">{}</text>",
            Short(x), Short(y), escape::html(text)
        ));
    }

    /// A line through many points, in whole units and steps from point to point: that is short.
    pub(super) fn path(&mut self, class: &str, points: impl Iterator<Item = (f64, f64)>) {
        self.push(format_args!("<path class=\"{class}\" d=\""));
        let mut last: Option<(i64, i64)> = None;
        for (x, y) in points {
            let here = (x.round() as i64, y.round() as i64);
            match last {
                None => self.push(format_args!("M{} {}l", here.0, here.1)),
                Some(last) if last == here => continue,
                Some(last) => {
                    let (dx, dy) = (here.0 - last.0, here.1 - last.1);
                    let comma = if dy < 0 { "" } else { " " };
                    let apart = if dx < 0 || self.0.ends_with('l') {
                        ""
                    } else {
                        " "
                    };
                    self.push(format_args!("{apart}{dx}{comma}{dy}"));
                }
            }
            last = Some(here);
        }
        if self.0.ends_with('l') {
            self.0.push_str("0 0");
        }
        self.0.push_str("\"/>");
    }

    pub(super) fn finish(mut self) -> String {
        self.0.push_str("</svg>");
        self.0
    }
}

/// A coordinate to a tenth of a unit.
struct Short(f64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (self.0 * 10.0).round() as i64;
        if tenths % 10 == 0 {
            write!(f, "{}", tenths / 10)
        } else {
            write!(f, "{}", tenths as f64 / 10.0)
        }
    }
}

/// The beginning of a label that has little room.
pub(super) fn shortened(text: &str, most: usize) -> String {
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
    fn names_cannot_break_out_of_the_picture() {
        let mut svg = Svg::new("a", 10.0, 10.0, "</title><script>x</script>", "\"'");
        svg.text("t", (1.0, 2.0), Anchor::Start, "<b>&");
        svg.circle("c", (0.0, 0.0), 1.0, "</svg>");
        let text = svg.finish();
        assert!(!text.contains("<script") && !text.contains("<b>"));
        assert!(text.contains("&lt;b&gt;&amp;") && text.contains("&lt;/svg&gt;"));
    }

    #[test]
    fn a_path_is_steps_between_whole_points() {
        let mut svg = Svg(String::new());
        svg.path(
            "p",
            [(0.2, 5.0), (1.0, 4.0), (1.1, 4.2), (3.0, 9.0)].into_iter(),
        );
        assert_eq!(svg.0, "<path class=\"p\" d=\"M0 5l1-1 2 5\"/>");
    }
}
