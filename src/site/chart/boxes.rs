use super::canvas::{Anchor, Canvas, RowNames};
use crate::text::axis::Axis;
use crate::text::number::counted;
use crate::units::moments::quantile;

const WIDTH: f64 = 760.0;
const ROW: f64 = 34.0;
/// Groups with fewer runs have only dots.
const ENOUGH_FOR_A_BOX: usize = 4;
const MOST_DOTS: usize = 60;

/// One row of a box plot.
#[derive(Debug)]
pub(in crate::site) struct BoxRow {
    pub(in crate::site) label: String,
    pub(in crate::site) values: Vec<f64>,
}

/// A box plot with quartiles, whiskers to minimum and maximum, and the runs as dots.
///
/// The axis has one unit; `amount` writes each value in the unit that fits it.
pub(in crate::site) fn boxes(
    id: &str,
    title: &str,
    (unit, factor): (&str, f64),
    rows: &[BoxRow],
    amount: &dyn Fn(f64) -> String,
) -> String {
    let top = 8.0;
    let names = RowNames::of(rows.iter().map(|row| row.label.as_str()));
    let (labels, row_height) = (names.left(), ROW + names.height());
    let bottom = top + rows.len() as f64 * row_height;
    let all = || {
        rows.iter()
            .flat_map(|row| row.values.iter().map(|value| value * factor))
    };
    let high = all().fold(f64::NEG_INFINITY, f64::max);
    let low = all().fold(f64::INFINITY, f64::min);
    let axis = if low >= 0.0 && low < high * 0.5 {
        Axis::over(0.0, high, labels, WIDTH - 24.0, 6)
    } else {
        Axis::over(low, high, labels, WIDTH - 24.0, 6)
    };
    let rows: Vec<(&str, Vec<f64>)> = rows
        .iter()
        .map(|row| {
            let mut sorted = row.values.clone();
            sorted.sort_by(f64::total_cmp);
            (row.label.as_str(), sorted)
        })
        .collect();
    let at = |sorted: &[f64], share| quantile(sorted, share).unwrap_or_default();
    let described: Vec<String> = rows
        .iter()
        .map(|(label, sorted)| {
            format!(
                "{label}: median {} of {}",
                amount(at(sorted, 0.5)),
                counted(sorted.len(), "run")
            )
        })
        .collect();
    let mut canvas = Canvas::new(id, WIDTH, bottom + 42.0, title, &described.join("; "));
    canvas.axis_below(&axis, top, bottom);
    canvas.text(
        "axis-name",
        (f64::midpoint(labels, WIDTH - 24.0), bottom + 36.0),
        Anchor::Middle,
        unit,
    );
    for (row, (label, sorted)) in rows.iter().enumerate() {
        let above = top + row as f64 * row_height;
        let middle = above + names.height() + 0.5 * ROW;
        names.draw(&mut canvas, label, (above, middle));
        let place = |share| axis.place(at(sorted, share) * factor);
        if sorted.len() >= ENOUGH_FOR_A_BOX {
            canvas.line("whisker", (place(0.0), middle), (place(1.0), middle));
            let tip = format!(
                "{label}: quartiles {}, {}, {}",
                amount(at(sorted, 0.25)),
                amount(at(sorted, 0.5)),
                amount(at(sorted, 0.75))
            );
            canvas.rect(
                "box",
                (place(0.25), middle - 10.0),
                ((place(0.75) - place(0.25)).max(1.5), 20.0),
                &tip,
            );
            canvas.line(
                "median",
                (place(0.5), middle - 10.0),
                (place(0.5), middle + 10.0),
            );
        }
        let every = sorted.len().div_ceil(MOST_DOTS).max(1);
        for value in sorted.iter().step_by(every) {
            canvas.circle("run", (axis.place(value * factor), middle), 3.5, "");
        }
    }
    canvas.finish()
}
