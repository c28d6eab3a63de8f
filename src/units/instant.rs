use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};

/// A date or time as people and services write it; in UTC unless it says otherwise.
///
/// Besides RFC 3339 the seconds, the minutes and the time of day may be missing.
pub(crate) fn parse_instant(text: &str) -> Option<DateTime<Utc>> {
    let text = text.trim();
    if let Ok(exact) = DateTime::parse_from_rfc3339(text) {
        return Some(exact.to_utc());
    }
    if let Ok(date) = text.parse::<NaiveDate>() {
        return Some(date.and_time(NaiveTime::MIN).and_utc());
    }
    let bare = text.strip_suffix('Z').unwrap_or(text).replacen(' ', "T", 1);
    // chrono has no form for an hour without minutes.
    [bare.clone(), format!("{bare}:00")]
        .iter()
        .flat_map(|text| ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M"].map(|form| (text, form)))
        .find_map(|(text, form)| NaiveDateTime::parse_from_str(text, form).ok())
        .map(|time| time.and_utc())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_noon_is_noon() {
        let noon: DateTime<Utc> = "2026-01-20T12:00:00Z".parse().unwrap();
        for text in [
            "2026-01-20T12:00:00.000Z",
            "2026-01-20T12:00:00+00:00",
            "2026-01-20T14:00:00+02:00",
            "2026-01-20T12:00Z",
            "2026-01-20T12:00:00",
            "2026-01-20T12:00",
            "2026-01-20 12:00",
            "2026-01-20T12",
        ] {
            assert_eq!(parse_instant(text), Some(noon), "{text}");
        }
        assert_eq!(parse_instant("yesterday"), None);
    }

    #[test]
    fn a_date_is_its_first_instant() {
        let midnight = "2026-01-20T00:00:00Z".parse().ok();
        assert_eq!(parse_instant("2026-01-20"), midnight);
    }
}
