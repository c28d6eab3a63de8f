//! The country of a machine by the time zone of its clock.

use std::path::Path;

use serde::Deserialize;

use super::Iso3;
use super::detect::Roots;
use crate::files;
use crate::grid::data;

/// Longer names are those of no time zone.
const LONGEST: usize = 64;
/// The folder of the zones' files, in the links that lead to them.
const DATABASE: &str = "zoneinfo/";

/// A time zone that lies in one country. UTC and the like lie in none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeZone {
    /// Such as Europe/Berlin.
    pub name: String,
    /// The country.
    pub country: Iso3,
}

#[derive(Deserialize)]
struct Row {
    time_zone: String,
    iso2: String,
}

impl TimeZone {
    /// The time zone of the machine's clock: that of the system, else that of this process (TZ).
    ///
    /// None where it tells no country, as that of most servers and containers does not: it is UTC.
    #[must_use]
    pub fn of_machine(roots: &Roots) -> Option<Self> {
        Self::of_link(&roots.etc.join("localtime"))
            .or_else(|| Self::of_file(&roots.etc.join("timezone")))
            .or_else(|| Self::called(roots.environment.get("TZ")?))
    }

    fn of_link(link: &Path) -> Option<Self> {
        Self::called(std::fs::read_link(link).ok()?.to_str()?)
    }

    fn of_file(file: &Path) -> Option<Self> {
        const LARGEST: u64 = 4096;
        Self::called(&files::read_text(file, LARGEST).ok()?)
    }

    /// The time zone of this name, or in the file that this path leads to.
    fn called(text: &str) -> Option<Self> {
        let text = text.trim().trim_start_matches(':');
        let name = text.rsplit_once(DATABASE).map_or(text, |(_, name)| name);
        let name = name.strip_prefix("posix/").unwrap_or(name);
        let name = name.strip_prefix("right/").unwrap_or(name);
        if name.len() > LONGEST {
            return None;
        }
        let rows = data::TIME_ZONES.rows::<Row>();
        let row = rows.into_iter().find(|row| row.time_zone == name)?;
        Some(Self {
            country: Iso3::from_iso2(&row.iso2)?,
            name: row.time_zone,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn country(text: &str) -> Option<String> {
        TimeZone::called(text).map(|zone| zone.country.to_string())
    }

    #[test]
    fn a_time_zone_is_in_a_country_however_it_is_written() {
        for (text, expected) in [
            ("Europe/Berlin", "DEU"),
            ("Europe/Oslo", "NOR"),
            (":America/New_York", "USA"),
            ("/usr/share/zoneinfo/America/Argentina/Salta", "ARG"),
            ("../usr/share/zoneinfo/right/Asia/Tokyo", "JPN"),
            ("US/Pacific", "USA"),
            ("Asia/Calcutta\n", "IND"),
            ("Iceland", "ISL"),
        ] {
            assert_eq!(country(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn utc_and_the_times_of_many_countries_tell_nothing() {
        for text in [
            "UTC",
            "Etc/UTC",
            "GMT",
            "Etc/GMT-1",
            "CET",
            "EST5EDT",
            "CET-1CEST",
            "",
            "localtime",
            "../../etc/passwd",
            "/etc/localtime",
        ] {
            assert_eq!(country(text), None, "{text}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_clock_of_the_system_is_asked_before_that_of_the_process() {
        let folder = tempfile::tempdir().unwrap();
        let etc = folder.path();
        let found = |tz: &str| {
            let roots = Roots {
                sys: etc.join("sys"),
                run: etc.join("run"),
                etc: etc.to_owned(),
                environment: [("TZ", tz)].into_iter().collect(),
            };
            TimeZone::of_machine(&roots).map(|zone| zone.name)
        };
        assert_eq!(found("UTC"), None);
        assert_eq!(found("Asia/Tokyo").as_deref(), Some("Asia/Tokyo"));
        std::fs::write(etc.join("timezone"), "Europe/Rome\n").unwrap();
        assert_eq!(found("Asia/Tokyo").as_deref(), Some("Europe/Rome"));
        let link = |target: &str| {
            let _ = std::fs::remove_file(etc.join("localtime"));
            std::os::unix::fs::symlink(target, etc.join("localtime")).unwrap();
        };
        link("/usr/share/zoneinfo/Europe/Berlin");
        assert_eq!(found("Asia/Tokyo").as_deref(), Some("Europe/Berlin"));
        link("/usr/share/zoneinfo/Etc/UTC");
        std::fs::remove_file(etc.join("timezone")).unwrap();
        assert_eq!(found("Asia/Tokyo").as_deref(), Some("Asia/Tokyo"));
    }
}
