//! How dirty: grams of CO2-equivalent per kWh for a place and a time.

#[cfg(feature = "live")]
pub mod background;
#[cfg(feature = "live")]
pub mod cache;
#[cfg(feature = "live")]
pub mod fetch;
pub mod fuel;
pub mod ladder;
#[cfg(feature = "live")]
pub mod live;
pub mod provider;
pub mod series;

pub use ladder::Ladder;
pub use provider::{Declined, IntensityProvider, Nonsense};
pub use series::{Basis, Period, Point, Series};
