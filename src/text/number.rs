//! Numbers as people read them: one function for each style.

// Pages of a site have styles of their own.
#![cfg_attr(not(feature = "site"), allow(dead_code))]

use std::fmt;

use crate::units::SECONDS_PER_HOUR;

const SIGNIFICANT: i32 = 4;

/// Four significant digits in ASCII, without exponent or trailing zeros: `0.03488`, `12346`.
#[must_use]
pub fn human(value: f64) -> String {
    significant(value, SIGNIFICANT)
}

/// Work that was counted: four significant digits, whole numbers with all of theirs and `,` between thousands.
#[must_use]
pub(crate) fn work(count: f64) -> String {
    let text = human(count);
    if text.len() > 4 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        grouped(&text)
    } else {
        text
    }
}

/// This many significant digits in ASCII, without exponent or trailing zeros.
fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let decimals = (digits - 1 - magnitude(value)).clamp(0, 20) as usize;
    without_trailing_zeros(&format!("{value:.decimals$}")).to_owned()
}

/// An amount of money: two decimals, or two significant digits where it is less than 0.1.
#[must_use]
pub(crate) fn money(value: f64) -> String {
    if value == 0.0 || value.abs() >= 0.1 {
        format!("{value:.2}")
    } else {
        significant(value, 2)
    }
}

/// A share of 1 in percent: `27.3 %`.
#[must_use]
pub(crate) fn percent(share: f64) -> String {
    let text = format!("{:.1}", share * 100.0);
    // 99.96 % must not be shown as all of it.
    match text.as_str() {
        "100.0" if share < 1.0 => ">99.9 %".to_owned(),
        "0.0" if share > 0.0 => "<0.1 %".to_owned(),
        _ => format!("{} %", without_trailing_zeros(&text)),
    }
}

/// A number of which two digits say enough, without decimals from 10 on: `0.048`, `9.5`, `151`.
#[must_use]
pub(crate) fn rough(value: f64) -> String {
    if value.abs() >= 10.0 {
        return format!("{value:.0}");
    }
    significant(value, 2)
}

/// A change in percent, with its sign: `+47`, `-3.2`.
#[must_use]
pub(crate) fn change(share: f64) -> String {
    let text = rough(share * 100.0);
    if share > 0.0 {
        format!("+{text}")
    } else {
        text
    }
}

/// A p-value with two significant digits: `0.031`, and `3.2e-8` where it is less than 0.001.
#[must_use]
pub(crate) fn p_value(p: f64) -> String {
    if p == 0.0 || p >= 0.000_995 {
        return significant(p, 2);
    }
    let text = format!("{p:.1e}");
    text.replace(".0e", "e")
}

/// Four significant digits for a page, with `,` between thousands, `−` and `× 10⁻⁵`.
#[must_use]
pub(crate) fn typeset(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = magnitude(value);
    if !(-4..9).contains(&magnitude) {
        return scientific(value);
    }
    typeset_decimals(value, (SIGNIFICANT - 1 - magnitude).max(0) as usize)
}

/// A mean with as many digits as its standard error allows, and the error with two: `0.23982`, `0.00019`.
#[must_use]
pub(crate) fn typeset_mean(mean: f64, standard_error: Option<f64>) -> (String, Option<String>) {
    let Some(error) = standard_error else {
        return (typeset(mean), None);
    };
    let magnitude = error.log10().floor();
    if !(-8.0..9.0).contains(&magnitude) || mean.abs() >= 1e9 {
        return (typeset(mean), Some(typeset(error)));
    }
    let decimals = (1 - magnitude as i32).max(0) as usize;
    (
        typeset_decimals(mean, decimals),
        Some(typeset_decimals(error, decimals)),
    )
}

/// This many decimals for a page; thousands are separated from five digits on.
fn typeset_decimals(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (text.as_str(), None),
    };
    let mut out = minus_sign(value, &text).to_owned();
    if whole.len() > 4 {
        out.push_str(&grouped(whole));
    } else {
        out.push_str(whole);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// A typographic minus for a negative value; none where all its digits are rounded to 0.
pub(crate) fn minus_sign(value: f64, digits: &str) -> &'static str {
    let is_zero = !digits.bytes().any(|b| (b'1'..=b'9').contains(&b));
    if value < 0.0 && !is_zero { "−" } else { "" }
}

fn scientific(value: f64) -> String {
    let text = format!("{value:.3e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let superscript = |c: char| match c.to_digit(10) {
        Some(digit) => ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][digit as usize],
        None => '⁻',
    };
    let exponent: String = exponent.chars().map(superscript).collect();
    format!("{} × 10{exponent}", digits.replace('-', "−"))
}

