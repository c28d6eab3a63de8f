use std::collections::{BTreeMap, BTreeSet};

use super::{begin, kind, text};
use crate::ledger::attribute::Attribution;
use crate::ledger::attribute::profile::Name;
use crate::text::number::percent;
use crate::text::quantity::joules;
use crate::text::svg::{Attributes, Svg, shortened};
use crate::units::Energy;

const BOX: (f64, f64) = (204.0, 44.0);
const GAP: (f64, f64) = (18.0, 56.0);
const MARGIN: f64 = 12.0;
const TOP: f64 = 64.0;
/// So many names stand beside each other.
const COLUMNS: usize = 4;
/// The names with most energy that are drawn.
const MOST_NAMES: usize = 28;
/// Calls with less of the energy are not drawn.
const LEAST_SHARE: f64 = 0.002;
const LONGEST_NAME: usize = 24;
const WIDEST_EDGE: f64 = 9.0;

/// The names with most energy and the calls between them.
struct Graph {
    names: Vec<Named>,
    /// Caller, called, and the energy of the calls.
    calls: Vec<(usize, usize, Energy)>,
}

struct Named {
    name: Name,
    own: Energy,
    energy: Energy,
    row: usize,
    column: usize,
}

/// A call graph of the names with most energy, callers above what they call.
#[must_use]
pub fn graph(attribution: &Attribution) -> String {
    let mut graph = Graph::of(attribution);
    graph.arrange();
    let rows = graph
        .names
        .iter()
        .map(|named| named.row + 1)
        .max()
        .unwrap_or(0);
    let columns = graph
        .names
        .iter()
        .map(|named| named.column + 1)
        .max()
        .unwrap_or(1);
    let width = (2.0 * MARGIN + columns as f64 * (BOX.0 + GAP.0) - GAP.0).max(366.0);
    let height = TOP + rows as f64 * (BOX.1 + GAP.1);
    let run = attribution.run.as_deref().unwrap_or("run");
    let title = format!("Call graph of {run}, by energy");
    let view = format!("0 0 {width} {height}");
    let size: Attributes = &[
        ("width", &width),
        ("height", &height),
        ("viewBox", &view),
        ("role", &"img"),
    ];
    let mut svg = begin(size, &title, "");
    text(
        &mut svg,
        "heading",
        (MARGIN, 26.0),
        "start",
        &shortened(&title, 38),
    );
    let about = "With calls, and itself; width of a line: energy of the calls";
    text(&mut svg, "soft", (MARGIN, 46.0), "start", &about);
    let total = attribution.total();
    for (caller, called, energy) in &graph.calls {
        let ends = (&graph.names[*caller], &graph.names[*called]);
        draw_call(&mut svg, attribution, ends, *energy, total);
    }
    for named in &graph.names {
        draw_name(&mut svg, attribution, named, total);
    }
    svg.close("svg");
    svg.line_break();
    svg.finish()
}

impl Named {
    fn corner(&self) -> (f64, f64) {
        let (column, row) = (self.column as f64, self.row as f64);
        (
            MARGIN + column * (BOX.0 + GAP.0),
            TOP + row * (BOX.1 + GAP.1),
        )
    }
}

impl Graph {
    fn of(attribution: &Attribution) -> Self {
        let mut of_names: BTreeMap<Name, (Energy, Energy)> = BTreeMap::new();
        for row in &attribution.rows {
            let sum = of_names.entry(row.name).or_default();
            sum.0 += row.own;
            sum.1 += row.energy;
        }
        let least = attribution.total().kwh() * LEAST_SHARE;
        let least = Energy::from_kwh(least).unwrap_or(Energy::ZERO);
        let mut most: Vec<(Name, (Energy, Energy))> = of_names
            .into_iter()
            .filter(|(_, (_, energy))| *energy > Energy::ZERO && *energy >= least)
            .collect();
        most.sort_by_key(|(name, (own, energy))| (std::cmp::Reverse((*energy, *own)), *name));
        most.truncate(MOST_NAMES);
        let places: BTreeMap<Name, usize> = most
            .iter()
            .enumerate()
            .map(|(place, (name, _))| (*name, place))
            .collect();
        let mut calls: BTreeMap<(usize, usize), Energy> = BTreeMap::new();
        for (caller, called, energy) in attribution.calls() {
            if let (Some(caller), Some(called)) = (places.get(&caller), places.get(&called))
                && caller != called
            {
                *calls.entry((*caller, *called)).or_default() += energy;
            }
        }
        Self {
            names: most
                .into_iter()
                .map(|(name, (own, energy))| Named {
                    name,
                    own,
                    energy,
                    row: 0,
                    column: 0,
                })
                .collect(),
            calls: calls
                .into_iter()
                .map(|((caller, called), energy)| (caller, called, energy))
                .filter(|(.., energy)| *energy >= least)
                .collect(),
        }
    }

