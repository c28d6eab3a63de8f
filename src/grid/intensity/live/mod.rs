//! Services that know a grid's intensity as it was and as it is, one small file each.
//!
//! To add one: write a file with a `connect` like its neighbours', and name it in the list below.

#[cfg(any(test, fuzzing))]
pub mod any_body;
mod electricity_maps_zone;
mod service_client;
mod eic;
mod geolocate;
mod instant;
mod number_or_text;

use std::sync::Arc;

use super::{IntensityProvider, ProviderChain, YearlyProvider};

pub use geolocate::{Place, geolocate};
pub use service_client::ServiceClient;

macro_rules! services {
    ($($service:ident),+ $(,)?) => {
        $(mod $service;)+

        /// Every service, in the order they are asked.
        #[must_use]
        pub fn all(client: &Arc<ServiceClient>) -> Vec<Box<dyn IntensityProvider>> {
            vec![$($service::connect(client)),+]
        }
    };
}

services! {
    electricity_maps,
    uk,
    denmark,
    caiso,
    entsoe,
    eia,
    watttime,
}

/// The services whose values are averages of the grid, in the order they are asked.
#[must_use]
pub fn auto(client: &Arc<ServiceClient>) -> ProviderChain {
    ProviderChain::new(
        all(client)
            .into_iter()
            .filter(|service| !service.basis().is_marginal())
            .collect(),
    )
}

/// The one service with this name.
#[must_use]
pub fn named(client: &Arc<ServiceClient>, name: &str) -> Option<ProviderChain> {
    all(client)
        .into_iter()
        .find(|service| service.name() == name)
        .map(|service| ProviderChain::new(vec![service]))
}

/// What users choose by one word: `auto` for each service in turn and then the yearly averages,
/// `table` for those alone, or one service by its name.
#[must_use]
pub fn chosen(client: &Arc<ServiceClient>, word: &str) -> Option<ProviderChain> {
    match word {
        "auto" => Some(auto(client).then(Box::new(YearlyProvider))),
        "table" => Some(ProviderChain::new(vec![Box::new(YearlyProvider)])),
        name => named(client, name),
    }
}
