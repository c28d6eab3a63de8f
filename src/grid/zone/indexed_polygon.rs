use geo::{Coord, Polygon};

use super::edges;
use super::edges::Edge;
use super::index_limit::{IndexLimit, TooFine};
use super::located::NEAR;
use crate::grid::data::shapes::Bounds;

/// A polygon with its edges sorted into bands of latitude, so that a point is compared only with the edges of its band.
#[derive(Debug, Clone)]
pub(super) struct IndexedPolygon {
    pub bounds: Bounds,
    starts: Vec<u32>,
    edges: Vec<Edge>,
}

/// The height of a band is the largest distance of the nearest-zone rule, so three bands contain every edge within it.
const HEIGHT: f64 = NEAR;

impl IndexedPolygon {
    /// None for a polygon without an outline.
    pub(super) fn new(
        polygon: &Polygon<f64>,
        limit: &mut IndexLimit,
    ) -> Result<Option<Self>, TooFine> {
        let all: Vec<Edge> = Edge::of(polygon).collect();
        let Some(corner) = all.first().map(|edge| edge.from) else {
            return Ok(None);
        };
        let mut bounds = Bounds {
            west: corner.x,
            south: corner.y,
            east: corner.x,
            north: corner.y,
        };
        for Edge { from, to } in &all {
            bounds.west = bounds.west.min(from.x).min(to.x);
            bounds.east = bounds.east.max(from.x).max(to.x);
            bounds.south = bounds.south.min(from.y).min(to.y);
            bounds.north = bounds.north.max(from.y).max(to.y);
        }
        let band = |y: f64| ((y - bounds.south) / HEIGHT) as usize;
        let span =
            |edge: &Edge| band(edge.from.y.min(edge.to.y))..=band(edge.from.y.max(edge.to.y));
        let mut counts = vec![0_u32; band(bounds.north) + 2];
        for edge in &all {
            limit.reserve(span(edge).count())?;
            for band in span(edge) {
                counts[band + 1] += 1;
            }
        }
        for n in 1..counts.len() {
            counts[n] += counts[n - 1];
        }
        let starts = counts.clone();
        let mut next = counts;
        let mut edges = vec![all[0]; *starts.last().expect("there is at least one band") as usize];
        for edge in &all {
            for band in span(edge) {
                edges[next[band] as usize] = *edge;
                next[band] += 1;
            }
        }
        Ok(Some(Self {
            bounds,
            starts,
            edges,
        }))
    }

    fn band(&self, y: f64) -> &[Edge] {
        let band = ((y - self.bounds.south) / HEIGHT).floor();
        if band < 0.0 || band as usize + 1 >= self.starts.len() {
            return &[];
        }
        let band = band as usize;
        &self.edges[self.starts[band] as usize..self.starts[band + 1] as usize]
    }

    pub(super) fn contains(&self, at: Coord<f64>) -> bool {
        self.bounds.contain(at.x, at.y, 0.0) && edges::contain(self.band(at.y).iter().copied(), at)
    }

    /// The distance in degrees, if it is at most [`NEAR`].
    pub(super) fn distance(&self, at: Coord<f64>) -> Option<f64> {
        if !self.bounds.contain(at.x, at.y, NEAR) {
            return None;
        }
        let reach = [at.y - HEIGHT, at.y, at.y + HEIGHT];
        let edges = reach.iter().flat_map(|y| self.band(*y)).copied();
        let beside = |edge: &Edge| {
            edge.from.x.min(edge.to.x) - NEAR <= at.x && at.x <= edge.from.x.max(edge.to.x) + NEAR
        };
        let degrees = edges::distance(edges.filter(beside), at);
        (degrees <= NEAR).then_some(degrees)
    }
}
