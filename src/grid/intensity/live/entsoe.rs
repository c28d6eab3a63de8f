//! The transparency platform of the European system operators: generation by type, with a token.
//!
//! Shape: <https://transparencyplatform.zendesk.com/hc/en-us/articles/15692855254548>, actual
//! generation per production type (16.1.B&C): `documentType=A75`, `processType=A16`, a
//! `GL_MarketDocument` of time series in MW. Life-cycle factors of `fuel.rs`; what is imported is
//! not in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use roxmltree::{Document, Node};

use super::eic;
use super::instant::instant;
use super::service_client::{Keep, ServiceClient};
use crate::grid::intensity::fetch::{Auth, Request};
use crate::grid::intensity::fuel::{Fuel, Mix};
use crate::grid::intensity::{
    Basis, Declined, IntensityProvider, InvalidAnswer, Period, Point, Provenance, Series, Source,
    fuel,
};
use crate::grid::zone::ZoneId;

const QUARTER: TimeDelta = TimeDelta::minutes(15);
const AT_ONCE: TimeDelta = TimeDelta::days(7);
/// Over all periods of an answer: a week of them in each of 150 series.
const MOST_QUARTERS: u32 = 100_000;

struct EntsoE {
    client: Arc<ServiceClient>,
}

pub(super) fn connect(client: &Arc<ServiceClient>) -> Box<dyn IntensityProvider> {
    Box::new(EntsoE {
        client: client.clone(),
    })
}

fn fuel_of(code: &str) -> Fuel {
    match code {
        "B01" | "B15" | "B17" => Fuel::Biomass,
        // Lignite, hard coal, oil shale and peat.
        "B02" | "B05" | "B07" | "B08" => Fuel::Coal,
        "B03" | "B04" => Fuel::Gas,
        "B06" => Fuel::Oil,
        "B09" => Fuel::Geothermal,
        "B10" => Fuel::HydroDischarge,
        "B11" | "B12" | "B13" => Fuel::Hydro,
        "B14" => Fuel::Nuclear,
        "B16" => Fuel::Solar,
        "B18" | "B19" => Fuel::Wind,
        "B25" => Fuel::BatteryDischarge,
        _ => Fuel::Unknown,
    }
}

impl IntensityProvider for EntsoE {
    fn name(&self) -> &'static str {
        "entsoe"
    }

    fn basis(&self) -> Basis {
        Basis::LIFE_CYCLE_PRODUCTION
    }

    fn intensity(&self, zone: &ZoneId, period: &Period) -> Result<Series, Declined> {
        let area = eic::area(zone).ok_or_else(|| Declined::NotServed(zone.clone()))?;
        let token = self.client.token("ENTSOE_TOKEN")?;
        let base = self
            .client
            .base("IMPACT_ENTSOE_URL", "https://web-api.tp.entsoe.eu/api")?;
        let minute = |at: DateTime<Utc>| at.format("%Y%m%d%H%M").to_string();
        let mut points = Vec::new();
        for piece in period.whole_hours().pieces(AT_ONCE) {
            let request = Request::new(&base, [])
                .query("documentType", "A75")
                .query("processType", "A16")
                .query("in_Domain", area)
                .query("periodStart", &minute(piece.from()))
                .query("periodEnd", &minute(piece.to()));
            let keep = Keep::period(&piece, self.client.now(), QUARTER);
            let auth = || Ok(Auth::Query("securityToken", token.clone()));
            let read = |body: &[u8]| read(zone, area, body);
            let part = self.client.ask_as(auth, &request, keep, read)?;
            points.extend(part);
        }
        let source = Source::named(
            "ENTSO-E generation by type with world median factors of IPCC 2014, imports left out",
        );
        let source = Provenance::of(source);
        Series::new(
            zone,
            [source],
            Basis::LIFE_CYCLE_PRODUCTION,
            QUARTER,
            period,
            points,
        )
    }
}

