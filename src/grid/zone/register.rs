//! The zones by name: the 2019 map's, every country, and the finer ones that only newer intensities know.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

use serde::Deserialize;

use super::fold::fold;
use super::{AreaId, Iso3, NotAZone, ZoneId, admin1};
use crate::grid::data;
use crate::model::info::Region;
use crate::text::nearest;

/// A zone of the electricity map.
#[derive(Debug, Clone, PartialEq)]
pub struct Zone {
    /// Its name in tables and on maps.
    pub id: ZoneId,
    /// What people call it.
    pub name: String,
    /// The country it lies in.
    pub country: Option<Iso3>,
    /// The next larger zone; none for a whole country.
    pub parent: Option<ZoneId>,
}

/// A name that is no zone's, with the most similar zones.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("no zone is called {asked}{}", nearest::said(.nearest))]
pub struct NoSuchZone {
    /// The name that was asked for.
    pub asked: ZoneId,
    /// The zones with the most similar names.
    pub nearest: Vec<String>,
}

#[derive(Deserialize)]
struct Row {
    zone: String,
    name: String,
    country: String,
    parent: String,
}

#[derive(Deserialize)]
struct Newer {
    zone: String,
    name: String,
}

/// Every zone by its name.
pub fn all() -> &'static BTreeMap<ZoneId, Zone> {
    static ZONES: OnceLock<BTreeMap<ZoneId, Zone>> = OnceLock::new();
    ZONES.get_or_init(|| {
        let mut zones = BTreeMap::new();
        for row in data::ZONES.rows::<Row>() {
            let id = known(&row.zone);
            let zone = Zone {
                id: id.clone(),
                name: row.name,
                country: Iso3::from_iso2(&row.country),
                parent: (!row.parent.is_empty()).then(|| known(&row.parent)),
            };
            zones.insert(id, zone);
        }
        for row in data::ELECTRICITY_MAPS.rows::<Newer>() {
            let id = known(&row.zone);
            zones.entry(id.clone()).or_insert_with(|| {
                let country = id.country_prefix().to_owned();
                Zone {
                    parent: (country != row.zone).then(|| known(&country)),
                    country: Iso3::from_iso2(&country),
                    name: row.name,
                    id,
                }
            });
        }
        zones
    })
}

fn known(name: &str) -> ZoneId {
    name.parse()
        .expect("zones in shipped tables are well named")
}

/// The zone of this name.
pub fn find(id: &ZoneId) -> Result<&'static Zone, NoSuchZone> {
    all().get(id).ok_or_else(|| NoSuchZone {
        asked: id.clone(),
        nearest: meant(id),
    })
}

/// The zone of this name, without a search for similar ones where there is none.
pub(super) fn find_known(id: &ZoneId) -> Option<&'static Zone> {
    all().get(id)
}

/// The area meant by a name: a zone, or an American state such as `US-VA` that the map knows as part of a zone.
pub fn find_area(id: &ZoneId) -> Result<AreaId, NoSuchZone> {
    if let Err(unknown) = find(id) {
        return id
            .as_str()
            .strip_prefix("US-")
            .and_then(|state| {
                let ending = format!(":{state}");
                data::CROSSWALK
                    .text()
                    .lines()
                    .filter_map(|line| line.split(',').next())
                    .find(|area| area.ends_with(&ending))
            })
            .and_then(|area| area.parse().ok())
            .ok_or(unknown);
    }
    Ok(AreaId::from(id.clone()))
}

/// The area in which a run was recorded to have taken place.
pub fn area_of(region: &Region) -> Result<AreaId, NoSuchZone> {
    match &region.state {
        Some(state) => Ok(AreaId {
            zone: region.zone.clone(),
            state: Some(state.clone()),
        }),
        None => find_area(&region.zone),
    }
}

/// The zone meant by text that a user typed: its code, an area as it is printed, or a country whose name no zone can have.
pub fn named(text: &str) -> Result<ZoneId, NotAZone> {
    let named = from_label(text.trim()).map_or_else(|| text.parse(), Ok);
    named.or_else(|wrong| {
        // A colon is the one of a zone and its part.
        let country = (!text.contains(':'))
            .then(|| Iso3::meant_by(text))
            .flatten();
        let country = country.and_then(of_country);
        country.map(|zone| zone.id.clone()).ok_or(wrong)
    })
}

/// A zone or American state of this name as it is, else the zone of the country of this name.
pub fn zone_or_country(id: &ZoneId) -> Result<ZoneId, NoSuchZone> {
    match find_area(id) {
        Ok(_) => Ok(id.clone()),
        Err(unknown) => {
            let country = Iso3::meant_by(id.as_str()).and_then(of_country);
            country.map(|zone| zone.id.clone()).ok_or(unknown)
        }
    }
}

