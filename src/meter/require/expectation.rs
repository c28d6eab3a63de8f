use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use regex::Regex;

/// What a value should be: the same, like a pattern, or a version at least or at most.
#[derive(Debug, Clone)]
pub enum Expectation {
    Exact(String),
    /// `~` and a regular expression that must match somewhere.
    Regex(Regex),
    /// With `*` or `?`.
    Glob(glob::Pattern),
    /// Such as `>=535`.
    Version(Sign, String),
}

/// How a version is held against another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    AtLeast,
    AtMost,
    Above,
    Below,
    Equal,
}

/// Text that is no expectation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadExpectation {
    #[error("`{}` is not a regular expression: {why}", .text.escape_debug())]
    Regex { text: String, why: String },
    #[error("`{}` is not a glob: {why}", .text.escape_debug())]
    Glob { text: String, why: String },
    #[error("`{}` is not a version such as >=535", .0.escape_debug())]
    Version(String),
}

/// Longer signs first, so that `>=` is not read as `>`.
const SIGNS: [(&str, Sign); 5] = [
    (">=", Sign::AtLeast),
    ("<=", Sign::AtMost),
    (">", Sign::Above),
    ("<", Sign::Below),
    ("=", Sign::Equal),
];

impl Expectation {
    #[must_use]
    pub fn is_met_by(&self, value: &str) -> bool {
        let value = value.trim();
        match self {
            Self::Exact(wanted) => value == wanted,
            Self::Regex(pattern) => pattern.is_match(value),
            Self::Glob(pattern) => pattern.matches(value),
            Self::Version(sign, wanted) => {
                let order = compare(value, wanted);
                match sign {
                    Sign::AtLeast => order != Ordering::Less,
                    Sign::AtMost => order != Ordering::Greater,
                    Sign::Above => order == Ordering::Greater,
                    Sign::Below => order == Ordering::Less,
                    Sign::Equal => order == Ordering::Equal,
                }
            }
        }
    }
}

/// Number by number; of what is not there, nought is taken.
fn compare(a: &str, b: &str) -> Ordering {
    let (a, b) = (numbers(a), numbers(b));
    let at = |numbers: &[u64], index: usize| numbers.get(index).copied().unwrap_or(0);
    (0..a.len().max(b.len()))
        .map(|index| at(&a, index).cmp(&at(&b, index)))
        .find(|order| *order != Ordering::Equal)
        .unwrap_or(Ordering::Equal)
}

fn numbers(version: &str) -> Vec<u64> {
    version
        .split(|c: char| !c.is_ascii_digit())
        .filter(|digits| !digits.is_empty())
        .map(|digits| digits.parse().unwrap_or(u64::MAX))
        .collect()
}

impl FromStr for Expectation {
    type Err = BadExpectation;
    fn from_str(text: &str) -> Result<Self, BadExpectation> {
        let text = text.trim();
        if let Some(pattern) = text.strip_prefix('~') {
            let pattern = pattern.trim().trim_matches('"');
            return Regex::new(pattern).map(Self::Regex).map_err(|error| {
                let why = error.to_string();
                BadExpectation::Regex {
                    text: pattern.to_owned(),
                    // The library draws a picture; its last line says what is wrong.
                    why: why.lines().last().unwrap_or_default().trim().to_owned(),
                }
            });
        }
        if let Some((sign, version)) = SIGNS
            .iter()
            .find_map(|(sign, meaning)| Some((*meaning, text.strip_prefix(sign)?.trim())))
        {
            if numbers(version).is_empty() {
                return Err(BadExpectation::Version(text.to_owned()));
            }
            return Ok(Self::Version(sign, version.to_owned()));
        }
        if text.contains(['*', '?']) {
            return glob::Pattern::new(text).map(Self::Glob).map_err(|error| {
                BadExpectation::Glob {
                    text: text.to_owned(),
                    why: error.to_string(),
                }
            });
        }
        Ok(Self::Exact(text.to_owned()))
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(text) => f.write_str(text),
            Self::Regex(pattern) => write!(f, "~{pattern}"),
            Self::Glob(pattern) => write!(f, "{pattern}"),
            Self::Version(sign, version) => {
                let sign = SIGNS.iter().find(|(_, known)| known == sign);
                write!(f, "{}{version}", sign.map_or("", |(text, _)| text))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_patterns_and_versions_are_told_apart() {
        for (expectation, value, met) in [
            ("TITAN V", "TITAN V", true),
            ("TITAN V", "TITAN Xp", false),
            ("~Xeon.*2630", "Intel(R) Xeon(R) CPU E5-2630 v4", true),
            ("~\"Xeon.*2630\"", "Intel(R) Xeon(R) CPU E5-2630 v4", true),
            ("NVIDIA A100*", "NVIDIA A100-SXM4-80GB", true),
            ("NVIDIA A100*", "NVIDIA H100", false),
            (">=535", "535.104.05", true),
            (">=535.105", "535.104.05", false),
            ("<550", "535.104.05", true),
            (">4", "4", false),
            ("=535.0", "535", true),
            ("4", "4", true),
        ] {
            let parsed: Expectation = expectation.parse().unwrap();
            assert_eq!(parsed.is_met_by(value), met, "{expectation} of {value}");
        }
    }

    #[test]
    fn what_is_no_expectation_says_why() {
        let error = |text: &str| text.parse::<Expectation>().unwrap_err().to_string();
        assert!(error("~(").contains("unclosed group"), "{}", error("~("));
        assert!(error(">=new").contains("not a version"));
        assert!(error("a***b").contains("not a glob"));
    }
}
