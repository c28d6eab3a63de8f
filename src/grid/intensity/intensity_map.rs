//! Maps of the zones coloured by intensity, as SVG for screens, screen readers and paper.

use std::fmt::Write as _;

use geo::{BoundingRect, LineString};

use super::projection::Projection;
use crate::grid::zone::map::MapArea;
use crate::grid::zone::{AreaId, Map, Point};
use crate::text::svg::Svg;
use crate::units::GramsPerKwh;

/// What a map shows.
#[derive(Debug, Clone)]
pub struct IntensityMap<'a> {
    pub map: &'a Map,
    pub title: String,
    /// The sources of the intensities; printed under the map, as the licences ask.
    pub sources: Vec<String>,
    /// A place to mark, and what to call it.
    pub mark: Option<(Point, String)>,
}

/// An area with what is known of it.
#[derive(Debug, Clone)]
pub struct Coloured {
    pub area: AreaId,
    pub name: String,
    pub value: Option<GramsPerKwh>,
}

const WORLD_WIDTH: f64 = 1200.0;
const WORLD_HEIGHT: f64 = 520.0;
const DETAIL_SIZE: f64 = 480.0;
const HEADING: f64 = 48.0;
/// Height of the scale; the sources come below it.
const SCALE: f64 = 46.0;
const LINE: f64 = 15.0;
const MARGIN: f64 = 16.0;
/// Corners closer than this, in pixels, look the same.
const STEP: f64 = 0.7;
const DIRTIEST: f64 = 900.0;

const STYLE: &str = ".z{stroke:#fff;stroke-width:.4;stroke-linejoin:round}.z:hover{stroke:#111;stroke-width:1}text{fill:#1f2933}.s{fill:#52606d;font-size:11px}";

/// From clean to dirty; each darker than the one before, so that it works in grey and for colour-blind readers.
const STOPS: [(f64, [f64; 3]); 6] = [
    (0.0, [197.0, 236.0, 211.0]),
    (150.0, [216.0, 216.0, 122.0]),
    (300.0, [235.0, 182.0, 74.0]),
    (500.0, [205.0, 118.0, 46.0]),
    (700.0, [147.0, 68.0, 40.0]),
    (900.0, [79.0, 32.0, 24.0]),
];