/// The name of an area as it is printed, `US-PJM (VA)` or `US-PJM:VA`: that of its state, if it means
/// the same area.
fn from_label(text: &str) -> Option<ZoneId> {
    let (zone, state) = match text.strip_suffix(')') {
        Some(text) => text.split_once(" (")?,
        None => text.split_once(':')?,
    };
    let area: AreaId = format!("{zone}:{state}").parse().ok()?;
    let state: ZoneId = format!("US-{}", area.state.as_ref()?).parse().ok()?;
    // A balancing area, `US-NW-BPAT (OR)`, is a zone of its own.
    let balancing_area = area.zone.as_str().split('-').count() == 3 && find(&area.zone).is_ok();
    if find_area(&state).ok()? == area {
        Some(state)
    } else {
        balancing_area.then_some(area.zone)
    }
}

/// The zone of a whole country.
#[must_use]
pub fn of_country(country: Iso3) -> Option<&'static Zone> {
    all()
        .values()
        .find(|zone| zone.parent.is_none() && zone.country == Some(country))
}

/// The zones that may have been meant: that of the country or American state of this name, else those
/// with the most similar code or name.
fn meant(id: &ZoneId) -> Vec<String> {
    let asked = fold(id.as_str());
    if let Some(zone) = Iso3::called(&asked).and_then(of_country) {
        return vec![zone.to_string()];
    }
    if let Some((iso2, code)) = admin1::called(&asked).find(|(iso2, _)| *iso2 == "US")
        && let Some(state) = admin1::find(iso2, code)
        && find_area(&known(&format!("US-{code}"))).is_ok()
    {
        return vec![format!("US-{code} ({})", state.name)];
    }
    let zones = all()
        .values()
        .map(|zone| (zone, [fold(zone.id.as_str()), fold(&zone.name)]));
    nearest::among(&asked, zones)
        .into_iter()
        .map(Zone::to_string)
        .collect()
}

/// `US-CA (California)`.
impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.id, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_knows_its_country_and_its_parent() {
        let zone = find(&known("AUS-NSW")).unwrap();
        assert_eq!(zone.country.unwrap().as_str(), "AUS");
        assert_eq!(zone.parent.as_ref().unwrap().as_str(), "AU");
        assert!(find(&known("FR")).unwrap().parent.is_none());
    }

    #[test]
    fn every_parent_is_a_zone_and_every_zone_has_a_country() {
        for zone in all().values() {
            assert!(zone.country.is_some(), "{}", zone.id);
            if let Some(parent) = &zone.parent {
                assert!(all().contains_key(parent), "{} -> {parent}", zone.id);
            }
        }
    }

    #[test]
    fn a_state_is_found_inside_its_zone() {
        assert_eq!(find_area(&known("US-VA")).unwrap().to_string(), "US-PJM:VA");
        assert_eq!(
            find_area(&known("US-CAL-CISO")).unwrap().to_string(),
            "US-CAL-CISO"
        );
    }

    #[test]
    fn the_part_of_a_zone_is_read_as_it_is_printed() {
        let virginia = find_area(&known("US-VA")).unwrap();
        for text in [virginia.label(), virginia.to_string()] {
            let id = named(&text).unwrap();
            assert_eq!(find_area(&id).unwrap(), virginia, "{text}");
        }
        assert_eq!(named("US-NW-BPAT (OR)").unwrap(), known("US-NW-BPAT"));
        for wrong in [
            "US-CA (VA)",
            "US-PJM (",
            "US-PJM (V)",
            "FR:",
            ":",
            "US-PJM (VA",
        ] {
            assert!(named(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_unknown_zone_names_the_nearest() {
        assert!(
            find(&known("US-CAA"))
                .unwrap_err()
                .nearest
                .iter()
                .any(|n| n.starts_with("US-CA "))
        );
    }

    #[test]
    fn a_country_is_its_zone_however_it_is_called() {
        for (text, zone) in [
            ("Germany", "DE"),
            ("USA", "US"),
            ("United States", "US"),
            ("England", "GB"),
            ("deu", "DE"),
            ("CA", "CA"),
            ("US-VA", "US-VA"),
        ] {
            let meant = zone_or_country(&named(text).unwrap()).unwrap();
            assert_eq!(meant.as_str(), zone, "{text}");
        }
        assert!(zone_or_country(&known("GERMNY")).is_err());
    }

    #[test]
    fn a_country_or_state_by_name_gets_its_own_zone_suggested() {
        for (asked, meant) in [
            ("Germany", "DE (Germany)"),
            ("USA", "US (United States)"),
            ("UK", "GB (United Kingdom)"),
            ("Texas", "US-TX (Texas)"),
            ("Virginia", "US-VA (Virginia)"),
            ("Queensland", "AU-QLD (Queensland)"),
            ("Quebec", "CA-QC (Québec)"),
        ] {
            let nearest = find_area(&known(asked)).unwrap_err().nearest;
            assert_eq!(nearest[0], meant, "{asked}");
        }
    }
}
