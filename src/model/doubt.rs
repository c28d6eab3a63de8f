use std::fmt;

use serde::{Deserialize, Serialize};

/// A reason to doubt a figure: another source or another year disagrees with it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Doubt {
    /// What is doubtful.
    pub kind: DoubtKind,
    /// The figures compared, in words.
    pub detail: String,
}

/// What is doubtful about a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DoubtKind {
    /// The same figure in every year: an estimate.
    Constant,
    /// The newest year is far from the one before.
    Jump,
    /// More than 30 % from Ember's figure for the country.
    Ember,
}

impl Doubt {
    /// A doubt of this kind about these figures.
    #[must_use]
    pub fn new(kind: DoubtKind, detail: String) -> Self {
        Self { kind, detail }
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self.kind {
            DoubtKind::Constant => "an estimate, not data",
            DoubtKind::Jump => "doubtful, as the newest year is far from the one before",
            DoubtKind::Ember => "differs from Ember by more than 30 %",
        };
        write!(f, "{words}: {}", self.detail)
    }
}
