use super::canvas::{Anchor, Canvas};
use crate::text::axis::Axis;
use crate::text::number;
use crate::text::svg::shortened;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 74.0;
const RIGHT: f64 = WIDTH - 20.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = HEIGHT - 56.0;
/// With more points than this, names would overlap.
const MOST_NAMES: usize = 12;
const LONGEST_NAME: usize = 36;
/// The approximate width of a character.
const LETTER: f64 = 7.0;

/// One point with its errors.
#[derive(Debug)]
pub(in crate::site) struct Dot {
    pub(in crate::site) label: String,
    pub(in crate::site) x: f64,
    pub(in crate::site) y: f64,
    pub(in crate::site) x_error: f64,
    pub(in crate::site) y_error: f64,
}

/// One figure against another.
#[derive(Debug)]
pub(in crate::site) struct Scatter<'a> {
    pub(in crate::site) title: &'a str,
    pub(in crate::site) x_name: &'a str,
    pub(in crate::site) y_name: &'a str,
    pub(in crate::site) low_x_is_better: bool,
    pub(in crate::site) low_y_is_better: bool,
    pub(in crate::site) dots: &'a [Dot],
}

/// A scatter plot with error bars; a line joins the Pareto front.
pub(in crate::site) fn scatter(id: &str, plot: &Scatter) -> String {
    let dots = plot.dots;
    let front = pareto(plot);
    let names: Vec<&str> = front.iter().map(|dot| dots[*dot].label.as_str()).collect();
    let description = format!(
        "{} points; not beaten in both figures: {}",
        dots.len(),
        if names.len() <= MOST_NAMES {
            names.join(", ")
        } else {
            format!("{} of them", names.len())
        }
    );
    let mut canvas = Canvas::new(id, WIDTH, HEIGHT, plot.title, &description);
    let ends = |value: fn(&Dot) -> (f64, f64)| {
        let low = dots
            .iter()
            .map(|dot| value(dot).0 - value(dot).1)
            .fold(f64::INFINITY, f64::min);
        let high = dots
            .iter()
            .map(|dot| value(dot).0 + value(dot).1)
            .fold(f64::NEG_INFINITY, f64::max);
        // The axis begins at zero if that is near.
        if low > 0.0 && low < high * 0.4 {
            (0.0, high)
        } else {
            (low, high)
        }
    };
    let (x_low, x_high) = ends(|dot| (dot.x, dot.x_error));
    let (y_low, y_high) = ends(|dot| (dot.y, dot.y_error));
    let x = Axis::over(x_low, x_high, LEFT, RIGHT, 6);
    let y = Axis::over(y_low, y_high, BOTTOM, TOP, 5);
    canvas.axis_below(&x, TOP, BOTTOM);
    canvas.axis_left(&y, LEFT, RIGHT);
    canvas.text(
        "axis-name",
        (f64::midpoint(LEFT, RIGHT), HEIGHT - 14.0),
        Anchor::Middle,
        plot.x_name,
    );
    canvas.vertical_text("axis-name", (18.0, f64::midpoint(TOP, BOTTOM)), plot.y_name);
    if front.len() > 1 {
        canvas.path(
            "pareto",
            front
                .iter()
                .map(|dot| (x.place(dots[*dot].x), y.place(dots[*dot].y))),
        );
    }
    for (place, dot) in dots.iter().enumerate() {
        let (cx, cy) = (x.place(dot.x), y.place(dot.y));
        if dot.x_error > 0.0 {
            let (a, b) = (x.place(dot.x - dot.x_error), x.place(dot.x + dot.x_error));
            canvas.line("error", (a, cy), (b, cy));
            canvas.line("error", (a, cy - 4.0), (a, cy + 4.0));
            canvas.line("error", (b, cy - 4.0), (b, cy + 4.0));
        }
        if dot.y_error > 0.0 {
            let (a, b) = (y.place(dot.y - dot.y_error), y.place(dot.y + dot.y_error));
            canvas.line("error", (cx, a), (cx, b));
            canvas.line("error", (cx - 4.0, a), (cx + 4.0, a));
            canvas.line("error", (cx - 4.0, b), (cx + 4.0, b));
        }
        let class = if front.contains(&place) {
            "dot best"
        } else {
            "dot"
        };
        let tip = format!(
            "{}: {}, {}",
            dot.label,
            number::typeset(dot.x),
            number::typeset(dot.y)
        );
        canvas.circle(class, (cx, cy), 5.5, &tip);
    }
    if dots.len() <= MOST_NAMES {
        name_dots(&mut canvas, dots, &x, &y);
    }
    canvas.finish()
}

