use chrono::{DateTime, Datelike, Days, NaiveDate, NaiveDateTime, TimeDelta, Utc, Weekday};

/// What clocks show on the US west coast, for the daylight-saving rule in force since 2007.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pass {
    /// The first time a wall clock shows a time.
    First,
    /// The second time, in the hour that is lived twice in November.
    Second,
}

const STANDARD: TimeDelta = TimeDelta::hours(8);
const DAYLIGHT: TimeDelta = TimeDelta::hours(7);

/// The instant a wall clock shows this time.
pub(super) fn to_utc(wall: NaiveDateTime, pass: Pass) -> Option<DateTime<Utc>> {
    let (starts, ends) = daylight(wall.year())?;
    let lived_twice = wall >= ends - TimeDelta::hours(1) && wall < ends;
    let daylight = wall >= starts && wall < ends && !(lived_twice && pass == Pass::Second);
    let offset = if daylight { DAYLIGHT } else { STANDARD };
    wall.checked_add_signed(offset).map(|time| time.and_utc())
}

/// The date a wall calendar shows at an instant.
pub(super) fn date(instant: DateTime<Utc>) -> Option<NaiveDate> {
    let standard = instant.naive_utc().checked_sub_signed(STANDARD)?;
    let (starts, ends) = daylight(standard.year())?;
    let daylight = standard >= starts && standard < ends - TimeDelta::hours(1);
    let wall = if daylight {
        standard.checked_add_signed(STANDARD - DAYLIGHT)?
    } else {
        standard
    };
    Some(wall.date())
}

/// From two o'clock on the second Sunday of March to two o'clock on the first Sunday of November.
fn daylight(year: i32) -> Option<(NaiveDateTime, NaiveDateTime)> {
    let sunday = |month, nth| {
        NaiveDate::from_weekday_of_month_opt(year, month, Weekday::Sun, nth)?.and_hms_opt(2, 0, 0)
    };
    Some((sunday(3, 2)?, sunday(11, 1)?))
}

/// The dates from one to another, both included.
pub(super) fn dates(first: NaiveDate, last: NaiveDate) -> impl Iterator<Item = NaiveDate> {
    std::iter::successors(Some(first), |date| date.checked_add_days(Days::new(1)))
        .take_while(move |date| *date <= last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wall(text: &str) -> NaiveDateTime {
        text.parse().unwrap()
    }

    fn utc(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test]
    fn summer_is_seven_hours_behind_and_winter_eight() {
        assert_eq!(
            to_utc(wall("2025-07-01T12:00:00"), Pass::First),
            Some(utc("2025-07-01T19:00:00Z"))
        );
        assert_eq!(
            to_utc(wall("2025-12-01T12:00:00"), Pass::First),
            Some(utc("2025-12-01T20:00:00Z"))
        );
    }

    #[test]
    fn the_hour_lived_twice_is_two_hours() {
        let half_past_one = wall("2025-11-02T01:30:00");
        assert_eq!(
            to_utc(half_past_one, Pass::First),
            Some(utc("2025-11-02T08:30:00Z"))
        );
        assert_eq!(
            to_utc(half_past_one, Pass::Second),
            Some(utc("2025-11-02T09:30:00Z"))
        );
        assert_eq!(
            to_utc(wall("2025-11-02T02:00:00"), Pass::First),
            Some(utc("2025-11-02T10:00:00Z"))
        );
    }

    #[test]
    fn a_day_begins_at_local_midnight() {
        let day = |text: &str| date(text.parse().unwrap()).unwrap().to_string();
        assert_eq!(day("2025-07-01T06:59:00Z"), "2025-06-30");
        assert_eq!(day("2025-07-01T07:00:00Z"), "2025-07-01");
        assert_eq!(day("2025-12-01T07:59:00Z"), "2025-11-30");
        assert_eq!(day("2025-12-01T08:00:00Z"), "2025-12-01");
        assert_eq!(day("2025-11-02T08:30:00Z"), "2025-11-02");
    }
}
