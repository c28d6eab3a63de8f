use super::canvas::{Anchor, Canvas};
use crate::log::Point;
use crate::text::axis::Axis;
use crate::text::number;
use crate::text::quantity::Quantity;
use crate::text::svg::shortened;
use crate::units::SECONDS_PER_HOUR;

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 242.0;
const LEFT: f64 = 62.0;
/// Half of the label of the last tick lies beyond it.
const RIGHT: f64 = WIDTH - 24.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = HEIGHT - 44.0;
/// Phases within more others have no name in the chart.
const MOST_LEVELS: usize = 8;

/// One gauge over time.
#[derive(Debug)]
pub(in crate::site) struct Line {
    pub(in crate::site) name: &'static str,
    /// The number of its colour, from 1.
    pub(in crate::site) colour: usize,
    pub(in crate::site) points: Vec<Point>,
}

/// An occurrence of a phase.
#[derive(Debug)]
pub(in crate::site) struct Band {
    pub(in crate::site) name: String,
    pub(in crate::site) from: f64,
    pub(in crate::site) to: f64,
    /// How many others it lies within, so that names do not cover each other.
    pub(in crate::site) level: usize,
}

/// A line chart of gauges over time, with the phases of the run behind them.
pub(in crate::site) fn lines(
    id: &str,
    title: &str,
    unit: &str,
    seconds: f64,
    lines: &[Line],
    bands: &[Band],
) -> String {
    let values = || {
        lines
            .iter()
            .flat_map(|line| line.points.iter().map(|point| point.value))
    };
    let high = values().fold(f64::NEG_INFINITY, f64::max);
    let low = values().fold(f64::INFINITY, f64::min);
    let described: Vec<String> = lines.iter().map(|line| describe(line, unit)).collect();
    let mut canvas = Canvas::new(id, WIDTH, HEIGHT, title, &described.join("; "));
    let time = Quantity::Time.scale(seconds / SECONDS_PER_HOUR);
    let per_unit = SECONDS_PER_HOUR / time.factor;
    let x = Axis::exactly(0.0, (seconds / per_unit).max(1e-3), LEFT, RIGHT, 8);
    // The axis begins at zero unless all values are far from it.
    let low = if low > 0.0 && low < high * 0.7 {
        0.0
    } else {
        low
    };
    let y = Axis::over(low, high, BOTTOM, TOP, 4);
    for band in bands {
        draw_band(&mut canvas, band, &x, per_unit);
    }
    canvas.axis_left(&y, LEFT, RIGHT);
    canvas.axis_below(&x, BOTTOM, BOTTOM + 4.0);
    canvas.text(
        "axis-name",
        (RIGHT, HEIGHT - 6.0),
        Anchor::End,
        &format!("time ({})", time.unit),
    );
    canvas.text("axis-name", (4.0, 14.0), Anchor::Start, unit);
    let mut legend = RIGHT;
    for line in lines.iter().rev() {
        if lines.len() > 1 {
            canvas.text("legend", (legend, 14.0), Anchor::End, line.name);
            legend -= 8.0 + 7.0 * line.name.chars().count() as f64;
            canvas.line(
                &format!("line line-{}", line.colour),
                (legend - 18.0, 10.0),
                (legend, 10.0),
            );
            legend -= 34.0;
        }
    }
    for line in lines {
        let points = line
            .points
            .iter()
            .map(|point| (x.place(point.seconds / per_unit), y.place(point.value)));
        canvas.path(&format!("line line-{}", line.colour), points);
    }
    canvas.finish()
}

fn describe(line: &Line, unit: &str) -> String {
    let values = || line.points.iter().map(|point| point.value);
    format!(
        "{}: from {} to {} {unit}",
        line.name,
        number::typeset(values().fold(f64::INFINITY, f64::min)),
        number::typeset(values().fold(f64::NEG_INFINITY, f64::max))
    )
}

fn draw_band(canvas: &mut Canvas, band: &Band, x: &Axis, per_unit: f64) {
    let (from, to) = (x.place(band.from / per_unit), x.place(band.to / per_unit));
    if to - from > 1.0 {
        canvas.rect("phase", (from, TOP), (to - from, BOTTOM - TOP), &band.name);
    } else {
        canvas.line("instant", (from, TOP), (from, BOTTOM));
    }
    let columns = ((to - from) / 7.0) as usize;
    if columns >= 3 && band.level < MOST_LEVELS {
        canvas.text(
            "phase-name",
            (from + 4.0, TOP + 12.0 + 13.0 * band.level as f64),
            Anchor::Start,
            &shortened(&band.name, columns),
        );
    }
}
