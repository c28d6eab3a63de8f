use std::fmt;

use serde::Serialize;

/// What is counted: the life cycle of the plants, their stacks alone, or what one more kWh causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Basis {
    LifeCycle,
    Direct,
    /// Answers another question than the average of the grid, so it is only used when named.
    Marginal,
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::LifeCycle => "life cycle",
            Self::Direct => "direct",
            Self::Marginal => "marginal",
        })
    }
}
