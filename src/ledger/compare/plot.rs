use super::{Comparison, Contrasts};
use crate::text::axis::Axis;
use crate::text::quantity::Scale;
use crate::text::svg::{Attributes, Svg};

const WIDTH: f64 = 560.0;
const MARGIN: f64 = 14.0;
/// A row has the name of its group above its runs.
const ROW: f64 = 58.0;
const TITLE: f64 = 30.0;
const AXIS: f64 = 40.0;
/// About how many steps an axis has.
const TICKS: usize = 4;
/// The names of longer groups are cut.
const LONGEST_NAME: usize = 60;

/// The colours of a plot that stands alone; a page has its own for the same classes.
const STYLE: &str = "text{font-family:sans-serif;font-size:13px;fill:#1d2226}\
.title{font-weight:bold}.tick,.legend{fill:#55606a;font-size:12px}.paper{fill:#fff}\
.grid{stroke:#e2e4e0}.run{fill:#16776d;fill-opacity:.55}.mean{stroke:#1d2226;stroke-width:2}\
@media(prefers-color-scheme:dark){text{fill:#e6e9ea}.tick,.legend{fill:#a9b4bc}.paper{fill:#14181b}\
.grid{stroke:#2d353b}.run{fill:#4cbcae}.mean{stroke:#e6e9ea}}";

/// All plots one below the other, as a file of their own.
#[must_use]
pub fn svg(comparison: &Comparison) -> String {
    let each = TITLE + height(comparison);
    let all = each * comparison.figures.len() as f64;
    let mut svg = Svg::default();
    let size = Size {
        height: all,
        is_document: true,
    };
    size.open(
        &mut svg,
        &format!(
            "Comparison of {} groups of {}s",
            comparison.groups.len(),
            comparison.of
        ),
    );
    svg.text("style", &[], &STYLE);
    svg.empty(
        "rect",
        &[("class", &"paper"), ("width", &"100%"), ("height", &"100%")],
    );
    svg.line_break();
    for (index, contrasts) in comparison.figures.iter().enumerate() {
        let top = each * index as f64;
        let title = title(contrasts);
        text(&mut svg, "title", (MARGIN, top + 20.0), "start", &title);
        draw(&mut svg, comparison, contrasts, top + TITLE);
    }
    svg.close("svg");
    svg.line_break();
    svg.finish()
}

/// The plot of one figure for a page: every run as a dot, every mean as a bar with its standard error.
#[must_use]
pub(crate) fn figure_svg(comparison: &Comparison, contrasts: &Contrasts) -> String {
    let mut svg = Svg::default();
    let size = Size {
        height: height(comparison),
        is_document: false,
    };
    size.open(&mut svg, &description(comparison, contrasts));
    draw(&mut svg, comparison, contrasts, 0.0);
    svg.close("svg");
    svg.finish()
}

/// How large a drawing is, and whether it is a file of its own.
struct Size {
    height: f64,
    is_document: bool,
}

impl Size {
    fn open(&self, svg: &mut Svg, title: &str) {
        let view = format!("0 0 {WIDTH} {}", self.height);
        let common: Attributes = &[("viewBox", &view), ("role", &"img"), ("class", &"plot")];
        let of_a_document: Attributes = &[
            ("xmlns", &"http://www.w3.org/2000/svg"),
            ("width", &WIDTH),
            ("height", &self.height),
        ];
        let of_a_page: Attributes = &[("aria-label", &title)];
        let own = if self.is_document {
            of_a_document
        } else {
            of_a_page
        };
        let attributes = [own, common].concat();
        svg.open("svg", &attributes);
        svg.line_break();
        svg.text("title", &[], &title);
        svg.line_break();
    }
}

fn height(comparison: &Comparison) -> f64 {
    ROW * comparison.groups.len() as f64 + AXIS
}

fn title(contrasts: &Contrasts) -> String {
    let figure = &contrasts.figure;
    match contrasts.scale().unit {
        "" => figure.meaning(),
        unit => format!("{} ({unit})", figure.meaning()),
    }
}

