use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A name of a phase or a unit has at most this many bytes.
pub const LONGEST_NAME: usize = 512;
/// A mark has at most this many counts.
pub const MOST_COUNTS: usize = 16;
/// No count is larger.
pub const LARGEST_COUNT: f64 = 1e18;

/// A boundary of a phase, or work that was done, set by `impact mark`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Mark {
    /// The name of the phase; empty where `edge` is [`Edge::Count`].
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// What begins or ends.
    pub edge: Edge,
    /// Tells occurrences of a name that overlap from each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<u64>,
    /// Seconds since the start of the run; none if it is the time of the sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed: Option<f64>,
    /// Work done since the last count, by unit, such as `tokens`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub count: BTreeMap<String, f64>,
}

/// Whether a mark opens a phase, closes it, or only names an instant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edge {
    /// The phase starts.
    Start,
    /// The phase ends.
    End,
    /// A phase starts that lasts until the next such mark.
    #[default]
    Point,
    /// No phase starts or ends; only work is counted.
    Count,
}

/// Why a mark is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadMark {
    /// The phase has no name, or a longer one, or a count has one.
    #[error("a phase has a name of 1 to {LONGEST_NAME} bytes")]
    Name,
    /// A unit has no name, or a longer one.
    #[error("a unit has a name of 1 to {LONGEST_NAME} bytes")]
    Unit,
    /// There are more counts.
    #[error("a mark has at most {MOST_COUNTS} counts")]
    Counts,
    /// A count is negative or too large.
    #[error("a count is a number from 0 to 1e18")]
    Count,
}

impl Mark {
    /// A mark without counts.
    #[must_use]
    pub fn new(name: impl Into<String>, edge: Edge) -> Self {
        Self {
            name: name.into(),
            edge,
            ..Self::default()
        }
    }

    /// Whether it opens or closes a phase at the instant of its sample.
    pub(crate) fn is_boundary_of_sample(&self) -> bool {
        self.elapsed.is_none() && self.edge != Edge::Count
    }

    /// Checks what others have written.
    ///
    /// # Errors
    ///
    /// If a name has no or too many characters, or a count is none.
    pub fn check(&self) -> Result<(), BadMark> {
        let is_name = |name: &str| (1..=LONGEST_NAME).contains(&name.len());
        if is_name(&self.name) == (self.edge == Edge::Count) {
            return Err(BadMark::Name);
        }
        if self.count.len() > MOST_COUNTS {
            return Err(BadMark::Counts);
        }
        for (unit, count) in &self.count {
            if !is_name(unit) {
                return Err(BadMark::Unit);
            }
            if !(0.0..=LARGEST_COUNT).contains(count) {
                return Err(BadMark::Count);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(count: &str) -> Result<(), BadMark> {
        let text = format!("{{\"edge\":\"count\",\"count\":{count}}}");
        serde_json::from_str::<Mark>(&text).unwrap().check()
    }

    #[test]
    fn a_mark_without_counts_is_written_as_name_and_edge() {
        let mark = Mark::new("train", Edge::Start);
        let text = serde_json::to_string(&mark).unwrap();
        assert_eq!(text, r#"{"name":"train","edge":"start"}"#);
        assert_eq!(serde_json::from_str::<Mark>(&text).unwrap(), mark);
    }

    #[test]
    fn only_names_and_counts_that_can_be_are_taken() {
        assert_eq!(Mark::new("x", Edge::End).check(), Ok(()));
        assert_eq!(Mark::new("", Edge::End).check(), Err(BadMark::Name));
        assert_eq!(Mark::new("x", Edge::Count).check(), Err(BadMark::Name));
        let long = Mark::new("x".repeat(LONGEST_NAME + 1), Edge::Point);
        assert_eq!(long.check(), Err(BadMark::Name));
        assert_eq!(counted(r#"{"tokens":4096.5}"#), Ok(()));
        assert_eq!(counted(r#"{"tokens":-1}"#), Err(BadMark::Count));
        assert_eq!(counted(r#"{"tokens":1e300}"#), Err(BadMark::Count));
        assert_eq!(counted(r#"{"":1}"#), Err(BadMark::Unit));
        let units: Vec<String> = (0..=MOST_COUNTS).map(|n| format!("\"{n}\":1")).collect();
        let units = format!("{{{}}}", units.join(","));
        assert_eq!(counted(&units), Err(BadMark::Counts));
    }
}
