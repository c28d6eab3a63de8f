use super::{AreaId, Point};
use crate::grid::zone::Zone;

/// How far beside a zone, in degrees, a point may lie and still be taken to be in it: coasts and rivers are drawn roughly.
pub const NEAR: f64 = 0.25;

/// An area, and how it was found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Located {
    /// The area the point is taken to be in.
    pub area: AreaId,
    /// The zone of the area; none if only a map of the user's own has it.
    pub zone: Option<&'static Zone>,
    /// What links the point to the area.
    pub found: Found,
}

/// What links a point to an area.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Found {
    /// The point lies in the area's polygon.
    Inside,
    /// The point lies in no polygon; this is the nearest.
    Nearest {
        /// The distance to the polygon.
        degrees: f64,
    },
    /// The map puts the point across a border; this is the nearest zone of its own country.
    Border {
        /// The distance to the polygon.
        degrees: f64,
    },
    /// The place's country has no polygon there; the area is the whole country.
    Country,
}

/// A point far from any zone.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("there is no electricity zone within {NEAR} degrees of {0}")]
pub struct NoZoneNear(pub Point);
