use super::{KINDS, begin, text};
use crate::ledger::attribute::Attribution;
use crate::ledger::attribute::over_time::{BandOf, OverTime, STRETCHES};
use crate::text::axis::Axis;
use crate::text::quantity::{Quantity, joules};
use crate::text::svg::{Attributes, Svg, shortened};
use crate::units::{Energy, SECONDS_PER_HOUR};

const WIDTH: f64 = 760.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = WIDTH - 16.0;
const TOP: f64 = 64.0;
const HEIGHT: f64 = 220.0;
const MEMORY_HEIGHT: f64 = 90.0;
const LEGEND_ROW: f64 = 22.0;
const LONGEST_NAME: usize = 44;
const GIB: f64 = 1_073_741_824.0;

/// The power of the run over time, in bands by the names with most energy; none if the profile has no times.
#[must_use]
pub fn bands(attribution: &Attribution) -> Option<String> {
    let over_time = attribution.over_time.as_ref()?;
    let has_memory = !over_time.memory.is_empty();
    let memory_space = if has_memory {
        MEMORY_HEIGHT + 46.0
    } else {
        0.0
    };
    let legend = TOP + HEIGHT + 44.0 + memory_space;
    let height = legend + LEGEND_ROW * over_time.bands.len() as f64 + 10.0;
    let run = attribution.run.as_deref().unwrap_or("run");
    let title = format!("Power of {run} over time");
    let view = format!("0 0 {WIDTH} {height}");
    let size: Attributes = &[
        ("class", &"scaled"),
        ("viewBox", &view),
        ("preserveAspectRatio", &"xMidYMin meet"),
        ("role", &"img"),
    ];
    let mut svg = begin(size, &title, "");
    text(
        &mut svg,
        "heading",
        (12.0, 26.0),
        "start",
        &shortened(&title, 60),
    );
    let time = Quantity::Time.scale(over_time.seconds() / SECONDS_PER_HOUR);
    let x = Scaled::new(
        over_time.seconds(),
        time.factor / SECONDS_PER_HOUR,
        (LEFT, RIGHT),
    );
    let watts = over_time.watts();
    let most = watts.iter().copied().fold(0.0, f64::max);
    let power = Quantity::Power.scale(most);
    let y = Scaled::new(most, power.factor, (TOP + HEIGHT, TOP));
    text(&mut svg, "soft", (12.0, 50.0), "start", &power.unit);
    draw_bands(&mut svg, attribution, over_time, &x, &y);
    draw_levels(&mut svg, &y);
    draw_time(&mut svg, &x, time.unit, TOP + HEIGHT);
    if has_memory {
        draw_memory(&mut svg, over_time, &x, TOP + HEIGHT + 60.0);
    }
    for (row, (place, band)) in over_time.bands.iter().enumerate().rev().enumerate() {
        let y = legend + LEGEND_ROW * row as f64;
        let swatch: Attributes = &[
            ("class", &class_of(place, band.of)),
            ("x", &LEFT),
            ("y", &y),
            ("width", &14),
            ("height", &14),
        ];
        svg.empty("rect", swatch);
        let energy: Energy = band.energy.iter().copied().sum();
        let label = format!(
            "{}, {}",
            shortened(name_of(attribution, band.of), LONGEST_NAME),
            joules(energy)
        );
        text(&mut svg, "name", (LEFT + 22.0, y + 12.0), "start", &label);
    }
    svg.close("svg");
    svg.line_break();
    Some(svg.finish())
}

