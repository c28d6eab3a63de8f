//! Figures of the yearly table that a reader should doubt.

use serde::Deserialize;

use super::FLAGS;

/// A reason to doubt the yearly figure of a zone.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Flag {
    /// The zone of the yearly table.
    pub zone: String,
    /// What is doubtful.
    pub kind: FlagKind,
    /// The figures compared, in words.
    pub detail: String,
}

/// What is doubtful about a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FlagKind {
    /// The same figure in every year: an estimate.
    Constant,
    /// The newest year is far from the one before.
    Jump,
    /// More than 30 % from Ember's figure for the country.
    Ember,
}

/// The reasons to doubt the figures of a zone of the yearly table; none for most zones.
#[must_use]
pub fn of(zone: &str) -> Vec<Flag> {
    let mut flags = FLAGS.rows::<Flag>();
    flags.retain(|flag| flag.zone == zone);
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_far_from_ember_or_constant_is_flagged() {
        let kinds = |zone| {
            of(zone)
                .into_iter()
                .map(|flag| flag.kind)
                .collect::<Vec<_>>()
        };
        assert_eq!(kinds("TM"), [FlagKind::Constant, FlagKind::Ember]);
        assert_eq!(kinds("KE"), [FlagKind::Ember, FlagKind::Jump]);
        assert_eq!(kinds("DE"), []);
    }
}
