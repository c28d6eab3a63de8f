//! The US Energy Information Administration's hourly grid monitor, with a key.
//!
//! Shape: <https://www.eia.gov/opendata/browser/electricity/rto/fuel-type-data>, v2, net generation
//! in megawatt-hours by fuel and hour; an hour is named by its end. Life-cycle factors of `fuel.rs`; what is
//! imported is not in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use serde::Deserialize;

use super::electricity_maps_zone::ElectricityMapsZone;
use super::instant::instant;
use super::number_or_text::NumberOrText;
use super::service_client::{Keep, ServiceClient, json};
use crate::grid::intensity::fetch::{Auth, Request};
use crate::grid::intensity::fuel::{Fuel, Mix};
use crate::grid::intensity::{
    Basis, Declined, IntensityProvider, InvalidAnswer, Period, Point, Series, fuel,
};
use crate::grid::zone::ZoneId;

const HOUR: TimeDelta = TimeDelta::hours(1);
/// The API gives at most 5000 rows, and an hour has up to fifteen.
const AT_ONCE: TimeDelta = TimeDelta::days(13);

struct Eia {
    client: Arc<ServiceClient>,
}

pub(super) fn connect(client: &Arc<ServiceClient>) -> Box<dyn IntensityProvider> {
    Box::new(Eia {
        client: client.clone(),
    })
}

#[derive(Deserialize)]
struct Body {
    response: Response,
}

#[derive(Deserialize)]
struct Response {
    data: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    period: String,
    respondent: String,
    fueltype: String,
    /// Text since 2023, a number before.
    value: Option<NumberOrText>,
}

fn fuel_of(code: &str) -> Fuel {
    match code {
        "COL" => Fuel::Coal,
        "NG" => Fuel::Gas,
        "NUC" => Fuel::Nuclear,
        "OIL" => Fuel::Oil,
        "WAT" => Fuel::Hydro,
        "PS" => Fuel::HydroDischarge,
        "SUN" | "SNB" => Fuel::Solar,
        "WND" | "WNB" => Fuel::Wind,
        "GEO" => Fuel::Geothermal,
        "BAT" | "OES" | "UES" => Fuel::BatteryDischarge,
        _ => Fuel::Unknown,
    }
}

impl IntensityProvider for Eia {
    fn name(&self) -> &'static str {
        "eia"
    }

    fn basis(&self) -> Basis {
        Basis::LIFE_CYCLE_PRODUCTION
    }

    fn intensity(&self, zone: &ZoneId, period: &Period) -> Result<Series, Declined> {
        let their_zone = ElectricityMapsZone::of(zone);
        let respondent = their_zone
            .respondent()
            .ok_or_else(|| Declined::NotServed(zone.clone()))?;
        let key = self.client.token("EIA_API_KEY")?;
        let base = self.client.base("IMPACT_EIA_URL", "https://api.eia.gov")?;
        let hour = |at: DateTime<Utc>| (at + HOUR).format("%Y-%m-%dT%H").to_string();
        let path = "v2/electricity/rto/fuel-type-data/data/";
        let mut points = Vec::new();
        for piece in period.whole_hours().pieces(AT_ONCE) {
            let request = Request::new(&base, path.split('/'))
                .query("frequency", "hourly")
                .query("data[0]", "value")
                .query("facets[respondent][]", respondent)
                .query("start", &hour(piece.from()))
                .query("end", &hour(piece.to()))
                .query("length", "5000");
            let keep = Keep::period(&piece, self.client.now(), HOUR);
            let auth = || Ok(Auth::Query("api_key", key.clone()));
            let read = |body: &[u8]| read(zone, respondent, body);
            points.extend(self.client.ask_as(auth, &request, keep, read)?);
        }
        let service = format!(
            "EIA hourly generation of {respondent} by fuel with world median factors of IPCC 2014, imports left out"
        );
        let source = their_zone.provenance(service);
        Series::new(
            zone,
            [source],
            Basis::LIFE_CYCLE_PRODUCTION,
            HOUR,
            period,
            points,
        )
    }

    /// Hours arrive up to a day late.
    fn latest(&self, zone: &ZoneId, now: DateTime<Utc>) -> Result<Series, Declined> {
        self.intensity(zone, &Period::until(now, TimeDelta::hours(30)))
    }
}

pub(super) fn read(zone: &ZoneId, respondent: &str, body: &[u8]) -> Result<Vec<Point>, Declined> {
    let mut mixes: BTreeMap<DateTime<Utc>, Mix> = BTreeMap::new();
    for row in json::<Body>(body)?.response.data {
        if row.respondent != respondent {
            return Err(InvalidAnswer::OtherZone(zone.clone()).into());
        }
        let ends = instant(&row.period)?;
        let Some(starts) = ends.checked_sub_signed(HOUR) else {
            return Err(InvalidAnswer::Unreadable("time").into());
        };
        if let Some(value) = row.value {
            let mix = mixes.entry(starts).or_default();
            let megawatts = value.finite().ok_or(InvalidAnswer::Unreadable("figures"))?;
            mix.add(fuel_of(&row.fueltype), megawatts);
        }
    }
    fuel::points(mixes)
}