/// The colour of an intensity.
#[must_use]
pub fn colour(value: GramsPerKwh) -> String {
    let value = value.get().min(DIRTIEST);
    let upper = STOPS
        .iter()
        .position(|(at, _)| *at >= value)
        .unwrap_or(STOPS.len() - 1)
        .max(1);
    let ((from, low), (to, high)) = (STOPS[upper - 1], STOPS[upper]);
    let share = (value - from) / (to - from);
    let mix = |n: usize| (low[n] + share * (high[n] - low[n])).round() as u8;
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

impl IntensityMap<'_> {
    /// The whole world.
    #[must_use]
    pub fn world(&self, colours: &[Coloured]) -> String {
        let projection = Projection::world(WORLD_WIDTH - 2.0 * MARGIN, WORLD_HEIGHT);
        self.draw(&projection, colours, WORLD_WIDTH, WORLD_HEIGHT)
    }

    /// One zone and what is around it, for a page or an appendix; none if the zone is not on the map.
    #[must_use]
    pub fn detail(&self, of: &AreaId, colours: &[Coloured]) -> Option<String> {
        let wanted = self
            .map
            .areas()
            .iter()
            .filter(|area| area.id == *of || (of.state.is_none() && area.id.zone == of.zone));
        let boxes = wanted.filter_map(|area| area.shape().bounding_rect());
        let bounds = boxes.reduce(|a, b| {
            geo::Rect::new(
                (a.min().x.min(b.min().x), a.min().y.min(b.min().y)),
                (a.max().x.max(b.max().x), a.max().y.max(b.max().y)),
            )
        })?;
        let projection = Projection::around(bounds, DETAIL_SIZE - 2.0 * MARGIN);
        Some(self.draw(
            &projection,
            colours,
            DETAIL_SIZE,
            DETAIL_SIZE - 2.0 * MARGIN,
        ))
    }

    fn draw(
        &self,
        projection: &Projection,
        colours: &[Coloured],
        width: f64,
        height: f64,
    ) -> String {
        let sources = if width < WORLD_WIDTH {
            self.sources.clone()
        } else {
            vec![self.sources.join("; ")]
        };
        let below = HEADING + height + SCALE;
        let full = below + LINE * sources.len() as f64 + 4.0;
        let inner = width - 2.0 * MARGIN;
        let mut svg = Svg::default();
        svg.open(
            "svg",
            &[
                ("xmlns", &"http://www.w3.org/2000/svg"),
                ("viewBox", &format_args!("0 0 {width} {full}")),
                ("role", &"img"),
                ("aria-labelledby", &"map-title map-desc"),
                ("font-family", &"system-ui, sans-serif"),
            ],
        );
        svg.line_break();
        svg.text("title", &[("id", &"map-title")], &self.title);
        svg.line_break();
        svg.text("desc", &[("id", &"map-desc")], &self.description(colours));
        svg.line_break();
        svg.text("style", &[], &STYLE);
        svg.line_break();
        svg.empty(
            "rect",
            &[("width", &width), ("height", &full), ("fill", &"#fff")],
        );
        svg.line_break();
        let size = if width < WORLD_WIDTH { 14 } else { 18 };
        svg.text(
            "text",
            &[
                ("x", &MARGIN),
                ("y", &30),
                ("font-size", &size),
                ("font-weight", &600),
            ],
            &self.title,
        );
        svg.line_break();
        svg.open(
            "svg",
            &[
                ("x", &MARGIN),
                ("y", &HEADING),
                ("width", &inner),
                ("height", &height),
            ],
        );
        svg.empty(
            "rect",
            &[
                ("width", &inner),
                ("height", &height),
                ("fill", &"#eaf1f6"),
                ("rx", &6),
            ],
        );
        svg.line_break();
        for area in self.map.areas() {
            let known = colours.iter().find(|zone| zone.area == area.id);
            draw_area(&mut svg, area, known, projection);
        }
        if let Some((point, name)) = &self.mark {
            let place = projection.place(point.lon(), point.lat());
            draw_pin(&mut svg, place, name, inner);
        }
        svg.close("svg");
        svg.line_break();
        draw_scale(&mut svg, width, HEADING + height);
        for (n, source) in sources.iter().enumerate() {
            let y = below + LINE * n as f64 + 8.0;
            let label = if n == 0 { "Data: " } else { "" };
            svg.text(
                "text",
                &[("class", &"s"), ("x", &MARGIN), ("y", &y)],
                &format_args!("{label}{source}"),
            );
            svg.line_break();
        }
        svg.close("svg");
        svg.line_break();
        svg.finish()
    }

    fn description(&self, colours: &[Coloured]) -> String {
        let known = colours.iter().filter(|zone| zone.value.is_some()).count();
        let mark = match &self.mark {
            Some((_, name)) => format!(" Marked: {name}."),
            None => String::new(),
        };
        format!(
            "Carbon intensity of electricity in {known} areas, from pale green (clean) to dark brown (dirty); \
             grey where nothing is known.{mark}"
        )
    }
}

fn draw_area(svg: &mut Svg, area: &MapArea, known: Option<&Coloured>, projection: &Projection) {
    let mut d = String::new();
    for part in area.shape() {
        outline(&mut d, part.exterior(), projection);
        for hole in part.interiors() {
            outline(&mut d, hole, projection);
        }
    }
    if d.is_empty() {
        return;
    }
    let value = known.and_then(|zone| zone.value);
    let fill = value.map_or_else(|| "#cfd6dc".to_owned(), colour);
    let name = known.map_or_else(
        || area.id.label(),
        |zone| format!("{} {}", area.id.label(), zone.name),
    );
    let intensity = value.map_or_else(
        || "no figure".to_owned(),
        |value| format!("{:.0} g CO2eq/kWh", value.get()),
    );
    svg.titled(
        "path",
        &[
            ("class", &"z"),
            ("fill", &fill),
            ("fill-rule", &"evenodd"),
            ("d", &d),
        ],
        &format!("{name}: {intensity}"),
    );
    svg.line_break();
}

/// A ring as a path, in tenths of a pixel, without corners too close together to see.
fn outline(d: &mut String, ring: &LineString<f64>, projection: &Projection) {
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for corner in ring.coords() {
        let (x, y) = projection.place(corner.x, corner.y);
        let seen = kept
            .last()
            .is_some_and(|(px, py)| (x - px).abs() < STEP && (y - py).abs() < STEP);
        if !seen {
            kept.push((x, y));
        }
    }
    let visible = kept.iter().any(|(x, y)| projection.shows(*x, *y));
    if kept.len() < 3 || !visible {
        return;
    }
    let tenths = |v: f64| (v * 10.0).round() as i64;
    let (mut x, mut y) = (tenths(kept[0].0), tenths(kept[0].1));
    let _ = write!(d, "M{} {}l", decimal(x), decimal(y));
    for (n, (px, py)) in kept[1..].iter().enumerate() {
        let (nx, ny) = (tenths(*px), tenths(*py));
        let gap = if n > 0 { " " } else { "" };
        let _ = write!(d, "{gap}{} {}", decimal(nx - x), decimal(ny - y));
        (x, y) = (nx, ny);
    }
    d.push('z');
}

