use std::ops::RangeBounds;

/// Parses a number that must lie in a range; the error is the rule.
pub(crate) fn within(text: &str, range: impl RangeBounds<f64>, rule: &str) -> Result<f64, String> {
    let number = text.trim().parse().ok();
    number
        .filter(|number| range.contains(number))
        .ok_or_else(|| rule.to_owned())
}
