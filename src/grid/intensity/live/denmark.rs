//! Energi Data Service of Energinet: West and East Denmark every five minutes, no key.
//!
//! Shape: <https://www.energidataservice.dk/tso-electricity/CO2Emis> and its API guide,
//! `/dataset/CO2Emis?start=&end=&filter=`. Counts emissions of burning fuel, imports included.

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

const FIVE_MINUTES: TimeDelta = TimeDelta::minutes(5);
/// A month of five-minute values is about one megabyte.
const AT_ONCE: TimeDelta = TimeDelta::days(30);

struct Denmark {
    client: Arc<ServiceClient>,
}

pub(super) fn connect(client: &Arc<ServiceClient>) -> Box<dyn IntensityProvider> {
    Box::new(Denmark {
        client: client.clone(),
    })
}

#[derive(Deserialize)]
struct Body {
    records: Vec<Record>,
}

#[derive(Deserialize)]
struct Record {
    #[serde(rename = "Minutes5UTC")]
    minutes: String,
    #[serde(rename = "PriceArea")]
    area: String,
    #[serde(rename = "CO2Emission")]
    emission: Option<f64>,
}

impl IntensityProvider for Denmark {
    fn name(&self) -> &'static str {
        "denmark"
    }

    fn basis(&self) -> Basis {
        Basis::DIRECT_CONSUMPTION
    }

    fn intensity(&self, zone: &ZoneId, period: &Period) -> Result<Series, Declined> {
        let area = match zone.as_str() {
            "DK-DK1" => "DK1",
            "DK-DK2" => "DK2",
            _ => return Err(Declined::NotServed(zone.clone())),
        };
        let base = self
            .client
            .base("IMPACT_DENMARK_URL", "https://api.energidataservice.dk")?;
        let minute = |at: DateTime<Utc>| at.format("%Y-%m-%dT%H:%M").to_string();
        let mut points = Vec::new();
        for piece in period.whole_hours().pieces(AT_ONCE) {
            let request = Request::new(&base, ["dataset", "CO2Emis"])
                .query("start", &minute(piece.from()))
                .query("end", &minute(piece.to()))
                .query("timezone", "utc")
                .query("filter", &format!("{{\"PriceArea\":[\"{area}\"]}}"))
                .query("columns", "Minutes5UTC,PriceArea,CO2Emission")
                .query("limit", "0");
            let keep = Keep::period(&piece, self.client.now(), FIVE_MINUTES);
            points.extend(
                self.client
                    .ask(&request, keep, |body| read(zone, area, body))?,
            );
        }
        let source = format!("Energi Data Service CO2Emis, {area}");
        let source = Provenance::of(Source::named(source));
        Series::new(
            zone,
            [source],
            Basis::DIRECT_CONSUMPTION,
            FIVE_MINUTES,
            period,
            points,
        )
    }
}

pub(super) fn read(zone: &ZoneId, area: &str, body: &[u8]) -> Result<Vec<Point>, Declined> {
    let records = json::<Body>(body)?.records;
    if records.iter().any(|record| record.area != area) {
        return Err(InvalidAnswer::OtherZone(zone.clone()).into());
    }
    records
        .into_iter()
        .filter_map(|record| Some((record.minutes, record.emission?)))
        .map(|(minutes, emission)| {
            Ok(Point {
                at: instant(&minutes)?,
                intensity: GramsPerKwh::new(emission)?,
            })
        })
        .collect()
}
