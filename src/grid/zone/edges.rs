//! Whether a polygon contains a point, and how far it is from the point.
//!
//! Both work on any selection of edges that includes those at the point's latitude, so an index may leave out the others.

use geo::{Coord, LinesIter, Polygon};

use super::Point;

/// A side of a polygon.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Edge {
    pub from: Coord<f64>,
    pub to: Coord<f64>,
}

impl Edge {
    pub(crate) fn of(polygon: &Polygon<f64>) -> impl Iterator<Item = Self> + '_ {
        polygon.lines_iter().map(|line| Self {
            from: line.start,
            to: line.end,
        })
    }

    /// The point's distance from the edge, squared.
    fn distance_squared(&self, at: Coord<f64>) -> f64 {
        let along = self.to - self.from;
        let off = at - self.from;
        let length = along.x * along.x + along.y * along.y;
        let share = if length > 0.0 {
            ((off.x * along.x + off.y * along.y) / length).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let (dx, dy) = (off.x - share * along.x, off.y - share * along.y);
        dx * dx + dy * dy
    }
}

pub(crate) fn coord(point: Point) -> Coord<f64> {
    Coord {
        x: point.lon(),
        y: point.lat(),
    }
}

/// Whether the edges enclose the point: a ray to the east crosses an odd number of them. A point on an edge is inside.
pub(crate) fn contain(edges: impl Iterator<Item = Edge>, at: Coord<f64>) -> bool {
    let mut inside = false;
    for Edge { from, to } in edges {
        let level = (from.y <= at.y) != (to.y <= at.y);
        let touches = at.y == from.y || at.y == to.y;
        if !level && !touches {
            continue;
        }
        let side = (to.x - from.x) * (at.y - from.y) - (to.y - from.y) * (at.x - from.x);
        if side == 0.0
            && (from.x.min(to.x)..=from.x.max(to.x)).contains(&at.x)
            && (from.y.min(to.y)..=from.y.max(to.y)).contains(&at.y)
        {
            return true;
        }
        if level && (side > 0.0) == (to.y > from.y) {
            inside = !inside;
        }
    }
    inside
}

/// The distance to the nearest of the edges in degrees, infinite if there are none.
pub(crate) fn distance(edges: impl Iterator<Item = Edge>, at: Coord<f64>) -> f64 {
    edges
        .map(|edge| edge.distance_squared(at))
        .fold(f64::INFINITY, f64::min)
        .sqrt()
}

#[cfg(test)]
mod tests {
    use geo::{Contains, polygon};
    use proptest::prelude::*;

    use super::*;

    fn crown() -> Polygon<f64> {
        polygon!(
            exterior: [(x: 0.0, y: 0.0), (x: 4.0, y: 0.0), (x: 4.0, y: 3.0), (x: 2.0, y: 1.0), (x: 0.0, y: 3.0)],
            interiors: [[(x: 0.5, y: 0.5), (x: 1.0, y: 0.5), (x: 1.0, y: 1.0)]],
        )
    }

    proptest! {
        #[test]
        fn inside_is_what_geo_says(x in -1.0..5.0, y in -1.0..4.0) {
            let at = Coord { x, y };
            prop_assert_eq!(contain(Edge::of(&crown()), at), crown().contains(&at));
        }
    }

    #[test]
    fn a_point_on_an_edge_is_inside() {
        for (x, y) in [(0.0, 0.0), (2.0, 0.0), (4.0, 1.5), (2.0, 1.0), (1.0, 2.0)] {
            assert!(contain(Edge::of(&crown()), Coord { x, y }), "{x} {y}");
        }
    }

    #[test]
    fn the_distance_is_to_the_nearest_side() {
        assert_eq!(distance(Edge::of(&crown()), Coord { x: 5.0, y: 2.0 }), 1.0);
        assert_eq!(
            distance(std::iter::empty(), Coord { x: 0.0, y: 0.0 }),
            f64::INFINITY
        );
    }
}