    /// Puts each name a level below the first that calls it, and at most some of a level into a row.
    fn arrange(&mut self) {
        let mut levels = vec![None; self.names.len()];
        let called: BTreeSet<usize> = self.calls.iter().map(|(_, called, _)| *called).collect();
        let mut next: Vec<usize> = (0..self.names.len())
            .filter(|place| !called.contains(place))
            .collect();
        for level in 0.. {
            if next.is_empty() {
                // The one with most energy of those that only call each other.
                let Some(place) = levels.iter().position(Option::is_none) else {
                    break;
                };
                next.push(place);
            }
            for place in &next {
                levels[*place] = Some(level);
            }
            let calls = self
                .calls
                .iter()
                .filter(|(caller, ..)| next.contains(caller));
            let below: BTreeSet<usize> = calls
                .map(|(_, called, _)| *called)
                .filter(|called| levels[*called].is_none())
                .collect();
            next = below.into_iter().collect();
        }
        let mut row = 0;
        let deepest = levels.iter().flatten().max().copied().unwrap_or(0);
        for level in 0..=deepest {
            let of_level = (0..levels.len()).filter(|place| levels[*place] == Some(level));
            let mut count = 0;
            for place in of_level {
                self.names[place].row = row + count / COLUMNS;
                self.names[place].column = count % COLUMNS;
                count += 1;
            }
            row += count.div_ceil(COLUMNS);
        }
    }
}

/// The beginning and the end of a name: many names of one library begin in the same way.
fn fitting(name: &str) -> String {
    const BEGIN: usize = 9;
    let length = name.chars().count();
    if length <= LONGEST_NAME {
        return name.to_owned();
    }
    let end = LONGEST_NAME - BEGIN - 1;
    let begin = name.chars().take(BEGIN);
    begin
        .chain(['…'])
        .chain(name.chars().skip(length - end))
        .collect()
}

fn draw_name(svg: &mut Svg, attribution: &Attribution, named: &Named, total: Energy) {
    let (x, y) = named.corner();
    let name = attribution.names.text(named.name);
    let share = percent(named.energy.kwh() / total.kwh());
    let class = format!("box kind-{}", kind(name));
    let rect: Attributes = &[
        ("class", &class),
        ("x", &x),
        ("y", &y),
        ("width", &BOX.0),
        ("height", &BOX.1),
        ("rx", &5),
    ];
    let about = format!(
        "{name}: {} with calls, {share}; itself {}",
        joules(named.energy),
        joules(named.own)
    );
    svg.titled("rect", rect, &shortened(&about, 300));
    text(svg, "name", (x + 8.0, y + 18.0), "start", &fitting(name));
    let figures = format!("{} · {share} · {}", joules(named.energy), joules(named.own));
    text(svg, "soft", (x + 8.0, y + 36.0), "start", &figures);
}

fn draw_call(
    svg: &mut Svg,
    attribution: &Attribution,
    (from, to): (&Named, &Named),
    energy: Energy,
    total: Energy,
) {
    let ((x1, y1), (x2, y2)) = (from.corner(), to.corner());
    let (x1, y1, x2) = (x1 + BOX.0 / 2.0, y1 + BOX.1, x2 + BOX.0 / 2.0);
    let bend = GAP.1 * 0.7;
    let path = format!("M{x1} {y1}C{x1} {} {x2} {} {x2} {y2}", y1 + bend, y2 - bend);
    let share = energy.kwh() / total.kwh();
    let width = format!("{:.1}", 1.0 + WIDEST_EDGE * share.min(1.0));
    let name = |named: &Named| shortened(attribution.names.text(named.name), 100);
    let about = format!(
        "{} calls {}: {}, {}",
        name(from),
        name(to),
        joules(energy),
        percent(share)
    );
    let attributes: Attributes = &[("class", &"edge"), ("d", &path), ("stroke-width", &width)];
    svg.titled("path", attributes, &about);
    svg.line_break();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_keeps_its_beginning_and_its_end() {
        assert_eq!(fitting("aten::conv2d"), "aten::conv2d");
        let name = "autograd::engine::evaluate_function: ConvolutionBackward0";
        assert_eq!(fitting(name), "autograd:…utionBackward0");
        assert_eq!(fitting(name).chars().count(), LONGEST_NAME);
    }
}
