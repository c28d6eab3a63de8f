use std::fmt;
use std::str::FromStr;

/// A place on Earth in degrees, WGS 84.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    lat: f64,
    lon: f64,
}

/// Numbers that are no place on Earth.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "{0} is not a place on Earth: expected a latitude from -90 to 90 and a longitude from -180 to 180"
)]
pub struct NotOnEarth(String);

const EARTH_RADIUS_KM: f64 = 6371.0;

impl Point {
    /// A point at this latitude and longitude.
    pub fn new(lat: f64, lon: f64) -> Result<Self, NotOnEarth> {
        if (-90.0..=90.0).contains(&lat) && (-180.0..=180.0).contains(&lon) {
            Ok(Self { lat, lon })
        } else {
            Err(NotOnEarth(format!("{lat}, {lon}")))
        }
    }

    /// Latitude in degrees, from -90 to 90.
    #[must_use]
    pub fn lat(self) -> f64 {
        self.lat
    }

    /// Longitude in degrees, from -180 to 180.
    #[must_use]
    pub fn lon(self) -> f64 {
        self.lon
    }

    /// Kilometres along the great circle.
    #[must_use]
    pub fn distance_km(self, other: Self) -> f64 {
        let (a, b) = (self.lat.to_radians(), other.lat.to_radians());
        let across = ((other.lon - self.lon).to_radians() / 2.0).sin();
        let up = ((b - a) / 2.0).sin();
        let haversine = up * up + a.cos() * b.cos() * across * across;
        2.0 * EARTH_RADIUS_KM * haversine.sqrt().min(1.0).asin()
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.lat, self.lon)
    }
}

/// Accepts `LAT,LON`.
impl FromStr for Point {
    type Err = NotOnEarth;
    fn from_str(text: &str) -> Result<Self, NotOnEarth> {
        let number = |part: &str| part.trim().parse::<f64>().ok();
        text.split_once(',')
            .and_then(|(lat, lon)| Some((number(lat)?, number(lon)?)))
            .ok_or_else(|| NotOnEarth(format!("`{}`", text.escape_debug())))
            .and_then(|(lat, lon)| Self::new(lat, lon))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_two_numbers_within_the_earth() {
        assert_eq!("37.4, -122.2".parse(), Point::new(37.4, -122.2));
        for text in ["", "1", "91,0", "0,181", "NaN,0", "a,b", "1,2,3"] {
            assert!(text.parse::<Point>().is_err(), "{text}");
        }
    }

    #[test]
    fn paris_is_344_km_from_london() {
        let paris = Point::new(48.857, 2.352).unwrap();
        let london = Point::new(51.507, -0.128).unwrap();
        assert!((paris.distance_km(london) - 344.0).abs() < 1.0);
    }
}