/// Writes each name beside its dot, in the first place that is free.
fn name_dots(canvas: &mut Canvas, dots: &[Dot], x: &Axis, y: &Axis) {
    let mut taken: Vec<[f64; 4]> = dots
        .iter()
        .map(|dot| (x.place(dot.x), y.place(dot.y)))
        .map(|(cx, cy)| [cx - 7.0, cy - 7.0, cx + 7.0, cy + 7.0])
        .collect();
    for dot in dots {
        let (cx, cy) = (x.place(dot.x), y.place(dot.y));
        let name = shortened(&dot.label, LONGEST_NAME);
        let width = LETTER * name.chars().count() as f64;
        let places = [
            (9.0, -6.0),
            (-9.0, -6.0),
            (9.0, 15.0),
            (-9.0, 15.0),
            (9.0, -20.0),
            (-9.0, -20.0),
        ];
        let boxed = |(dx, dy): (f64, f64)| {
            let left = if dx < 0.0 { cx + dx - width } else { cx + dx };
            [left, cy + dy - 11.0, left + width, cy + dy + 3.0]
        };
        let is_inside = |area: &[f64; 4]| {
            area[0] >= LEFT && area[2] <= RIGHT && area[1] >= TOP - 12.0 && area[3] <= BOTTOM
        };
        let is_free = |area: &[f64; 4]| {
            !taken.iter().any(|other| {
                area[0] < other[2] && other[0] < area[2] && area[1] < other[3] && other[1] < area[3]
            })
        };
        let found = places.into_iter().find(|place| {
            let area = boxed(*place);
            is_inside(&area) && is_free(&area)
        });
        // A name that fits nowhere is still the title of its dot.
        if let Some((dx, dy)) = found {
            taken.push(boxed((dx, dy)));
            let anchor = if dx < 0.0 { Anchor::End } else { Anchor::Start };
            canvas.text("label", (cx + dx, cy + dy), anchor, &name);
        }
    }
}

/// The Pareto front: the dots that no other dot beats in both figures, from left to right.
fn pareto(plot: &Scatter) -> Vec<usize> {
    let x = |dot: usize| {
        if plot.low_x_is_better {
            plot.dots[dot].x
        } else {
            -plot.dots[dot].x
        }
    };
    let y = |dot: usize| {
        if plot.low_y_is_better {
            plot.dots[dot].y
        } else {
            -plot.dots[dot].y
        }
    };
    let mut order: Vec<usize> = (0..plot.dots.len()).collect();
    order.sort_by(|a, b| x(*a).total_cmp(&x(*b)).then(y(*a).total_cmp(&y(*b))));
    let mut best = f64::INFINITY;
    let mut front: Vec<usize> = order
        .into_iter()
        .filter(|dot| {
            let better = y(*dot) < best;
            best = best.min(y(*dot));
            better
        })
        .collect();
    front.sort_by(|a, b| plot.dots[*a].x.total_cmp(&plot.dots[*b].x));
    front
}

#[cfg(test)]
mod tests {
    use super::*;

    fn front(low_x_is_better: bool, points: &[(f64, f64)]) -> Vec<usize> {
        let dots: Vec<Dot> = points
            .iter()
            .map(|(x, y)| Dot {
                label: String::new(),
                x: *x,
                y: *y,
                x_error: 0.0,
                y_error: 0.0,
            })
            .collect();
        pareto(&Scatter {
            title: "",
            x_name: "",
            y_name: "",
            low_x_is_better,
            low_y_is_better: false,
            dots: &dots,
        })
    }

    #[test]
    fn only_what_nothing_beats_is_on_the_front() {
        let points = [(1.0, 1.0), (2.0, 5.0), (3.0, 4.0), (4.0, 9.0), (2.0, 2.0)];
        assert_eq!(front(true, &points), [0, 1, 3]);
        assert_eq!(front(false, &points), [3]);
        assert_eq!(front(true, &[]), Vec::<usize>::new());
    }
}
