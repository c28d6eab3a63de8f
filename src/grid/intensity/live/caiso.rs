//! Today's Outlook of California's system operator: every five minutes, no key.
//!
//! The CSV files behind <https://www.caiso.com/todays-outlook>: `/outlook/current/` for today and
//! `/outlook/history/{YYYYMMDD}/` for earlier days, each with `co2.csv` (t/h by source) and
//! `fuelsource.csv` (MW by source), in California's local time. Counts emissions of burning fuel,
//! imports included.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta, TimeZone as _, Utc};
use chrono_tz::America::Los_Angeles;

use super::service_client::{Keep, ServiceClient};
use crate::grid::intensity::fetch::Request;
use crate::grid::intensity::{
    Basis, Declined, IntensityProvider, InvalidAnswer, Period, Point, Provenance, Series, Source,
};
use crate::grid::zone::ZoneId;
use crate::units::GramsPerKwh;

const FIVE_MINUTES: TimeDelta = TimeDelta::minutes(5);

struct Caiso {
    client: Arc<ServiceClient>,
}

pub(super) fn connect(client: &Arc<ServiceClient>) -> Box<dyn IntensityProvider> {
    Box::new(Caiso {
        client: client.clone(),
    })
}

/// The sum over all sources at each instant.
pub(super) type Totals = BTreeMap<DateTime<Utc>, f64>;

impl Caiso {
    fn totals(&self, day: NaiveDate, file: &str) -> Result<Totals, Declined> {
        let base = self
            .client
            .base("IMPACT_CAISO_URL", "https://www.caiso.com/outlook")?;
        let now = self.client.now();
        let folder = day.format("%Y%m%d").to_string();
        if local_date(now) == day {
            // Without a new query, caches on the way answer with an old file.
            let step = now.timestamp() / FIVE_MINUTES.num_seconds();
            let request = Request::new(&base, ["current", file]).query("_", &step.to_string());
            let keep = Keep::For(FIVE_MINUTES);
            return self
                .client
                .ask(&request, keep, |body| read_current(now, body));
        }
        let (path, keep) = {
            let day = Period::until(day.and_time(NaiveTime::MIN).and_utc(), TimeDelta::days(1));
            let keep = Keep::period(&day, now, TimeDelta::hours(1));
            (vec!["history", &folder, file], keep)
        };
        let request = Request::new(&base, path);
        self.client.ask(&request, keep, |body| read(day, body))
    }
}

