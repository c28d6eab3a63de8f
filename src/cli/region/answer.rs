use serde::Serialize;

use crate::grid::intensity::{Basis, Intensity};
use crate::grid::zone::place::Place;
use crate::grid::zone::{AreaId, Iso3, Point, register};

/// What `impact region` says of one place.
#[derive(Debug, Clone, Serialize)]
pub(in crate::cli) struct Answer {
    #[serde(skip)]
    pub area: AreaId,
    zone: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    name: String,
    country: Option<Iso3>,
    carbon_intensity: f64,
    year: Option<i32>,
    source: String,
    licence: Option<String>,
    basis: Option<Basis>,
    renewable_share: Option<f64>,
    fossil_share: Option<f64>,
    lat: Option<f64>,
    lon: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance_km: Option<f64>,
    how: String,
    fallbacks: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Candidate>,
}

/// A city an address may mean.
#[derive(Debug, Clone, Serialize)]
pub(in crate::cli) struct Candidate {
    pub place: String,
    pub population: u64,
    lat: f64,
    lon: f64,
    pub chosen: bool,
}

impl Candidate {
    pub(super) fn new(place: &Place, chosen: bool) -> Self {
        Self {
            place: place.to_string(),
            population: place.population,
            lat: place.point.lat(),
            lon: place.point.lon(),
            chosen,
        }
    }
}

impl Answer {
    pub(super) fn new(
        area: AreaId,
        intensity: &Intensity,
        point: Option<Point>,
        how: String,
    ) -> Self {
        let zone = register::find(&area.zone).ok();
        Self {
            zone: area.zone.to_string(),
            state: area.state.clone(),
            name: zone.map_or_else(|| area.to_string(), |zone| zone.name.clone()),
            country: zone.and_then(|zone| zone.country),
            area,
            carbon_intensity: intensity.value.get(),
            year: intensity.provenance.year,
            basis: intensity.provenance.basis,
            renewable_share: intensity.shares.renewable,
            fossil_share: intensity.shares.fossil,
            source: intensity.provenance.source.name.to_string(),
            licence: intensity
                .provenance
                .source
                .licence
                .as_ref()
                .map(ToString::to_string),
            lat: point.map(Point::lat),
            lon: point.map(Point::lon),
            distance_km: None,
            how,
            fallbacks: intensity
                .provenance
                .fallbacks
                .iter()
                .map(ToString::to_string)
                .collect(),
            candidates: Vec::new(),
        }
    }

    /// The answer in a few words, to stand beside its place on a map.
    pub(in crate::cli) fn caption(&self) -> String {
        format!("{}: {:.0} g/kWh", self.area.label(), self.carbon_intensity)
    }

    /// Puts how the point was found before how the zone was.
    pub(super) fn explain_first(&mut self, how: &str) {
        self.how = format!("{how}; {}", self.how);
    }

    pub(super) fn intensity(&self) -> f64 {
        self.carbon_intensity
    }

    /// `US-CA  California, United States`.
    fn title(&self) -> (String, String) {
        let id = self.area.label();
        let country = self
            .country
            .map(|country| country.name())
            .filter(|country| *country != self.name);
        let name = country.map_or_else(
            || self.name.clone(),
            |country| format!("{}, {country}", self.name),
        );
        (id, name)
    }

    /// The answer on its own, a line for each thing there is to say.
    pub(super) fn lines(&self) -> Vec<(&'static str, String)> {
        let (id, name) = self.title();
        let when = [
            self.year.map(|year| year.to_string()),
            self.basis.map(|basis| basis.to_string()),
        ];
        let when: Vec<String> = when.into_iter().flatten().collect();
        let percent = |share: Option<f64>| share.map(|share| format!("{:.0} %", share * 100.0));
        let mut lines = vec![("zone", id), ("name", name)];
        let when = if when.is_empty() {
            String::new()
        } else {
            format!(" ({})", when.join(", "))
        };
        lines.push((
            "carbon intensity",
            format!("{} g CO2eq/kWh{when}", self.carbon_intensity),
        ));
        lines.extend(percent(self.renewable_share).map(|text| ("renewable", text)));
        lines.extend(percent(self.fossil_share).map(|text| ("fossil", text)));
        let licence = self
            .licence
            .as_ref()
            .map_or_else(String::new, |licence| format!(" ({licence})"));
        lines.push(("source", format!("{}{licence}", self.source)));
        lines.push(("found by", self.how.clone()));
        lines.extend(self.fallbacks.iter().map(|text| ("note", text.clone())));
        if let (Some(lat), Some(lon)) = (self.lat, self.lon) {
            lines.push(("at", format!("{lat}, {lon}")));
        }
        lines
    }

    /// The answer as a row among others: zone, name, g/kWh, year, and kilometres if they are known.
    pub(super) fn row(&self) -> impl Iterator<Item = String> {
        let (id, name) = self.title();
        let year = self.year.map_or_else(String::new, |year| year.to_string());
        [id, name, format!("{:.0}", self.carbon_intensity), year]
            .into_iter()
            .chain(self.distance_km.map(|km| format!("{km:.0}")))
    }
}
