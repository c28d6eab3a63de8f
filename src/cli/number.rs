use std::ops::RangeBounds;

/// A number of the command line that must lie in a range, or else the rule it breaks.
pub(crate) fn within(text: &str, range: impl RangeBounds<f64>, rule: &str) -> Result<f64, String> {
    let number = text.trim().parse().ok();
    number
        .filter(|number| range.contains(number))
        .ok_or_else(|| rule.to_owned())
}