/// A number of tenths, as short as it can be written.
fn decimal(tenths: i64) -> String {
    let sign = if tenths < 0 { "-" } else { "" };
    match (tenths.unsigned_abs() / 10, tenths.unsigned_abs() % 10) {
        (whole, 0) => format!("{sign}{whole}"),
        (0, part) => format!("{sign}.{part}"),
        (whole, part) => format!("{sign}{whole}.{part}"),
    }
}

fn draw_pin(svg: &mut Svg, (x, y): (f64, f64), name: &str, width: f64) {
    const CHARACTER: f64 = 8.0;
    let fits = x + 10.0 + CHARACTER * name.chars().count() as f64 <= width;
    let (anchor, dx) = if fits {
        ("start", 10.0)
    } else {
        ("end", -10.0)
    };
    svg.empty(
        "circle",
        &[
            ("cx", &format_args!("{x:.1}")),
            ("cy", &format_args!("{y:.1}")),
            ("r", &5.5),
            ("fill", &"#0b57d0"),
            ("stroke", &"#fff"),
            ("stroke-width", &2),
        ],
    );
    svg.text(
        "text",
        &[
            ("x", &format_args!("{:.1}", x + dx)),
            ("y", &format_args!("{:.1}", y + 4.5)),
            ("font-size", &13),
            ("font-weight", &600),
            ("text-anchor", &anchor),
            ("stroke", &"#fff"),
            ("stroke-width", &3),
            ("paint-order", &"stroke"),
        ],
        &name,
    );
    svg.line_break();
}

fn draw_scale(svg: &mut Svg, width: f64, top: f64) {
    let length = (width - 2.0 * MARGIN).min(420.0);
    svg.open("defs", &[]);
    svg.open("linearGradient", &[("id", &"map-scale")]);
    for (at, _) in STOPS {
        let value = GramsPerKwh::new(at).expect("the scale lies within the unit");
        svg.empty(
            "stop",
            &[
                ("offset", &format_args!("{:.4}", at / DIRTIEST)),
                ("stop-color", &colour(value)),
            ],
        );
    }
    svg.close("linearGradient");
    svg.close("defs");
    svg.empty(
        "rect",
        &[
            ("x", &MARGIN),
            ("y", &format_args!("{:.1}", top + 10.0)),
            ("width", &length),
            ("height", &9),
            ("rx", &2),
            ("fill", &"url(#map-scale)"),
        ],
    );
    for tick in (0..=9).step_by(3) {
        let grams = f64::from(tick) * 100.0;
        let (anchor, unit) = match tick {
            0 => ("start", ""),
            9 => ("end", "+ g CO2eq/kWh"),
            _ => ("middle", ""),
        };
        let x = MARGIN + length * grams / DIRTIEST;
        svg.text(
            "text",
            &[
                ("class", &"s"),
                ("x", &format_args!("{x:.1}")),
                ("y", &format_args!("{:.1}", top + 32.0)),
                ("text-anchor", &anchor),
            ],
            &format_args!("{grams}{unit}"),
        );
    }
    svg.line_break();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brightness(value: f64) -> f64 {
        let colour = colour(GramsPerKwh::new(value).unwrap());
        let part = |at: usize| f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap());
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    }

    #[test]
    fn dirtier_is_darker() {
        for grams in 0..90 {
            let (clean, dirty) = (f64::from(grams) * 10.0, f64::from(grams + 1) * 10.0);
            assert!(brightness(dirty) < brightness(clean), "{dirty}");
        }
    }

    #[test]
    fn text_from_outside_stays_text() {
        let map = IntensityMap {
            map: Map::embedded(),
            title: "<script>alert(1)</script>".into(),
            sources: vec!["a & b".into()],
            mark: Some((Point::new(0.0, 0.0).unwrap(), "\"><x".into())),
        };
        let svg = map.world(&[]);
        assert!(!svg.contains("<script>") && !svg.contains("\"><x") && svg.contains("a &amp; b"));
    }

    #[test]
    fn a_zone_on_the_map_has_a_detail_and_another_has_none() {
        let map = IntensityMap {
            map: Map::embedded(),
            title: "t".into(),
            sources: vec![],
            mark: None,
        };
        assert!(map.detail(&"CH".parse().unwrap(), &[]).is_some());
        assert!(map.detail(&"ZZ".parse().unwrap(), &[]).is_none());
    }
}
