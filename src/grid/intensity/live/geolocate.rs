//! Where this machine's address is, asked only when the user says so.
//!
//! Shape: <https://www.geojs.io/docs/v1/endpoints/geo/>, `/v1/ip/geo.json`, no key.

use serde::Deserialize;

use super::number_or_text::NumberOrText;
use super::service_client::{Keep, ServiceClient, json};
use crate::grid::intensity::fetch::Request;
use crate::grid::intensity::{Declined, InvalidAnswer};

/// A point on the map and what the service calls it.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// Latitude in degrees.
    pub lat: f64,
    /// Longitude in degrees.
    pub lon: f64,
    /// City and country, if the service names them.
    pub name: String,
}

#[derive(Deserialize)]
struct Body {
    latitude: NumberOrText,
    longitude: NumberOrText,
    #[serde(default)]
    city: Option<String>,
    #[serde(default)]
    country: Option<String>,
}

/// An angle of at most so many degrees to either side.
fn within(limit: f64, degrees: NumberOrText) -> Result<f64, Declined> {
    degrees
        .finite()
        .filter(|value| value.abs() <= limit)
        .ok_or_else(|| InvalidAnswer::Unreadable("coordinates").into())
}

/// The place the network says this machine is at; a proxy or VPN makes it another.
pub fn geolocate(client: &ServiceClient) -> Result<Place, Declined> {
    let base = client.base("IMPACT_GEOLOCATION_URL", "https://get.geojs.io")?;
    let request = Request::new(&base, ["v1", "ip", "geo.json"]);
    client.ask(&request, Keep::Never, read)
}

pub(super) fn read(body: &[u8]) -> Result<Place, Declined> {
    let body: Body = json(body)?;
    let name: Vec<String> = [body.city, body.country]
        .into_iter()
        .flatten()
        .filter(|part| !part.trim().is_empty())
        .map(|part| part.chars().take(80).collect())
        .collect();
    Ok(Place {
        lat: within(90.0, body.latitude)?,
        lon: within(180.0, body.longitude)?,
        name: name.join(", "),
    })
}