/// An amount of data in the unit that leaves at most three digits before the point: `68.3 MB`.
#[must_use]
pub(crate) fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1000.0;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// A length of time in its two largest units: `1 h 40 min`.
#[must_use]
pub(crate) fn duration(hours: f64) -> String {
    let seconds = (hours * SECONDS_PER_HOUR).round() as u64;
    let (h, m, s) = (seconds / 3600, seconds % 3600 / 60, seconds % 60);
    match (h, m) {
        (0, 0) if seconds == 0 => format!("{:.2} s", hours * SECONDS_PER_HOUR),
        (0, 0) => format!("{s} s"),
        (0, m) => format!("{m} min {s} s"),
        (h, m) if h < 48 => format!("{h} h {m} min"),
        (h, _) => format!("{} d {} h", h / 24, h % 24),
    }
}

/// A number with its noun: `1 run`, `2 runs`.
pub(crate) fn counted<N: Copy + fmt::Display + PartialEq + From<u8>>(
    number: N,
    noun: &str,
) -> String {
    let ending = if number == N::from(1) { "" } else { "s" };
    format!("{number} {noun}{ending}")
}

/// Digits with `,` between thousands: `1,234,567`.
#[must_use]
pub(crate) fn grouped(digits: &str) -> String {
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The power of ten of the first significant digit.
fn magnitude(value: f64) -> i32 {
    value.abs().log10().floor() as i32
}

pub(super) fn without_trailing_zeros(digits: &str) -> &str {
    if digits.contains('.') {
        digits.trim_end_matches('0').trim_end_matches('.')
    } else {
        digits
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
        assert_eq!(work(2000.0), "2000");
        assert_eq!(work(11_500_000.0), "11,500,000");
        assert_eq!(work(0.5), "0.5");
        assert_eq!(money(-0.001_234), "-0.0012");
        assert_eq!(money(12.345), "12.35");
        assert_eq!(percent(0.9996), ">99.9 %");
        assert_eq!(percent(1.0), "100 %");
        assert_eq!(percent(0.273), "27.3 %");
    }

    #[test]
    fn a_small_p_value_has_an_exponent() {
        for (p, text) in [
            (1.0, "1"),
            (0.031_4, "0.031"),
            (0.001, "0.001"),
            (0.000_99, "9.9e-4"),
            (3.21e-8, "3.2e-8"),
            (1e-6, "1e-6"),
            (0.0, "0"),
        ] {
            assert_eq!(p_value(p), text);
        }
    }

    #[test]
    fn a_change_has_a_sign_and_two_digits() {
        assert_eq!(change(0.512), "+51");
        assert_eq!(change(-0.0321), "-3.2");
        assert_eq!(change(0.0), "0");
        assert_eq!(change(1.514), "+151");
        assert_eq!(rough(0.047_9), "0.048");
    }

    #[test]
    fn thousands_are_separated() {
        assert_eq!(
            (grouped("5"), grouped("1234567")),
            ("5".to_owned(), "1,234,567".to_owned())
        );
    }

    #[test]
    fn a_page_shows_four_significant_digits() {
        for (value, text) in [
            (0.0, "0"),
            (0.239_821, "0.2398"),
            (71.478, "71.48"),
            (-101.494, "−101.5"),
            (9439.7, "9440"),
            (123_456.7, "123,457"),
            (0.000_012_34, "1.234 × 10⁻⁵"),
            (2.5e12, "2.500 × 10¹²"),
        ] {
            assert_eq!(typeset(value), text);
        }
    }

    #[test]
    fn a_mean_has_the_digits_its_error_leaves() {
        assert_eq!(
            typeset_mean(0.239_822, Some(0.000_187)),
            ("0.23982".into(), Some("0.00019".into()))
        );
        assert_eq!(
            typeset_mean(71.48, Some(49.95)),
            ("71".into(), Some("50".into()))
        );
        assert_eq!(typeset_mean(18.085, None), ("18.09".into(), None));
        assert_eq!(
            typeset_mean(3.0, Some(0.0)),
            ("3.000".into(), Some("0".into()))
        );
    }

    #[test]
    fn bytes_and_hours_are_shown_in_a_fitting_unit() {
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(68_260_939), "68.3 MB");
        assert_eq!(duration(1.6714), "1 h 40 min");
        assert_eq!(duration(0.01), "36 s");
        assert_eq!(duration(100.5), "4 d 4 h");
    }
}