impl IntensityProvider for Caiso {
    fn name(&self) -> &'static str {
        "caiso"
    }

    fn basis(&self) -> Basis {
        Basis::DIRECT_CONSUMPTION
    }

    fn intensity(&self, zone: &ZoneId, period: &Period) -> Result<Series, Declined> {
        if !["US-CA", "US-CAL-CISO"].contains(&zone.as_str()) {
            return Err(Declined::NotServed(zone.clone()));
        }
        let last_instant = period.to().min(self.client.now()) - TimeDelta::seconds(1);
        let (first, last) = (local_date(period.from()), local_date(last_instant));
        let mut points = Vec::new();
        for day in first.iter_days().take_while(|day| *day <= last) {
            let supply = self.totals(day, "fuelsource.csv")?;
            let emitted = self.totals(day, "co2.csv")?;
            for (at, tonnes) in emitted {
                let Some(megawatts) = supply.get(&at).filter(|megawatts| **megawatts > 0.0) else {
                    continue;
                };
                points.push(Point {
                    at,
                    intensity: GramsPerKwh::new(tonnes * 1000.0 / megawatts)?,
                });
            }
        }
        let source = Provenance::of(Source::named("CAISO Today's Outlook"));
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

/// The date in California at an instant.
fn local_date(at: DateTime<Utc>) -> NaiveDate {
    at.with_timezone(&Los_Angeles).date_naive()
}

/// The file of today, which still holds yesterday just after midnight: then it has figures of times to come.
pub(super) fn read_current(now: DateTime<Utc>, body: &[u8]) -> Result<Totals, Declined> {
    let today = local_date(now);
    let totals = read(today, body)?;
    let is_of_yesterday = totals
        .last_key_value()
        .is_some_and(|(last, _)| *last > now + FIVE_MINUTES);
    match today.pred_opt().filter(|_| is_of_yesterday) {
        Some(yesterday) => read(yesterday, body),
        None => Ok(totals),
    }
}

/// Rows without figures are still to come; a table of something else has no natural gas in it.
pub(super) fn read(day: NaiveDate, body: &[u8]) -> Result<Totals, Declined> {
    let unreadable = || Declined::from(InvalidAnswer::Unreadable("CSV"));
    let mut table = csv::ReaderBuilder::new()
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(body);
    let headers = table.headers().map_err(|_| unreadable())?;
    let has = |start: &str| {
        headers
            .iter()
            .any(|name| name.to_ascii_lowercase().starts_with(start))
    };
    if !headers
        .get(0)
        .is_some_and(|name| name.eq_ignore_ascii_case("time"))
        || !has("natural gas")
    {
        return Err(unreadable());
    }
    let mut totals = Totals::new();
    let mut before = NaiveTime::MIN;
    let mut is_second_pass = false;
    for row in table.records() {
        let row = row.map_err(|_| unreadable())?;
        let time = row.get(0).unwrap_or_default();
        if time.is_empty() {
            continue;
        }
        let time = NaiveTime::parse_from_str(time, "%H:%M").map_err(|_| unreadable())?;
        if time < before {
            // A file ends with midnight of the next day; any other step back is the hour that comes twice when
            // daylight saving time ends.
            if time == NaiveTime::MIN {
                break;
            }
            is_second_pass = true;
        }
        before = time;
        let mut figures = row
            .iter()
            .skip(1)
            .filter(|cell| !cell.is_empty())
            .peekable();
        if figures.peek().is_none() {
            continue;
        }
        let total = figures
            .map(|cell| cell.parse::<f64>().ok().filter(|figure| figure.is_finite()))
            .sum::<Option<f64>>()
            .ok_or_else(unreadable)?;
        let local = Los_Angeles.from_local_datetime(&day.and_time(time));
        let at = if is_second_pass {
            local.latest()
        } else {
            local.earliest()
        };
        if let Some(at) = at {
            totals.insert(at.to_utc(), total);
        }
    }
    Ok(totals)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hours(day: &str, times: &[&str]) -> Vec<String> {
        let body = format!("Time,Natural Gas\n{},5\n", times.join(",5\n"));
        let totals = read(day.parse().unwrap(), body.as_bytes()).unwrap();
        let times = totals.keys().map(|at| at.format("%m-%dT%H:%M").to_string());
        times.collect()
    }

    #[test]
    fn local_time_is_seven_hours_behind_in_summer_and_eight_in_winter() {
        assert_eq!(hours("2025-07-01", &["12:00"]), ["07-01T19:00"]);
        assert_eq!(hours("2025-12-01", &["12:00"]), ["12-01T20:00"]);
    }

    #[test]
    fn the_hour_that_comes_twice_is_two_hours() {
        let times = ["00:30", "01:30", "01:00", "01:30", "02:00", "00:00"];
        let expected = ["07:30", "08:30", "09:00", "09:30", "10:00"];
        let expected = expected.map(|time| format!("11-02T{time}"));
        assert_eq!(hours("2025-11-02", &times), expected);
    }

    #[test]
    fn just_after_midnight_the_current_file_is_of_yesterday() {
        let body = b"Time,Natural Gas\n00:00,5\n00:05,5\n23:55,5\n";
        let last = |now: &str| {
            let totals = read_current(now.parse().unwrap(), body).unwrap();
            totals.last_key_value().unwrap().0.to_rfc3339()
        };
        assert_eq!(last("2025-07-02T07:06:00Z"), "2025-07-02T06:55:00+00:00");
        assert_eq!(last("2025-07-03T06:56:00Z"), "2025-07-03T06:55:00+00:00");
    }

    #[test]
    fn a_day_begins_at_local_midnight() {
        let day = |text: &str| local_date(text.parse().unwrap()).to_string();
        assert_eq!(day("2025-07-01T06:59:00Z"), "2025-06-30");
        assert_eq!(day("2025-07-01T07:00:00Z"), "2025-07-01");
        assert_eq!(day("2025-12-01T07:59:00Z"), "2025-11-30");
        assert_eq!(day("2025-12-01T08:00:00Z"), "2025-12-01");
    }
}
