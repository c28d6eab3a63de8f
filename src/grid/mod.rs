//! The electricity grid: zones, places, cloud regions, carbon intensity and the social cost of carbon.

pub mod cleaner_regions;
pub mod data;
pub mod intensity;
pub mod place_resolver;
mod resolved_place;
pub mod social_cost;
mod user_file;
pub mod zone;

pub use place_resolver::{PlaceQuery, PlaceResolver, ResolveError, UserDataError};
pub use resolved_place::{How, ResolvedPlace};
pub use user_file::UnreadableFile;
