//! Carbon intensity: grams of CO2-equivalent per kWh for a place and a time.
//!
//! Every intensity carries its source and the fallbacks that were used.

mod yearly_provider;
mod poller;
#[cfg(feature = "live")]
pub mod cache;
#[cfg(feature = "live")]
pub(crate) mod fetch;
pub(crate) mod fuel;
pub mod user_table;
pub mod provider_chain;
#[cfg(feature = "live")]
pub mod live;
mod provider;
mod series;
pub(crate) mod intensity_map;
mod projection;
mod table;
mod yearly;

pub use crate::model::{
    Basis, Dataset, Emissions, Fallback, Intensity, Mix, NoSuchDataset, NoSuchEmissions,
    OtherEmissions, Provenance, Shares, Source,
};
pub use poller::{IntensityPoller, Latest};
pub use provider::{Declined, IntensityProvider, InvalidAnswer};
pub use provider_chain::ProviderChain;
pub use series::{NotAPeriod, Period, Point, Series};
pub(in crate::grid) use yearly::for_area_in;
pub use yearly::{NoFigure, NoIntensity, for_area, for_zone};
pub use yearly_provider::YearlyProvider;
