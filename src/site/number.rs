//! Numbers as a reader wants them.

use super::statistic::Statistic;
use crate::units::{SECONDS_PER_HOUR, grouped};

const SIGNIFICANT: i32 = 4;

/// Four significant digits; whole thousands are kept and grouped.
pub(super) fn show(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = value.abs().log10().floor() as i32;
    if !(-4..9).contains(&magnitude) {
        return scientific(value);
    }
    with_decimals(value, (SIGNIFICANT - 1 - magnitude).max(0) as usize)
}

/// A mean to the digits its error leaves, and the error to two digits: `0.23982 ± 0.00019`.
pub(super) fn show_statistic(statistic: &Statistic) -> (String, Option<String>) {
    let Some(error) = statistic.stderr else {
        return (show(statistic.mean), None);
    };
    let magnitude = error.log10().floor();
    if !(-8.0..9.0).contains(&magnitude) || statistic.mean.abs() >= 1e9 {
        return (show(statistic.mean), Some(show(error)));
    }
    let decimals = (1 - magnitude as i32).max(0) as usize;
    (
        with_decimals(statistic.mean, decimals),
        Some(with_decimals(error, decimals)),
    )
}

/// Bytes in the unit that leaves a small number.
pub(super) fn show_bytes(bytes: f64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let mut value = bytes;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    if unit == 0 {
        format!("{value:.0} B")
    } else {
        format!("{value:.1} {}", UNITS[unit])
    }
}

/// A length of time in the two units that matter.
pub(super) fn show_duration(hours: f64) -> String {
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

fn scientific(value: f64) -> String {
    let text = format!("{value:.3e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let raised: String = exponent
        .chars()
        .map(|c| match c {
            '-' => '⁻',
            '0' => '⁰',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            '4' => '⁴',
            '5' => '⁵',
            '6' => '⁶',
            '7' => '⁷',
            '8' => '⁸',
            _ => '⁹',
        })
        .collect();
    format!("{} × 10{raised}", digits.replace('-', "−"))
}

fn with_decimals(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (text.as_str(), None),
    };
    let mut out = String::new();
    if value < 0.0 && text.bytes().any(|b| (b'1'..=b'9').contains(&b)) {
        out.push('−');
    }
    // Four digits are read at a glance.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_digits_are_enough_for_a_reader() {
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
            assert_eq!(show(value), text);
        }
    }

    #[test]
    fn a_mean_has_the_digits_its_error_leaves() {
        let shown = |mean, stderr| {
            show_statistic(&Statistic {
                mean,
                stderr,
                sum: 0.0,
                n: 2,
            })
        };
        assert_eq!(
            shown(0.239_822, Some(0.000_187)),
            ("0.23982".into(), Some("0.00019".into()))
        );
        assert_eq!(shown(71.48, Some(49.95)), ("71".into(), Some("50".into())));
        assert_eq!(shown(18.085, None), ("18.09".into(), None));
        assert_eq!(shown(3.0, Some(0.0)), ("3.000".into(), Some("0".into())));
    }

    #[test]
    fn bytes_and_hours_are_shown_in_their_own_size() {
        assert_eq!(show_bytes(68_260_939.0), "68.3 MB");
        assert_eq!(show_duration(1.6714), "1 h 40 min");
        assert_eq!(show_duration(0.01), "36 s");
        assert_eq!(show_duration(100.5), "4 d 4 h");
    }
}