fn draw_bands(
    svg: &mut Svg,
    attribution: &Attribution,
    over_time: &OverTime,
    x: &Scaled,
    y: &Scaled,
) {
    let width = over_time.stretch_seconds();
    let mut below = vec![0.0; STRETCHES];
    for (place, band) in over_time.bands.iter().enumerate() {
        let above: Vec<f64> = below
            .iter()
            .zip(&band.energy)
            .map(|(below, energy)| below + energy.joules() / width)
            .collect();
        let mut path = String::new();
        steps(&mut path, &above, width, (x, y), 'M');
        let mut lower = String::new();
        steps(&mut lower, &below, width, (x, y), 'L');
        // The lower edge, from right to left.
        let back: Vec<&str> = lower
            .split('L')
            .filter(|point| !point.is_empty())
            .rev()
            .collect();
        for point in back {
            path.push('L');
            path.push_str(point);
        }
        path.push('Z');
        let class = class_of(place, band.of);
        let attributes: Attributes = &[("class", &class), ("d", &path)];
        svg.titled(
            "path",
            attributes,
            &shortened(name_of(attribution, band.of), 200),
        );
        svg.line_break();
        below = above;
    }
    let mut path = String::new();
    steps(&mut path, &below, width, (x, y), 'M');
    svg.empty("path", &[("class", &"power"), ("d", &path)]);
    svg.line_break();
}

/// The level of each stretch, as steps.
fn steps(path: &mut String, levels: &[f64], width: f64, (x, y): (&Scaled, &Scaled), first: char) {
    for (place, level) in levels.iter().enumerate() {
        let (from, to) = (place as f64 * width, (place + 1) as f64 * width);
        let command = if place == 0 { first } else { 'L' };
        let level = y.place(*level);
        path.push_str(&format!(
            "{command}{:.1} {level:.1}L{:.1} {level:.1}",
            x.place(from),
            x.place(to)
        ));
    }
}

fn draw_time(svg: &mut Svg, x: &Scaled, unit: &str, bottom: f64) {
    for (place, label) in x.axis.ticks() {
        text(svg, "tick", (place, bottom + 18.0), "middle", &label);
    }
    let name = format!("time ({unit})");
    text(svg, "soft", (RIGHT, bottom + 36.0), "end", &name);
}

fn draw_memory(svg: &mut Svg, over_time: &OverTime, x: &Scaled, top: f64) {
    let memory = over_time.memory.iter();
    let most = memory.map(|(_, bytes)| *bytes).fold(0.0, f64::max);
    let y = Scaled::new(most, 1.0 / GIB, (top + MEMORY_HEIGHT, top));
    text(svg, "soft", (12.0, top - 8.0), "start", &"memory in GiB");
    draw_levels(svg, &y);
    let mut path = String::new();
    let within = |seconds: &f64| (0.0..=over_time.seconds()).contains(seconds);
    for (seconds, bytes) in over_time
        .memory
        .iter()
        .filter(|(seconds, _)| within(seconds))
    {
        let command = if path.is_empty() { 'M' } else { 'L' };
        path.push_str(&format!(
            "{command}{:.1} {:.1}",
            x.place(*seconds),
            y.place(*bytes)
        ));
    }
    svg.empty("path", &[("class", &"power"), ("d", &path)]);
    svg.line_break();
}

fn draw_levels(svg: &mut Svg, y: &Scaled) {
    for (place, label) in y.axis.ticks() {
        line(svg, (LEFT, place), (RIGHT, place));
        text(svg, "tick", (LEFT - 6.0, place + 4.0), "end", &label);
    }
}

fn line(svg: &mut Svg, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
    let path = format!("M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}");
    svg.empty("path", &[("class", &"grid"), ("d", &path)]);
}

/// Bands beside each other have different colours.
fn class_of(place: usize, of: BandOf) -> String {
    match of {
        BandOf::Nobody => "none".to_owned(),
        BandOf::Name(_) | BandOf::Others => format!("kind-{}", place % KINDS),
    }
}

fn name_of(attribution: &Attribution, of: BandOf) -> &str {
    match of {
        BandOf::Name(name) => attribution.names.text(name),
        BandOf::Others => "other spans",
        BandOf::Nobody => "not covered",
    }
}

/// An axis from 0 to the largest value, in the unit of its ticks.
struct Scaled {
    axis: Axis,
    factor: f64,
}

impl Scaled {
    fn new(most: f64, factor: f64, (from, to): (f64, f64)) -> Self {
        let most = if most > 0.0 { most * factor } else { 1.0 };
        Self {
            axis: Axis::exactly(0.0, most, from, to, 5),
            factor,
        }
    }

    fn place(&self, value: f64) -> f64 {
        self.axis.place(value * self.factor)
    }
}
