use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use regex::Regex;

use crate::grid::data::device::Kind;
use crate::units::Relation;

/// What a value of the hardware must be.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Expectation {
    /// Equal to this text.
    Exact(String),
    /// `~` and a regular expression that must match somewhere.
    Regex(Regex),
    /// With `*` or `?`.
    Glob(glob::Pattern),
    /// A version or count, such as `>=535`.
    Version(Relation, String),
}

/// A text that is not an expectation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadExpectation {
    /// After `~`.
    #[error("`{}` is not a regular expression: {why}", .text.escape_debug())]
    Regex {
        /// The expression.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// With `*` or `?`.
    #[error("`{}` is not a glob: {why}", .text.escape_debug())]
    Glob {
        /// The pattern.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// After a comparison sign.
    #[error("`{}` is not a version such as >=535", .0.escape_debug())]
    Version(String),
}

impl Expectation {
    /// Whether a device is as expected; an exact name may be any name of that device.
    #[must_use]
    pub fn is_met_by_device(&self, kind: Kind, name: &str) -> bool {
        match self {
            Self::Exact(wanted) => self.is_met_by(name) || kind.includes(wanted, name),
            _ => self.is_met_by(name),
        }
    }

    /// Whether a value is as expected.
    #[must_use]
    pub fn is_met_by(&self, value: &str) -> bool {
        let value = value.trim();
        match self {
            Self::Exact(wanted) => value == wanted,
            Self::Regex(pattern) => pattern.is_match(value),
            Self::Glob(pattern) => pattern.matches(value),
            Self::Version(relation, wanted) => relation.holds(compare(value, wanted)),
        }
    }
}

/// Compares versions number by number; a missing number counts as 0.
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
                // After a drawing of the expression.
                let why = why.lines().last().unwrap_or_default().trim();
                BadExpectation::Regex {
                    text: pattern.to_owned(),
                    // The message is several lines long; its last line says what is wrong.
                    why: why.trim_start_matches("error: ").to_owned(),
                }
            });
        }
        if let Some(("", relation, version)) = Relation::split(text) {
            if numbers(version).is_empty() {
                return Err(BadExpectation::Version(text.to_owned()));
            }
            return Ok(Self::Version(relation, version.to_owned()));
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
            Self::Version(relation, version) => write!(f, "{relation}{version}"),
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
