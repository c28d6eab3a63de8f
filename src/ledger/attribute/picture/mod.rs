//! Pictures of where the energy went, each a file that needs nothing but itself.

mod bands;
mod flame;
mod graph;

use std::fmt::Display;

use crate::text::svg::{Attributes, Svg};

pub use bands::bands;
pub use flame::flame;
pub use graph::graph;

const COLOURS: &str = include_str!("../../../../site/colours.css");
const STYLE: &str = include_str!("../../../../site/picture.css");

/// How many colours there are for names.
const KINDS: usize = 8;

/// Begins a file: its title, its style and its paper.
fn begin(size: Attributes, title: &str, more_style: &str) -> Svg {
    let mut svg = Svg::default();
    let namespace: Attributes = &[
        ("xmlns", &"http://www.w3.org/2000/svg"),
        ("xml:lang", &"en"),
    ];
    svg.open("svg", &[namespace, size].concat());
    svg.line_break();
    svg.text("title", &[], &title);
    svg.line_break();
    svg.text("style", &[], &format_args!("{COLOURS}{STYLE}{more_style}"));
    svg.line_break();
    let paper: Attributes = &[("class", &"paper"), ("width", &"100%"), ("height", &"100%")];
    svg.empty("rect", paper);
    svg.line_break();
    svg
}

fn text(svg: &mut Svg, class: &str, (x, y): (f64, f64), anchor: &str, text: &dyn Display) {
    let attributes: Attributes = &[
        ("class", &class),
        ("x", &Tenths(x)),
        ("y", &Tenths(y)),
        ("text-anchor", &anchor),
    ];
    svg.text("text", attributes, text);
    svg.line_break();
}

/// The number of the colour of a name: the same name has the same in every picture.
fn kind(name: &str) -> usize {
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash % KINDS as u64) as usize
}

/// A coordinate to a tenth.
struct Tenths(f64);

impl Display for Tenths {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", (self.0 * 10.0).round() / 10.0)
    }
}
