//! How dirty: grams of CO2-equivalent per kWh for a place and a time.
//!
//! A figure always travels with its source, and says so when it stands in for another.

mod basis;
mod dataset;
mod figure;
pub mod given;
pub mod picture;
mod projection;
mod table;
mod yearly;

pub use basis::Basis;
pub use dataset::{Dataset, NoSuchDataset};
pub use figure::{Fallback, Intensity, Shares, Source};
pub use yearly::{for_area, for_zone};
