//! `WattTime`: emissions of one more kWh, every five minutes, with an account.
//!
//! Shape: <https://docs.watttime.org>, `/login` and `/v3/historical`, `/v3/forecast` with
//! `signal_type=co2_moer` in pounds per megawatt-hour. Without a subscription only `CAISO_NORTH` is answered.
//! Its regions are not zones of the map, so `WATTTIME_REGION` names the one to ask for.

use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use serde::Deserialize;

use super::instant::instant;
use super::service_client::{Keep, ServiceClient, json};
use crate::grid::intensity::fetch::{Auth, Request, Secret};
use crate::grid::intensity::{
    Basis, Declined, Emissions, IntensityProvider, InvalidAnswer, Period, Point, Provenance,
    Series, Source,
};
use crate::grid::zone::ZoneId;
use crate::units::GramsPerKwh;

const FIVE_MINUTES: TimeDelta = TimeDelta::minutes(5);
const AT_ONCE: TimeDelta = TimeDelta::days(30);
/// A token is good for half an hour.
const TOKEN_LASTS: TimeDelta = TimeDelta::minutes(25);
/// One pound per megawatt-hour, in grams per kWh.
const POUND_PER_MWH: f64 = 0.453_592_37;

/// Emissions of burning fuel for one more kWh.
const MARGINAL: Basis = Basis::Marginal {
    emissions: Some(Emissions::Direct),
};

struct WattTime {
    client: Arc<ServiceClient>,
    token: Mutex<Option<(Secret, DateTime<Utc>)>>,
}

pub(super) fn connect(client: &Arc<ServiceClient>) -> Box<dyn IntensityProvider> {
    Box::new(WattTime {
        client: client.clone(),
        token: Mutex::new(None),
    })
}

#[derive(Deserialize)]
struct Login {
    token: String,
}

#[derive(Deserialize)]
struct Body {
    data: Vec<Value>,
    meta: Meta,
}

#[derive(Deserialize)]
struct Value {
    point_time: String,
    value: Option<f64>,
}

#[derive(Deserialize)]
struct Meta {
    region: String,
    units: String,
}

impl WattTime {
    fn region(&self, zone: &ZoneId) -> Result<String, Declined> {
        match (self.client.setting("WATTTIME_REGION"), zone.as_str()) {
            (Some(region), _) => Ok(region.to_owned()),
            (None, "US-CA") => Ok("CAISO_NORTH".into()),
            _ => Err(Declined::NotServed(zone.clone())),
        }
    }

    fn account(&self) -> Result<(Secret, Secret), Declined> {
        // The service's own SDK reads WATTTIME_USER.
        let user = self.client.token("WATTTIME_USERNAME");
        Ok((
            user.or_else(|missing| self.client.token("WATTTIME_USER").map_err(|_| missing))?,
            self.client.token("WATTTIME_PASSWORD")?,
        ))
    }

    fn token(&self) -> Result<Secret, Declined> {
        let (user, password) = self.account()?;
        let now = self.client.now();
        let mut kept = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((token, until)) = &*kept
            && now < *until
        {
            return Ok(token.clone());
        }
        let request = self.request("login", &[])?;
        let auth = || Ok(Auth::Basic(user, password));
        let token = self.client.ask_as(auth, &request, Keep::Never, |body| {
            Ok(Secret::new(json::<Login>(body)?.token))
        })?;
        *kept = Some((token.clone(), now + TOKEN_LASTS));
        Ok(token)
    }

    fn request(&self, endpoint: &str, query: &[(&str, &str)]) -> Result<Request, Declined> {
        let base = self
            .client
            .base("IMPACT_WATTTIME_URL", "https://api.watttime.org")?;
        Ok(query.iter().fold(
            Request::new(&base, endpoint.split('/')),
            |request, (name, value)| request.query(name, value),
        ))
    }

    fn ask(
        &self,
        zone: &ZoneId,
        region: &str,
        endpoint: &str,
        query: &[(&str, &str)],
        keep: Keep,
    ) -> Result<Vec<Point>, Declined> {
        let mut all = vec![("region", region), ("signal_type", "co2_moer")];
        all.extend(query);
        let request = self.request(endpoint, &all)?;
        let auth = || Ok(Auth::Bearer(self.token()?));
        self.client
            .ask_as(auth, &request, keep, |body| read(zone, region, body))
    }

    fn series(
        zone: &ZoneId,
        region: &str,
        period: &Period,
        points: Vec<Point>,
    ) -> Result<Series, Declined> {
        let source = Provenance::of(Source::named(format!("WattTime MOER, {region}")));
        Series::new(zone, [source], MARGINAL, FIVE_MINUTES, period, points)
    }
}

impl IntensityProvider for WattTime {
    fn name(&self) -> &'static str {
        "watttime"
    }

    fn basis(&self) -> Basis {
        MARGINAL
    }

    fn intensity(&self, zone: &ZoneId, period: &Period) -> Result<Series, Declined> {
        let region = self.region(zone)?;
        let time = |at: DateTime<Utc>| at.to_rfc3339_opts(SecondsFormat::Secs, true);
        let mut points = Vec::new();
        for piece in period.whole_hours().pieces(AT_ONCE) {
            let (start, end) = (time(piece.from()), time(piece.to()));
            let query = [("start", start.as_str()), ("end", end.as_str())];
            let keep = Keep::period(&piece, self.client.now(), FIVE_MINUTES);
            points.extend(self.ask(zone, &region, "v3/historical", &query, keep)?);
        }
        Self::series(zone, &region, period, points)
    }

    /// The forecast begins now, and history only when it is over.
    fn latest(&self, zone: &ZoneId, now: DateTime<Utc>) -> Result<Series, Declined> {
        let region = self.region(zone)?;
        let query = [("horizon_hours", "1")];
        let points = self.ask(
            zone,
            &region,
            "v3/forecast",
            &query,
            Keep::For(FIVE_MINUTES),
        )?;
        let recent = Period::until(now, TimeDelta::hours(1));
        Self::series(zone, &region, &recent, points)
    }
}

pub(super) fn read(zone: &ZoneId, region: &str, body: &[u8]) -> Result<Vec<Point>, Declined> {
    let body: Body = json(body)?;
    if body.meta.region != region {
        return Err(InvalidAnswer::OtherZone(zone.clone()).into());
    }
    if body.meta.units != "lbs_co2_per_mwh" {
        return Err(InvalidAnswer::Unreadable("unit").into());
    }
    body.data
        .into_iter()
        .filter_map(|value| Some((value.point_time, value.value?)))
        .map(|(time, pounds)| {
            Ok(Point {
                at: instant(&time)?,
                intensity: GramsPerKwh::new(pounds * POUND_PER_MWH)?,
            })
        })
        .collect()
}
