use std::fmt::{self, Write as _};

use crate::text::axis::Axis;
use crate::text::svg::{Attributes, Svg, shortened};

/// Which point of a text lies at its coordinates.
#[derive(Debug, Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A point of a chart.
pub(super) type Point = (f64, f64);

/// A chart in the making; CSS classes of the page give its shapes their colours.
#[derive(Debug)]
pub(super) struct Canvas(Svg);

impl Canvas {
    /// A chart of this size; `id` must be unique on the page.
    pub(super) fn new(id: &str, width: f64, height: f64, title: &str, description: &str) -> Self {
        let (title_id, description_id) = (format!("{id}-t"), format!("{id}-d"));
        let mut svg = Svg::default();
        svg.open(
            "svg",
            &[
                ("class", &"chart"),
                ("viewBox", &format_args!("0 0 {width} {height}")),
                ("role", &"img"),
                (
                    "aria-labelledby",
                    &format_args!("{title_id} {description_id}"),
                ),
            ],
        );
        svg.text("title", &[("id", &title_id)], &title);
        svg.text("desc", &[("id", &description_id)], &description);
        Self(svg)
    }

    pub(super) fn line(&mut self, class: &str, (x1, y1): Point, (x2, y2): Point) {
        let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(Tenth);
        let d = format_args!("M{x1} {y1}L{x2} {y2}");
        self.0.empty("path", &[("class", &class), ("d", &d)]);
    }

    pub(super) fn rect(&mut self, class: &str, (x, y): Point, (width, height): Point, tip: &str) {
        let attributes: Attributes = &[
            ("class", &class),
            ("x", &Tenth(x)),
            ("y", &Tenth(y)),
            ("width", &Tenth(width.max(0.0))),
            ("height", &Tenth(height.max(0.0))),
        ];
        self.0.titled("rect", attributes, tip);
    }

    pub(super) fn circle(&mut self, class: &str, (x, y): Point, radius: f64, tip: &str) {
        let attributes: Attributes = &[
            ("class", &class),
            ("cx", &Tenth(x)),
            ("cy", &Tenth(y)),
            ("r", &radius),
        ];
        self.0.titled("circle", attributes, tip);
    }

    pub(super) fn text(&mut self, class: &str, (x, y): Point, anchor: Anchor, text: &str) {
        let (x, y) = (Tenth(x), Tenth(y));
        let place: Attributes = &[("class", &class), ("x", &x), ("y", &y)];
        let anchor = match anchor {
            Anchor::Start => return self.0.text("text", place, &text),
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let attributes = [place, &[("text-anchor", &anchor)]].concat();
        self.0.text("text", &attributes, &text);
    }

    /// Text that is read from the bottom to the top.
    pub(super) fn vertical_text(&mut self, class: &str, (x, y): Point, text: &str) {
        let (x, y) = (Tenth(x), Tenth(y));
        let attributes: Attributes = &[
            ("class", &class),
            ("text-anchor", &"middle"),
            ("transform", &format_args!("translate({x} {y}) rotate(-90)")),
        ];
        self.0.text("text", attributes, &text);
    }

    /// A line through many points, as steps between whole units, which are short to write.
    pub(super) fn path(&mut self, class: &str, points: impl Iterator<Item = Point>) {
        let d = steps(points);
        self.0.empty("path", &[("class", &class), ("d", &d)]);
    }

    /// Draws a vertical line at each tick, with its label below.
    pub(super) fn axis_below(&mut self, axis: &Axis, top: f64, bottom: f64) {
        for (x, label) in axis.ticks() {
            self.line("grid", (x, top), (x, bottom));
            self.text("tick", (x, bottom + 17.0), Anchor::Middle, &label);
        }
    }

    /// Draws a horizontal line at each tick, with its label on the left.
    pub(super) fn axis_left(&mut self, axis: &Axis, left: f64, right: f64) {
        for (y, label) in axis.ticks() {
            self.line("grid", (left, y), (right, y));
            self.text("tick", (left - 7.0, y + 4.0), Anchor::End, &label);
        }
    }

    pub(super) fn finish(mut self) -> String {
        self.0.close("svg");
        self.0.finish()
    }
}

fn steps(points: impl Iterator<Item = Point>) -> String {
    let mut d = String::new();
    let mut last: Option<(i64, i64)> = None;
    for (x, y) in points {
        let here = (x.round() as i64, y.round() as i64);
        let written = match last {
            None => write!(d, "M{} {}l", here.0, here.1),
            Some(last) if last == here => continue,
            Some(last) => {
                let (dx, dy) = (here.0 - last.0, here.1 - last.1);
                // A minus sign separates numbers as well as a space does.
                let between = if dy < 0 { "" } else { " " };
                let before = if dx < 0 || d.ends_with('l') { "" } else { " " };
                write!(d, "{before}{dx}{between}{dy}")
            }
        };
        written.expect("a string can be written to");
        last = Some(here);
    }
    if d.ends_with('l') {
        d.push_str("0 0");
    }
    d
}

/// A coordinate to a tenth of a unit.
#[derive(Debug, Clone, Copy)]
struct Tenth(f64);

impl fmt::Display for Tenth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (self.0 * 10.0).round() as i64;
        if tenths % 10 == 0 {
            write!(f, "{}", tenths / 10)
        } else {
            write!(f, "{}", tenths as f64 / 10.0)
        }
    }
}

/// Where the names of the rows of a chart stand: left of the rows, or above each where one of them is too long for that.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowNames {
    are_above: bool,
}

/// The width beside the rows, and how many characters fit there; above a row more do.
const NAMES: f64 = 236.0;
const LONGEST_BESIDE: usize = 28;
const LONGEST_ABOVE: usize = 100;
const NAME_HEIGHT: f64 = 19.0;

impl RowNames {
    pub(super) fn of<'a>(mut names: impl Iterator<Item = &'a str>) -> Self {
        Self {
            are_above: names.any(|name| name.chars().count() > LONGEST_BESIDE),
        }
    }

    /// Where the rows begin.
    pub(super) fn left(self) -> f64 {
        if self.are_above { 14.0 } else { NAMES }
    }

    /// How much of the height of a row its name takes.
    pub(super) fn height(self) -> f64 {
        if self.are_above { NAME_HEIGHT } else { 0.0 }
    }

    /// Draws the name of the row from `top`, of which the middle of the drawing is at `middle`.
    pub(super) fn draw(self, canvas: &mut Canvas, name: &str, (top, middle): (f64, f64)) {
        if self.are_above {
            let name = shortened(name, LONGEST_ABOVE);
            canvas.text("label", (self.left(), top + 13.0), Anchor::Start, &name);
        } else {
            let place = (NAMES - 12.0, middle + 4.0);
            canvas.text("label", place, Anchor::End, name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_steps_between_whole_points() {
        let points = [(0.2, 5.0), (1.0, 4.0), (1.1, 4.2), (3.0, 9.0)];
        assert_eq!(steps(points.into_iter()), "M0 5l1-1 2 5");
        assert_eq!(steps([(1.0, 2.0)].into_iter()), "M1 2l0 0");
    }

    #[test]
    fn a_chart_has_a_title_and_a_description() {
        let chart = Canvas::new("a", 10.0, 20.0, "t", "d").finish();
        assert_eq!(
            chart,
            "<svg class=\"chart\" viewBox=\"0 0 10 20\" role=\"img\" aria-labelledby=\"a-t a-d\">\
             <title id=\"a-t\">t</title><desc id=\"a-d\">d</desc></svg>"
        );
    }
}
