use chrono::{DateTime, NaiveDateTime, Utc};

use crate::grid::intensity::{Declined, Nonsense};

/// A time as services write it, in UTC: RFC 3339, or without seconds, minutes or zone.
pub(super) fn instant(text: &str) -> Result<DateTime<Utc>, Declined> {
    if let Ok(exact) = DateTime::parse_from_rfc3339(text) {
        return Ok(exact.to_utc());
    }
    let bare = text.strip_suffix('Z').unwrap_or(text);
    let padded = format!("{bare}:00");
    [bare, &padded]
        .into_iter()
        .flat_map(|text| ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M"].map(|form| (text, form)))
        .find_map(|(text, form)| NaiveDateTime::parse_from_str(text, form).ok())
        .map(|time| time.and_utc())
        .ok_or_else(|| Nonsense::Unreadable("time").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_service_s_way_to_write_noon_is_noon() {
        let noon: DateTime<Utc> = "2026-01-20T12:00:00Z".parse().unwrap();
        for text in [
            "2026-01-20T12:00:00.000Z",
            "2026-01-20T12:00:00+00:00",
            "2026-01-20T12:00Z",
            "2026-01-20T12:00:00",
            "2026-01-20T12:00",
            "2026-01-20T12",
        ] {
            assert_eq!(instant(text), Ok(noon), "{text}");
        }
        assert!(instant("yesterday").is_err());
    }
}