pub(super) fn read(zone: &ZoneId, area: &str, body: &[u8]) -> Result<Vec<Point>, Declined> {
    let unreadable = || Declined::from(InvalidAnswer::Unreadable("XML"));
    let text = std::str::from_utf8(body).map_err(|_| unreadable())?;
    let document = Document::parse(text).map_err(|_| unreadable())?;
    match document.root_element().tag_name().name() {
        "GL_MarketDocument" => {}
        "Acknowledgement_MarketDocument" => return Err(Declined::NoValues),
        _ => return Err(unreadable()),
    }
    let mut mixes: BTreeMap<DateTime<Utc>, Mix> = BTreeMap::new();
    let mut left = MOST_QUARTERS;
    for series in children(document.root_element(), "TimeSeries") {
        // Pumping and charging are series with an outward domain: load, not generation.
        let Some(domain) = text_of(series, "inBiddingZone_Domain.mRID") else {
            continue;
        };
        if domain != area {
            return Err(InvalidAnswer::OtherZone(zone.clone()).into());
        }
        let kind = children(series, "MktPSRType")
            .find_map(|node| text_of(node, "psrType"))
            .ok_or_else(unreadable)?;
        for period in children(series, "Period") {
            add(period, fuel_of(kind), &mut mixes, &mut left)?;
        }
    }
    fuel::points(mixes)
}

/// Adds one period of one fuel, quarter by quarter: fuels may come in different steps.
///
/// A position left out repeats the one before.
fn add(
    period: Node<'_, '_>,
    fuel: Fuel,
    mixes: &mut BTreeMap<DateTime<Utc>, Mix>,
    left: &mut u32,
) -> Result<(), Declined> {
    let unreadable = || Declined::from(InvalidAnswer::Unreadable("XML"));
    let interval = children(period, "timeInterval")
        .next()
        .ok_or_else(unreadable)?;
    let start = instant(text_of(interval, "start").ok_or_else(unreadable)?)?;
    let end = instant(text_of(interval, "end").ok_or_else(unreadable)?)?;
    let quarters = match text_of(period, "resolution") {
        Some("PT15M") => 1,
        Some("PT30M") => 2,
        Some("PT60M" | "PT1H") => 4,
        _ => return Err(unreadable()),
    };
    let mut given: BTreeMap<i32, f64> = BTreeMap::new();
    for point in children(period, "Point") {
        let position = text_of(point, "position").and_then(|text| text.parse().ok());
        let quantity = text_of(point, "quantity")
            .and_then(|text| text.parse().ok())
            .filter(|quantity: &f64| quantity.is_finite());
        let (Some(position), Some(quantity)) = (position, quantity) else {
            return Err(unreadable());
        };
        given.insert(position, quantity);
    }
    let mut current = None;
    for quarter in 0.. {
        let at = start.checked_add_signed(QUARTER * quarter);
        let Some(at) = at.filter(|at| *at < end) else {
            break;
        };
        *left = left.checked_sub(1).ok_or_else(unreadable)?;
        current = given.get(&(quarter / quarters + 1)).copied().or(current);
        if let Some(megawatts) = current {
            mixes.entry(at).or_default().add(fuel, megawatts);
        }
    }
    Ok(())
}

fn children<'a, 'd>(node: Node<'a, 'd>, name: &'static str) -> impl Iterator<Item = Node<'a, 'd>> {
    node.children()
        .filter(move |child| child.is_element() && child.tag_name().name() == name)
}

fn text_of<'a>(node: Node<'a, '_>, name: &'static str) -> Option<&'a str> {
    children(node, name).next()?.text().map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AREA: &str = "10YFR-RTE------C";

    /// As many periods as this, each of a hundred days of quarters: 9600.
    fn answer(periods: usize) -> Result<Vec<Point>, Declined> {
        let period = "<Period><timeInterval><start>2024-01-01T00:00Z</start>\
            <end>2024-04-10T00:00Z</end></timeInterval><resolution>PT15M</resolution>\
            <Point><position>1</position><quantity>5</quantity></Point></Period>";
        let body = format!(
            "<GL_MarketDocument><TimeSeries>\
            <inBiddingZone_Domain.mRID>{AREA}</inBiddingZone_Domain.mRID>\
            <MktPSRType><psrType>B14</psrType></MktPSRType>{}</TimeSeries></GL_MarketDocument>",
            period.repeat(periods)
        );
        read(&"FR".parse().unwrap(), AREA, body.as_bytes())
    }

    #[test]
    fn an_answer_of_many_long_periods_is_unreadable_as_a_whole() {
        assert_eq!(answer(10).unwrap().len(), 9600);
        let unreadable = Declined::from(InvalidAnswer::Unreadable("XML"));
        assert_eq!(answer(11), Err(unreadable));
    }
}
