use std::str::FromStr;
use std::time::Duration;

use super::SECONDS_PER_HOUR;

/// A length of time as people write it: `1s`, `100ms`, `2m`, `1.5h`, `0.5`.
///
/// ```
/// use std::time::Duration;
///
/// use impact::units::Span;
///
/// assert_eq!("1.5h".parse::<Span>(), Ok(Span(Duration::from_secs(5400))));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span(pub Duration);

/// A text that is not a length of time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a length of time such as 1s, 100ms or 2m", .0.escape_debug())]
pub struct NotASpan(String);

impl FromStr for Span {
    type Err = NotASpan;
    fn from_str(text: &str) -> Result<Self, NotASpan> {
        let trimmed = text.trim();
        let letters = trimmed.find(|c: char| c.is_ascii_alphabetic());
        let (number, unit) = trimmed.split_at(letters.unwrap_or(trimmed.len()));
        let seconds = match unit {
            "ms" => 1e-3,
            "" | "s" => 1.0,
            "m" | "min" => 60.0,
            "h" => SECONDS_PER_HOUR,
            _ => return Err(NotASpan(text.to_owned())),
        };
        number
            .trim()
            .parse::<f64>()
            .ok()
            .filter(|number| *number > 0.0)
            .and_then(|number| Duration::try_from_secs_f64(number * seconds).ok())
            .filter(|span| !span.is_zero())
            .map(Self)
            .ok_or_else(|| NotASpan(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_as_people_write_them() {
        let millis = |text: &str| text.parse::<Span>().map(|span| span.0.as_millis());
        assert_eq!(millis("1s"), Ok(1000));
        assert_eq!(millis("100ms"), Ok(100));
        assert_eq!(millis("0.5"), Ok(500));
        assert_eq!(millis("1.5 h"), Ok(5_400_000));
        for bad in ["", "s", "-1s", "0", "1x", "nan", "1e400"] {
            assert!(millis(bad).is_err(), "{bad}");
        }
    }
}
