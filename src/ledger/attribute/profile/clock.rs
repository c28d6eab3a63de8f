use crate::log::row::parse_number;

/// Nanoseconds from 1970 to 2000; smaller times do not count from 1970.
const YEAR_2000: i64 = 946_684_800_000_000_000;
/// Larger times are no times: in the year 2096, or 126 years long.
const LATEST: i64 = 4_000_000_000_000_000_000;

/// Whether times of a profile are those of the clock on the wall.
pub(in crate::ledger::attribute) fn is_since_1970(first: i64) -> bool {
    first >= YEAR_2000
}

/// A decimal number in nanoseconds, given how many of them are one of its unit; none if it is no time.
///
/// Microseconds since 1970 have more digits than an `f64`, so integers are not rounded.
pub(super) fn nanoseconds(text: &[u8], unit: i64) -> Option<i64> {
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let whole = digits
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let (whole, rest) = digits.split_at(whole);
    let decimals = match rest {
        [] => &[][..],
        [b'.', decimals @ ..] if decimals.iter().all(u8::is_ascii_digit) => decimals,
        _ => return rounded(parse_number(text)?, unit),
    };
    if whole.is_empty() {
        return None;
    }
    let mut time = 0i64;
    for digit in whole {
        time = time.checked_mul(10)?.checked_add(i64::from(digit - b'0'))?;
    }
    time = time.checked_mul(unit)?;
    let mut value = unit;
    for digit in decimals {
        value /= 10;
        time = time.checked_add(i64::from(digit - b'0') * value)?;
    }
    (time <= LATEST).then_some(if is_negative { -time } else { time })
}

/// A number of units in nanoseconds; none if it is no time.
pub(super) fn rounded(value: f64, unit: i64) -> Option<i64> {
    let time = (value * unit as f64).round();
    (time.abs() <= LATEST as f64).then_some(time as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_to_the_nanosecond() {
        let micro = |text: &str| nanoseconds(text.as_bytes(), 1000);
        assert_eq!(
            micro("1700000000123456.789"),
            Some(1_700_000_000_123_456_789)
        );
        assert_eq!(micro("-1.5"), Some(-1500));
        assert_eq!(micro("2.0004"), Some(2000));
        assert_eq!(micro("1e3"), Some(1_000_000));
        assert_eq!(nanoseconds(b"0.25", 1_000_000_000), Some(250_000_000));
        let base = nanoseconds(b"1700000000000000001", 1);
        assert_eq!(base, Some(1_700_000_000_000_000_001));
        for text in [
            "",
            "-",
            "NaN",
            "Infinity",
            "1e300",
            "9999999999999999999",
            "\"1\"",
            "1.x",
            "null",
        ] {
            assert_eq!(micro(text), None, "{text}");
        }
    }
}
