use super::canvas::{Anchor, Canvas, RowNames};
use crate::text::axis::Axis;

const WIDTH: f64 = 760.0;
const ROW: f64 = 27.0;
const TOP: f64 = 40.0;

/// One row of a stacked bar chart.
#[derive(Debug)]
pub(in crate::site) struct Bar {
    pub(in crate::site) label: String,
    /// In the order of the parts' names.
    pub(in crate::site) parts: Vec<f64>,
}

/// A stacked bar chart; the parts have the classes `fill-1`, `fill-2`, ...
///
/// The axis has one unit; `amount` writes each value in the unit that fits it.
pub(in crate::site) fn bars(
    id: &str,
    title: &str,
    (unit, factor): (&str, f64),
    parts: &[&str],
    rows: &[Bar],
    amount: &dyn Fn(f64) -> String,
) -> String {
    let names = RowNames::of(rows.iter().map(|bar| bar.label.as_str()));
    let (labels, row_height) = (names.left(), ROW + names.height());
    let bottom = TOP + rows.len() as f64 * row_height + 4.0;
    let total = |bar: &Bar| bar.parts.iter().sum::<f64>();
    let most = rows.iter().map(total).fold(0.0, f64::max);
    let described: Vec<String> = rows
        .iter()
        .map(|bar| format!("{}: {}", bar.label, amount(total(bar))))
        .collect();
    let mut canvas = Canvas::new(id, WIDTH, bottom + 42.0, title, &described.join("; "));
    let axis = Axis::over(0.0, most * factor, labels, WIDTH - 80.0, 5);
    canvas.axis_below(&axis, TOP, bottom);
    canvas.text(
        "axis-name",
        (f64::midpoint(labels, WIDTH - 80.0), bottom + 36.0),
        Anchor::Middle,
        unit,
    );
    let mut x = labels;
    for (part, name) in parts.iter().enumerate() {
        if rows.iter().all(|bar| bar.parts[part] == 0.0) {
            continue;
        }
        canvas.rect(&format!("fill-{}", part + 1), (x, 10.0), (12.0, 12.0), "");
        canvas.text("legend", (x + 18.0, 20.5), Anchor::Start, name);
        x += 44.0 + 7.2 * name.chars().count() as f64;
    }
    for (row, bar) in rows.iter().enumerate() {
        let top = TOP + row as f64 * row_height;
        let y = top + names.height() + 5.0;
        names.draw(&mut canvas, &bar.label, (top, y + 9.0));
        let mut from = 0.0;
        for (part, (value, name)) in bar.parts.iter().zip(parts).enumerate() {
            let (left, right) = (
                axis.place(from * factor),
                axis.place((from + value) * factor),
            );
            if right - left > 0.05 {
                let tip = format!("{} {name}: {}", bar.label, amount(*value));
                canvas.rect(
                    &format!("fill-{}", part + 1),
                    (left, y),
                    (right - left, 18.0),
                    &tip,
                );
            }
            from += value;
        }
        canvas.text(
            "value",
            (axis.place(from * factor) + 8.0, y + 13.0),
            Anchor::Start,
            &amount(from),
        );
    }
    canvas.finish()
}
