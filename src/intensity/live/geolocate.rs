//! Where this machine's address is, asked only when the user says so.
//!
//! Shape: <https://www.geojs.io/docs/v1/endpoints/geo/>, `/v1/ip/geo.json`, no key.

use serde::Deserialize;

use super::desk::{Desk, Keep, json};
use crate::intensity::fetch::Request;
use crate::intensity::{Declined, Nonsense};

/// A point on the map and what the service calls it.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    pub lat: f64,
    pub lon: f64,
    pub name: String,
}

#[derive(Deserialize)]
struct Body {
    latitude: Degrees,
    longitude: Degrees,
    #[serde(default)]
    city: Option<String>,
    #[serde(default)]
    country: Option<String>,
}

/// Degrees come as text.
#[derive(Deserialize)]
#[serde(untagged)]
enum Degrees {
    Number(f64),
    Text(String),
}

impl Degrees {
    fn within(self, limit: f64) -> Result<f64, Declined> {
        match self {
            Self::Number(value) => Some(value),
            Self::Text(text) => text.trim().parse().ok(),
        }
        .filter(|value: &f64| value.is_finite() && value.abs() <= limit)
        .ok_or_else(|| Nonsense::Unreadable("coordinates").into())
    }
}

/// The place the network says this machine is at; a proxy or VPN makes it another.
pub fn geolocate(desk: &Desk) -> Result<Place, Declined> {
    let base = desk.base("IMPACT_GEOLOCATION_URL", "https://get.geojs.io")?;
    let request = Request::new(&base, ["v1", "ip", "geo.json"]);
    desk.ask(&request, Keep::Never, read)
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
        lat: body.latitude.within(90.0)?,
        lon: body.longitude.within(180.0)?,
        name: name.join(", "),
    })
}