/// The plot in words: the mean of each group.
fn description(comparison: &Comparison, contrasts: &Contrasts) -> String {
    let means = contrasts
        .groups
        .iter()
        .zip(&comparison.labels)
        .map(|(group, label)| {
            let mean = group.moments.map_or_else(
                || "unknown".to_owned(),
                |moments| contrasts.figure.amount(moments.mean),
            );
            format!("{label} {mean}")
        });
    let means: Vec<String> = means.collect();
    format!("{}, mean: {}", contrasts.figure.meaning(), means.join(", "))
}

fn draw(svg: &mut Svg, comparison: &Comparison, contrasts: &Contrasts, top: f64) {
    let Scale { unit, factor } = contrasts.scale();
    let axis = axis_over(contrasts, factor);
    let bottom = top + ROW * contrasts.groups.len() as f64;
    for (x, label) in axis.ticks() {
        line(svg, "grid", (x, top), (x, bottom));
        let anchor = match x {
            x if x < MARGIN + 20.0 => "start",
            x if x > WIDTH - MARGIN - 20.0 => "end",
            _ => "middle",
        };
        text(svg, "tick", (x, bottom + 16.0), anchor, &label);
    }
    text(svg, "tick", (WIDTH - MARGIN, bottom + 33.0), "end", unit);
    for (row, group) in contrasts.groups.iter().enumerate() {
        let above = top + ROW * row as f64;
        let y = above + 38.0;
        let label = shortened(&comparison.labels[row]);
        text(svg, "label", (MARGIN, above + 22.0), "start", &label);
        for value in &group.values {
            svg.titled(
                "circle",
                &[
                    ("class", &"run"),
                    ("cx", &format_args!("{:.2}", axis.place(*value * factor))),
                    ("cy", &y),
                    ("r", &4.5),
                ],
                &contrasts.figure.amount(*value),
            );
            svg.line_break();
        }
        let Some(moments) = group.moments else {
            text(svg, "legend", (MARGIN, y + 4.0), "start", "unknown");
            continue;
        };
        let mean = axis.place(moments.mean * factor);
        line(svg, "mean", (mean, y - 10.0), (mean, y + 10.0));
        if let Some(error) = moments.standard_error() {
            let place = |value| axis.place(value * factor).clamp(MARGIN, WIDTH - MARGIN);
            let (low, high) = (place(moments.mean - error), place(moments.mean + error));
            line(svg, "mean", (low, y), (high, y));
        }
    }
}

/// From 0, or from a round number below the smallest value, over the values of all groups, each multiplied by `factor`.
fn axis_over(contrasts: &Contrasts, factor: f64) -> Axis {
    let values = || {
        let values = contrasts.groups.iter().flat_map(|group| &group.values);
        values.map(|value| value * factor)
    };
    let most = values().fold(0.0, f64::max);
    let least = values().fold(0.0, f64::min);
    let most = if most > least { most } else { least + 1.0 };
    Axis::over(least, most, MARGIN, WIDTH - MARGIN, TICKS)
}

fn line(svg: &mut Svg, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
    let (x1, x2) = (format!("{x1:.2}"), format!("{x2:.2}"));
    svg.empty(
        "line",
        &[
            ("class", &class),
            ("x1", &x1),
            ("x2", &x2),
            ("y1", &y1),
            ("y2", &y2),
        ],
    );
    svg.line_break();
}

fn text(svg: &mut Svg, class: &str, (x, y): (f64, f64), anchor: &str, text: &str) {
    if text.is_empty() {
        return;
    }
    let x = format!("{x:.2}");
    svg.text(
        "text",
        &[
            ("class", &class),
            ("x", &x),
            ("y", &y),
            ("text-anchor", &anchor),
        ],
        &text,
    );
    svg.line_break();
}

/// The end of a long name: paths differ there.
fn shortened(name: &str) -> String {
    let length = name.chars().count();
    if length <= LONGEST_NAME {
        return name.to_owned();
    }
    let end: String = name.chars().skip(length - LONGEST_NAME + 1).collect();
    format!("…{end}")
}
