use std::fmt;

use serde::{Deserialize, Serialize};

/// How a figure was obtained.
#[derive(Debug, Clone, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Method {
    /// The difference of a hardware energy counter.
    Measured,
    /// Power samples of a sensor, integrated over time.
    Integrated {
        /// Seconds between two power samples, where known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        period_s: Option<f64>,
    },
    /// An estimate of a model.
    Estimated {
        /// What the model assumes.
        model: String,
    },
    /// Nothing is known.
    Absent {
        /// Why.
        why: String,
    },
}

impl Method {
    /// Whether a sensor measured the figure.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        matches!(self, Self::Measured | Self::Integrated { .. })
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Measured => f.write_str("measured by an energy counter"),
            Self::Integrated { period_s: Some(s) } => {
                write!(f, "measured as power every {s} s and integrated")
            }
            Self::Integrated { period_s: None } => f.write_str("measured as power and integrated"),
            Self::Estimated { model } => write!(f, "estimated: {model}"),
            Self::Absent { why } => write!(f, "absent: {why}"),
        }
    }
}
