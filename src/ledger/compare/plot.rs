use super::{Comparison, Contrasts};
use crate::text::number::human;
use crate::text::svg::{Attributes, Svg};

const WIDTH: f64 = 640.0;
const LABELS: f64 = 180.0;
const RIGHT: f64 = 24.0;
const ROW: f64 = 28.0;
const TITLE: f64 = 30.0;
const AXIS: f64 = 34.0;

/// A plot for each figure: every run as a dot, every mean as a bar with its standard error.
#[must_use]
pub fn svg(comparison: &Comparison) -> String {
    let plot_height = TITLE + ROW * comparison.groups.len() as f64 + AXIS;
    let height = plot_height * comparison.figures.len() as f64;
    let mut svg = Svg::default();
    svg.open(
        "svg",
        &[
            ("xmlns", &"http://www.w3.org/2000/svg"),
            ("viewBox", &format_args!("0 0 {WIDTH} {height}")),
            ("width", &WIDTH),
            ("height", &height),
            ("role", &"img"),
            ("font-family", &"sans-serif"),
            ("font-size", &12),
        ],
    );
    svg.line_break();
    let groups = comparison.groups.len();
    svg.text(
        "title",
        &[],
        &format_args!("Comparison of {groups} groups of runs"),
    );
    svg.line_break();
    svg.empty(
        "rect",
        &[("width", &"100%"), ("height", &"100%"), ("fill", &"white")],
    );
    svg.line_break();
    for (index, contrasts) in comparison.figures.iter().enumerate() {
        draw_figure(&mut svg, contrasts, plot_height * index as f64);
    }
    svg.close("svg");
    svg.line_break();
    svg.finish()
}

fn draw_figure(svg: &mut Svg, contrasts: &Contrasts, top: f64) {
    let figure = contrasts.figure;
    let title = format!("{} ({})", figure.name(), figure.unit());
    text(svg, (12.0, top + 18.0), &[("font-weight", &"bold")], &title);
    let largest = contrasts
        .groups
        .iter()
        .flat_map(|group| group.values.iter().copied())
        .fold(0.0, f64::max);
    let scale = |value: f64| {
        let share = if largest > 0.0 { value / largest } else { 0.0 };
        LABELS + share * (WIDTH - LABELS - RIGHT)
    };
    for (row, group) in contrasts.groups.iter().enumerate() {
        let y = top + TITLE + ROW * (row as f64 + 0.5);
        let name = shortened(&group.name);
        text(
            svg,
            (LABELS - 10.0, y + 4.0),
            &[("text-anchor", &"end")],
            &name,
        );
        for value in &group.values {
            svg.titled(
                "circle",
                &[
                    ("cx", &format_args!("{:.2}", scale(*value))),
                    ("cy", &y),
                    ("r", &4),
                    ("fill", &"#0072b2"),
                    ("fill-opacity", &0.45),
                ],
                &format!("{} {}", human(*value), figure.unit()),
            );
            svg.line_break();
        }
        let Some(moments) = group.moments else {
            text(svg, (LABELS, y + 4.0), &[("fill", &"#666")], "unknown");
            continue;
        };
        let error = moments.standard_error().unwrap_or(0.0);
        let low = scale((moments.mean - error).max(0.0));
        let high = scale((moments.mean + error).min(largest));
        let mean = scale(moments.mean);
        let black: Attributes = &[("stroke", &"black"), ("stroke-width", &2)];
        line(svg, (low, y), (high, y), black);
        line(svg, (mean, y - 8.0), (mean, y + 8.0), black);
    }
    let y = top + TITLE + ROW * contrasts.groups.len() as f64;
    line(svg, (LABELS, y), (WIDTH - RIGHT, y), &[("stroke", &"#666")]);
    text(svg, (LABELS, y + 16.0), &[("fill", &"#666")], "0");
    text(
        svg,
        (WIDTH - RIGHT, y + 16.0),
        &[("fill", &"#666"), ("text-anchor", &"end")],
        &human(largest),
    );
}

fn line(svg: &mut Svg, (x1, y1): (f64, f64), (x2, y2): (f64, f64), style: Attributes) {
    let (x1, x2) = (format!("{x1:.2}"), format!("{x2:.2}"));
    let ends: Attributes = &[("x1", &x1), ("x2", &x2), ("y1", &y1), ("y2", &y2)];
    svg.empty("line", &[ends, style].concat());
    svg.line_break();
}

fn text(svg: &mut Svg, (x, y): (f64, f64), style: Attributes, text: &str) {
    let place: Attributes = &[("x", &x), ("y", &y)];
    svg.text("text", &[place, style].concat(), &text);
    svg.line_break();
}

/// The end of a long name: paths differ there.
fn shortened(name: &str) -> String {
    const MOST: usize = 24;
    let length = name.chars().count();
    if length <= MOST {
        return name.to_owned();
    }
    let end: String = name.chars().skip(length - MOST + 1).collect();
    format!("…{end}")
}
