//! Electricity Maps: most of the world's zones by the hour, with a token.
//!
//! Shape: <https://app.electricitymaps.com/developer-hub/api/reference>, `/v4/carbon-intensity/`
//! `latest`, `history` (the last day; both on the free plan) and `past-range` (ten days at once).
//! Asked for life-cycle factors; imports are traced.

use std::sync::Arc;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use serde::Deserialize;

use super::electricity_maps_zone::ElectricityMapsZone;
use super::instant::instant;
use super::service_client::{Keep, ServiceClient, json};
use crate::grid::intensity::fetch::{Auth, Request};
use crate::grid::intensity::{
    Basis, Declined, IntensityProvider, InvalidAnswer, Period, Point, Series,
};
use crate::grid::zone::ZoneId;
use crate::units::GramsPerKwh;

const HOUR: TimeDelta = TimeDelta::hours(1);
const HISTORY: TimeDelta = TimeDelta::hours(23);
const AT_ONCE: TimeDelta = TimeDelta::days(10);

struct ElectricityMaps {
    client: Arc<ServiceClient>,
}

pub(super) fn connect(client: &Arc<ServiceClient>) -> Box<dyn IntensityProvider> {
    Box::new(ElectricityMaps {
        client: client.clone(),
    })
}

#[derive(Deserialize)]
struct Range {
    zone: String,
    #[serde(alias = "history")]
    data: Vec<Value>,
}

#[derive(Deserialize)]
struct Latest {
    zone: String,
    #[serde(flatten)]
    value: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Value {
    datetime: String,
    carbon_intensity: Option<f64>,
    emission_factor_type: Option<String>,
    #[serde(default)]
    is_estimated: Option<bool>,
}

/// Points, and whether the service estimated any of them.
#[derive(Default)]
pub(super) struct Answer {
    points: Vec<Point>,
    is_estimated: bool,
}

impl ElectricityMaps {
    fn ask(
        &self,
        zone: &ZoneId,
        endpoint: &str,
        period: Option<&Period>,
        keep: Keep,
    ) -> Result<Answer, Declined> {
        let token = self.client.token("ELECTRICITYMAPS_TOKEN")?;
        let base = self.client.base(
            "IMPACT_ELECTRICITYMAPS_URL",
            "https://api.electricitymaps.com",
        )?;
        let their_zone = ElectricityMapsZone::of(zone);
        let theirs = their_zone.zone.as_str();
        let mut request = Request::new(&base, ["v4", "carbon-intensity", endpoint])
            .query("zone", theirs)
            .query("emissionFactorType", "lifecycle")
            .query("disableCallerLookup", "true");
        if let Some(period) = period {
            let time = |at: DateTime<Utc>| at.to_rfc3339_opts(SecondsFormat::Secs, true);
            request = request
                .query("start", &time(period.from()))
                .query("end", &time(period.to()));
        }
        let auth = || Ok(Auth::Header("auth-token", token));
        self.client.ask_as(auth, &request, keep, |body| {
            if endpoint == "latest" {
                read_latest(zone, theirs, body)
            } else {
                read_range(zone, theirs, body)
            }
        })
    }

    fn series(zone: &ZoneId, period: &Period, answer: Answer) -> Result<Series, Declined> {
        let service = if answer.is_estimated {
            "Electricity Maps, values partly estimated by it"
        } else {
            "Electricity Maps"
        };
        let source = ElectricityMapsZone::of(zone).provenance(service);
        Series::new(
            zone,
            [source],
            Basis::LIFE_CYCLE_CONSUMPTION,
            HOUR,
            period,
            answer.points,
        )
    }
}

impl IntensityProvider for ElectricityMaps {
    fn name(&self) -> &'static str {
        "electricitymaps"
    }

    fn basis(&self) -> Basis {
        Basis::LIFE_CYCLE_CONSUMPTION
    }

    fn intensity(&self, zone: &ZoneId, period: &Period) -> Result<Series, Declined> {
        let now = self.client.now();
        if now.signed_duration_since(period.from()) <= HISTORY {
            let answer = self.ask(zone, "history", None, Keep::For(HOUR / 4))?;
            return Self::series(zone, period, answer);
        }
        let mut all = Answer::default();
        for piece in period.whole_hours().pieces(AT_ONCE) {
            let keep = Keep::period(&piece, now, HOUR);
            let answer = self.ask(zone, "past-range", Some(&piece), keep)?;
            all.points.extend(answer.points);
            all.is_estimated |= answer.is_estimated;
        }
        Self::series(zone, period, all)
    }

    fn latest(&self, zone: &ZoneId, now: DateTime<Utc>) -> Result<Series, Declined> {
        let answer = self.ask(zone, "latest", None, Keep::For(HOUR / 4))?;
        Self::series(zone, &Period::until(now, HOUR * 6), answer)
    }
}

pub(super) fn read_latest(zone: &ZoneId, asked: &str, body: &[u8]) -> Result<Answer, Declined> {
    let latest: Latest = json(body)?;
    points(zone, asked, &latest.zone, vec![latest.value])
}

pub(super) fn read_range(zone: &ZoneId, asked: &str, body: &[u8]) -> Result<Answer, Declined> {
    let range: Range = json(body)?;
    points(zone, asked, &range.zone, range.data)
}

fn points(
    zone: &ZoneId,
    asked: &str,
    answered: &str,
    values: Vec<Value>,
) -> Result<Answer, Declined> {
    if answered != asked {
        return Err(InvalidAnswer::OtherZone(zone.clone()).into());
    }
    let other_basis = |value: &Value| {
        value
            .emission_factor_type
            .as_deref()
            .is_some_and(|kind| kind != "lifecycle")
    };
    if values.iter().any(other_basis) {
        return Err(InvalidAnswer::Unreadable("life-cycle values").into());
    }
    let is_estimated = values.iter().any(|value| value.is_estimated == Some(true));
    let points = values
        .into_iter()
        .filter_map(|value| Some((value.datetime, value.carbon_intensity?)))
        .map(|(datetime, value)| {
            Ok(Point {
                at: instant(&datetime)?,
                intensity: GramsPerKwh::new(value)?,
            })
        })
        .collect::<Result<_, Declined>>()?;
    Ok(Answer {
        points,
        is_estimated,
    })
}
