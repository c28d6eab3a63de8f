use serde::Serialize;

use crate::cli::settings::Origin;
use crate::grid::intensity::Basis;
use crate::grid::zone::place::Place;
use crate::grid::zone::{AreaId, Found, Iso3, Point, ZoneId};
use crate::grid::{How, ResolvedPlace};
use crate::text::number::grouped;

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
    #[serde(flatten, with = "crate::model::basis::optional")]
    basis: Option<Basis>,
    renewable_share: Option<f64>,
    fossil_share: Option<f64>,
    lat: Option<f64>,
    lon: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance_km: Option<f64>,
    how: String,
    fallbacks: Vec<String>,
    /// The zones whose figure it is.
    figure_of: Vec<ZoneId>,
    /// Why the figure may be wrong.
    doubts: Vec<String>,
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
    /// The answer for a place; `origin` is the setting that named it, if one did.
    pub(in crate::cli) fn new(place: ResolvedPlace, origin: Option<&Origin>) -> Self {
        let how = how(&place, origin);
        let provenance = place.intensity.provenance;
        let zones = provenance.zones(&place.area.zone).into_iter();
        let figure_of = zones.cloned().collect();
        let candidates = match &place.how {
            How::Address { candidates, .. } => candidates.as_slice(),
            _ => &[],
        };
        Self {
            zone: place.area.zone.to_string(),
            state: place.area.state.clone(),
            name: place
                .zone
                .map_or_else(|| place.area.to_string(), |zone| zone.name.clone()),
            country: place.zone.and_then(|zone| zone.country),
            area: place.area,
            carbon_intensity: place.intensity.value.get(),
            year: provenance.year,
            basis: provenance.basis,
            renewable_share: place.intensity.shares.renewable,
            fossil_share: place.intensity.shares.fossil,
            source: provenance.source.name.into(),
            licence: provenance.source.licence.map(Into::into),
            lat: place.point.map(Point::lat),
            lon: place.point.map(Point::lon),
            distance_km: match place.how {
                How::Distance { km, .. } => Some(km.round()),
                _ => None,
            },
            how,
            figure_of,
            doubts: provenance.doubts.iter().map(ToString::to_string).collect(),
            fallbacks: provenance
                .fallbacks
                .iter()
                .map(ToString::to_string)
                .collect(),
            candidates: candidates
                .iter()
                .enumerate()
                .map(|(n, city)| Candidate::new(city, n == 0))
                .collect(),
        }
    }

    /// The answer in a few words, for a label on a map.
    pub(in crate::cli) fn caption(&self) -> String {
        format!("{}: {:.0} g/kWh", self.area.label(), self.carbon_intensity)
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
        lines.extend(self.doubts.iter().map(|text| ("note", text.clone())));
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

/// How the zone of a place was found, as a sentence.
fn how(place: &ResolvedPlace, origin: Option<&Origin>) -> String {
    let located = |found: &Found| by_point(*found, &place.area);
    let named =
        |what: &str| origin.map_or_else(String::new, |origin| format!("{origin} names {what}; "));
    match &place.how {
        How::Zone => origin.map_or_else(
            || "the zone's own name".to_owned(),
            |origin| format!("{origin} names the zone"),
        ),
        How::Country(country) => format!("{}the country {}", named_by(origin), country.name()),
        How::Point(found) => located(found),
        How::NearCity { city, km } => format!(
            "the point is at a border, which the map draws roughly; the nearest city, {city}, {km:.1} km away, is in {}",
            place.area.label()
        ),
        How::State { name, largest } => {
            let named = named("the address");
            format!("{named}the state {name}; zone of its largest city, {largest}")
        }
        How::Address { candidates, found } => {
            let city = &candidates[0];
            let people = grouped(&city.population.to_string());
            let named = named("the address");
            format!(
                "{named}gazetteer: {city} ({people} people); {}",
                located(found)
            )
        }
        How::Cloud {
            region,
            evidence,
            found,
        } => {
            let file = evidence.as_ref().map(ToString::to_string);
            let named = origin.map(ToString::to_string).or(file);
            let named = named.map_or_else(String::new, |named| format!("{named}: "));
            let located = found.as_ref().map_or_else(
                || format!("its city lies in {}", place.area.label()),
                located,
            );
            let (provider, code, city) = (&region.provider, &region.code, &region.city);
            format!("{named}cloud region {provider}:{code} in {city}; {located}")
        }
        How::TimeZone(clock) => format!(
            "the time zone of this machine's clock is {}, in {}",
            clock.name,
            clock.country.in_a_sentence()
        ),
        How::NetworkAddress { name, found } => format!(
            "the network address is in {name}, says the geolocation service; {}",
            located(found)
        ),
        How::Listed => "listed".to_owned(),
        How::Ranked => "ranked by intensity".to_owned(),
        How::Distance { km, from } => format!("{km:.0} km from {from}"),
    }
}

/// The setting that names a place, before what it names.
fn named_by(origin: Option<&Origin>) -> String {
    origin.map_or_else(String::new, |origin| format!("{origin} names "))
}

fn by_point(found: Found, area: &AreaId) -> String {
    let label = area.label();
    match found {
        Found::Inside => format!("the point lies inside {label}"),
        Found::Nearest { degrees } => {
            format!("the point lies in no zone; {label} is the nearest, {degrees:.2} degrees away")
        }
        Found::Border { degrees } => format!(
            "the map draws a border on the wrong side of the point; {label} is on its own side, {degrees:.2} degrees away"
        ),
        Found::Country => {
            format!("there is no zone of the country at the point; {area} is the whole country")
        }
    }
}
