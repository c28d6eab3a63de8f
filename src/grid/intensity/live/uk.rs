//! The Carbon Intensity API of Great Britain's system operator: half-hourly, no key.
//!
//! Shape: <https://carbon-intensity.github.io/api-definitions/>, `/intensity/{from}/{to}` and
//! `/regional/intensity/{from}/{to}/regionid/{id}`. Counts emissions of burning fuel, imports
//! included; regional values are forecasts, and so are national ones until the half hour is over.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use serde::Deserialize;

use super::instant::instant;
use super::service_client::{Keep, ServiceClient, json};
use crate::grid::intensity::fetch::Request;
use crate::grid::intensity::{
    Basis, Declined, IntensityProvider, InvalidAnswer, Period, Point, Provenance, Series, Source,
};
use crate::grid::zone::ZoneId;
use crate::units::GramsPerKwh;

const HALF_HOUR: TimeDelta = TimeDelta::minutes(30);
/// The API refuses more in one question.
const AT_ONCE: TimeDelta = TimeDelta::days(14);

struct Uk {
    client: Arc<ServiceClient>,
}

pub(super) fn connect(client: &Arc<ServiceClient>) -> Box<dyn IntensityProvider> {
    Box::new(Uk {
        client: client.clone(),
    })
}

/// The whole of Great Britain, or one of the 17 regions of the API.
#[derive(Clone, Copy)]
pub(super) enum Area {
    National,
    Region(u8),
}

impl Area {
    /// `GB`, `GB-1` to `GB-17`; Orkney and Shetland lie in North Scotland, Northern Ireland in no area.
    fn of(zone: &ZoneId) -> Option<Self> {
        match zone.as_str().strip_prefix("GB")? {
            "" => Some(Self::National),
            "-ORK" | "-SHI" => Some(Self::Region(1)),
            region => {
                let id = region.strip_prefix('-')?.parse().ok()?;
                (1..=17).contains(&id).then_some(Self::Region(id))
            }
        }
    }

    fn source(self) -> String {
        match self {
            Self::National => "UK Carbon Intensity API".into(),
            Self::Region(id) => format!("UK Carbon Intensity API, forecast for region {id}"),
        }
    }
}

#[derive(Deserialize)]
struct National {
    data: Vec<HalfHour>,
}

/// The region comes alone or in a list of one, depending on the question.
#[derive(Deserialize)]
struct Regional {
    data: OneOrList,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrList {
    One(Region),
    List(Vec<Region>),
}

#[derive(Deserialize)]
struct Region {
    regionid: u8,
    data: Vec<HalfHour>,
}

#[derive(Deserialize)]
struct HalfHour {
    from: String,
    intensity: Values,
}

#[derive(Deserialize)]
struct Values {
    forecast: Option<f64>,
    actual: Option<f64>,
}

impl Uk {
    fn request(&self, area: Area, period: Option<&Period>) -> Result<Request, Declined> {
        let base = self
            .client
            .base("IMPACT_UK_URL", "https://api.carbonintensity.org.uk")?;
        let minute = |at: DateTime<Utc>| at.format("%Y-%m-%dT%H:%MZ").to_string();
        let times = period.map(|period| [minute(period.from()), minute(period.to())]);
        let mut path: Vec<&str> = Vec::new();
        let id;
        if let Area::Region(_) = area {
            path.push("regional");
        }
        if matches!(area, Area::National) || times.is_some() {
            path.push("intensity");
        }
        path.extend(times.iter().flatten().map(String::as_str));
        if let Area::Region(region) = area {
            id = region.to_string();
            path.extend(["regionid", &id]);
        }
        Ok(Request::new(&base, path))
    }

    fn ask(
        &self,
        zone: &ZoneId,
        area: Area,
        period: Option<&Period>,
        keep: Keep,
    ) -> Result<Vec<Point>, Declined> {
        let request = self.request(area, period)?;
        self.client
            .ask(&request, keep, |body| read(zone, area, body))
    }

    fn series(
        zone: &ZoneId,
        area: Area,
        period: &Period,
        points: Vec<Point>,
    ) -> Result<Series, Declined> {
        Series::new(
            zone,
            [Provenance::of(Source::named(area.source()))],
            Basis::DIRECT_CONSUMPTION,
            HALF_HOUR,
            period,
            points,
        )
    }
}

impl IntensityProvider for Uk {
    fn name(&self) -> &'static str {
        "uk"
    }

    fn basis(&self) -> Basis {
        Basis::DIRECT_CONSUMPTION
    }

    fn intensity(&self, zone: &ZoneId, period: &Period) -> Result<Series, Declined> {
        let area = Area::of(zone).ok_or_else(|| Declined::NotServed(zone.clone()))?;
        let mut points = Vec::new();
        for piece in period.whole_hours().pieces(AT_ONCE) {
            let keep = Keep::period(&piece, self.client.now(), HALF_HOUR);
            points.extend(self.ask(zone, area, Some(&piece), keep)?);
        }
        Self::series(zone, area, period, points)
    }

    fn latest(&self, zone: &ZoneId, now: DateTime<Utc>) -> Result<Series, Declined> {
        let area = Area::of(zone).ok_or_else(|| Declined::NotServed(zone.clone()))?;
        let points = self.ask(zone, area, None, Keep::For(HALF_HOUR / 6))?;
        Self::series(zone, area, &Period::until(now, HALF_HOUR * 2), points)
    }
}

pub(super) fn read(zone: &ZoneId, area: Area, body: &[u8]) -> Result<Vec<Point>, Declined> {
    let half_hours = match area {
        Area::National => json::<National>(body)?.data,
        Area::Region(id) => {
            let regions = match json::<Regional>(body)?.data {
                OneOrList::One(region) => vec![region],
                OneOrList::List(regions) => regions,
            };
            if regions.iter().any(|region| region.regionid != id) {
                return Err(InvalidAnswer::OtherZone(zone.clone()).into());
            }
            regions.into_iter().flat_map(|region| region.data).collect()
        }
    };
    half_hours
        .into_iter()
        .filter_map(|half_hour| {
            let value = half_hour
                .intensity
                .actual
                .or(half_hour.intensity.forecast)?;
            Some((half_hour.from, value))
        })
        .map(|(from, value)| {
            Ok(Point {
                at: instant(&from)?,
                intensity: GramsPerKwh::new(value)?,
            })
        })
        .collect()
}
