//! Places: zones of the electricity map, countries, cities and cloud regions.

pub(crate) mod country;
mod area;
mod edges;
mod fold;
mod point;
pub mod register;
mod located;
mod index_limit;
mod indexed_polygon;
mod cell_index;
pub mod map;
pub mod geojson;
mod admin1;
mod namesake;
pub mod place;
pub mod cloud;
pub mod detect;
pub mod time_zone;

pub use area::AreaId;
pub use country::Iso3;
pub use index_limit::TooFine;
pub use located::{Found, Located, NEAR, NoZoneNear};
pub use map::Map;
pub use point::{NotOnEarth, Point};
pub use register::{NoSuchZone, Zone, named};

pub use crate::model::{NotAZone, ZoneId};
