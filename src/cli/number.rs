use std::ops::RangeBounds;

use super::bad_value::BadValue;

/// Parses a number that must lie in a range; the error is the rule.
pub(crate) fn within(
    text: &str,
    range: impl RangeBounds<f64>,
    rule: &'static str,
) -> Result<f64, BadValue> {
    checked(text.trim().parse().ok(), range, rule)
}

/// Parses a share of 1, or a percentage, that must lie in a range; the error is the rule.
pub(crate) fn fraction(
    text: &str,
    range: impl RangeBounds<f64>,
    rule: &'static str,
) -> Result<f64, BadValue> {
    let number = match text.trim().strip_suffix('%') {
        Some(percent) => percent
            .trim()
            .parse()
            .ok()
            .map(|percent: f64| percent / 100.0),
        None => text.trim().parse().ok(),
    };
    checked(number, range, rule)
}

fn checked(
    number: Option<f64>,
    range: impl RangeBounds<f64>,
    rule: &'static str,
) -> Result<f64, BadValue> {
    number
        .filter(|number| range.contains(number))
        .ok_or(BadValue::OutOfRange { rule })
}
