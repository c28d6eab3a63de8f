/// A number as a person writes it: four significant digits, no exponent, no digits without meaning.
#[must_use]
pub fn human(value: f64) -> String {
    significant(value, 4)
}

/// A number with this many significant digits, without trailing zeros behind the point.
#[must_use]
pub fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let magnitude = value.abs().log10().floor() as i32;
    let decimals = (digits - 1 - magnitude).clamp(0, 20) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// An amount of money: cents, or as many digits as a smaller amount needs to be seen.
#[must_use]
pub fn money(value: f64) -> String {
    if value == 0.0 || value.abs() >= 0.1 {
        format!("{value:.2}")
    } else {
        significant(value, 2)
    }
}

/// A share as a percentage.
#[must_use]
pub fn percent(share: f64) -> String {
    let text = format!("{:.1}", share * 100.0);
    // 99.96 % is not all of it.
    match text.as_str() {
        "100.0" if share < 1.0 => ">99.9 %".to_owned(),
        "0.0" if share > 0.0 => "<0.1 %".to_owned(),
        _ => format!("{} %", text.trim_end_matches('0').trim_end_matches('.')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_kept_where_they_mean_something() {
        assert_eq!(human(0.034_879_628), "0.03488");
        assert_eq!(human(12345.67), "12346");
        assert_eq!(human(1.5), "1.5");
        assert_eq!(human(0.0), "0");
        assert_eq!(money(-0.001_234), "-0.0012");
        assert_eq!(money(12.345), "12.35");
        assert_eq!(percent(0.9996), ">99.9 %");
        assert_eq!(percent(1.0), "100 %");
        assert_eq!(percent(0.273), "27.3 %");
    }
}
