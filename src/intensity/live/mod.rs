//! Services that know a grid's intensity as it was and as it is, one small file each.
//!
//! To add one: write a file with a `connect` like its neighbours', and name it in the list below.

#[cfg(test)]
mod bodies;
mod counterpart;
mod desk;
mod eic;
mod geolocate;
mod instant;
mod numeral;
mod pacific;

use std::sync::Arc;

use super::{Averages, Basis, IntensityProvider, Ladder};

pub use desk::{Desk, Settings};
pub use geolocate::{Place, geolocate};

macro_rules! services {
    ($($service:ident),+ $(,)?) => {
        $(mod $service;)+

        /// Every service, in the order they are asked.
        #[must_use]
        pub fn all(desk: &Arc<Desk>) -> Vec<Box<dyn IntensityProvider>> {
            vec![$($service::connect(desk)),+]
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
pub fn auto(desk: &Arc<Desk>) -> Ladder {
    Ladder::new(
        all(desk)
            .into_iter()
            .filter(|service| service.basis() != Basis::Marginal)
            .collect(),
    )
}

/// The one service with this name.
#[must_use]
pub fn named(desk: &Arc<Desk>, name: &str) -> Option<Ladder> {
    all(desk)
        .into_iter()
        .find(|service| service.name() == name)
        .map(|service| Ladder::new(vec![service]))
}

/// What users choose by one word: `auto` for each service in turn and then the yearly averages,
/// `table` for those alone, or one service by its name.
#[must_use]
pub fn chosen(desk: &Arc<Desk>, word: &str) -> Option<Ladder> {
    match word {
        "auto" => Some(auto(desk).then(Box::new(Averages))),
        "table" => Some(Ladder::new(vec![Box::new(Averages)])),
        name => named(desk, name),
    }
}
