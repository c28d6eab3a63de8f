use std::fmt::Write as _;

use super::{Comparison, Contrasts};
use crate::text::escape;
use crate::text::number::human;

const WIDTH: f64 = 640.0;
const LABELS: f64 = 180.0;
const RIGHT: f64 = 24.0;
const ROW: f64 = 28.0;
const TITLE: f64 = 30.0;
const AXIS: f64 = 34.0;

/// Every run as a dot and every mean with its standard error as a bar, a panel a figure.
#[must_use]
pub fn svg(comparison: &Comparison) -> String {
    let panel_height = TITLE + ROW * comparison.groups.len() as f64 + AXIS;
    let height = panel_height * comparison.figures.len() as f64;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" role=\"img\" font-family=\"sans-serif\" font-size=\"12\">\n<title>Comparison of {} groups of runs</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        comparison.groups.len()
    );
    for (index, contrasts) in comparison.figures.iter().enumerate() {
        panel(&mut out, contrasts, panel_height * index as f64);
    }
    out.push_str("</svg>\n");
    out
}

fn panel(out: &mut String, contrasts: &Contrasts, top: f64) {
    let figure = contrasts.figure;
    let _ = writeln!(
        out,
        "<text x=\"12\" y=\"{}\" font-weight=\"bold\">{} ({})</text>",
        top + 18.0,
        figure.name(),
        escape::html(figure.unit())
    );
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
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
            LABELS - 10.0,
            y + 4.0,
            escape::html(&shortened(&group.name))
        );
        for value in &group.values {
            let _ = writeln!(
                out,
                "<circle cx=\"{:.2}\" cy=\"{y}\" r=\"4\" fill=\"#0072b2\" fill-opacity=\"0.45\"><title>{} {}</title></circle>",
                scale(*value),
                human(*value),
                escape::html(figure.unit())
            );
        }
        let Some(moments) = group.moments else {
            let _ = writeln!(
                out,
                "<text x=\"{LABELS}\" y=\"{}\" fill=\"#666\">unknown</text>",
                y + 4.0
            );
            continue;
        };
        let error = moments.standard_error().unwrap_or(0.0);
        let _ = writeln!(
            out,
            "<line x1=\"{:.2}\" x2=\"{:.2}\" y1=\"{y}\" y2=\"{y}\" stroke=\"black\" stroke-width=\"2\"/>",
            scale((moments.mean - error).max(0.0)),
            scale((moments.mean + error).min(largest)),
        );
        let mean = scale(moments.mean);
        let _ = writeln!(
            out,
            "<line x1=\"{mean:.2}\" x2=\"{mean:.2}\" y1=\"{}\" y2=\"{}\" stroke=\"black\" stroke-width=\"2\"/>",
            y - 8.0,
            y + 8.0
        );
    }
    let y = top + TITLE + ROW * contrasts.groups.len() as f64;
    let _ = writeln!(
        out,
        "<line x1=\"{LABELS}\" x2=\"{}\" y1=\"{y}\" y2=\"{y}\" stroke=\"#666\"/>\n<text x=\"{LABELS}\" y=\"{}\" fill=\"#666\">0</text>\n<text x=\"{}\" y=\"{}\" fill=\"#666\" text-anchor=\"end\">{}</text>",
        WIDTH - RIGHT,
        y + 16.0,
        WIDTH - RIGHT,
        y + 16.0,
        human(largest)
    );
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
