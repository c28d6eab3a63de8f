use std::fmt;
use std::str::FromStr;

use super::{NotAZone, ZoneId};

/// A zone, or the part of an American zone that lies in one state: `FR`, `US-PJM:VA`.
///
/// States matter because those of one 2019 zone belong to different balancing areas today.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AreaId {
    /// The zone.
    pub zone: ZoneId,
    /// The two letters of the American state; none for the whole zone.
    pub state: Option<String>,
}

impl AreaId {
    /// As people say it: `FR`, `US-CA`, `US-PJM (VA)`.
    #[must_use]
    pub fn label(&self) -> String {
        match &self.state {
            Some(state) if self.zone.as_str().strip_prefix("US-") != Some(state) => {
                format!("{} ({state})", self.zone)
            }
            _ => self.zone.to_string(),
        }
    }
}

impl From<ZoneId> for AreaId {
    fn from(zone: ZoneId) -> Self {
        Self { zone, state: None }
    }
}

impl FromStr for AreaId {
    type Err = NotAZone;
    fn from_str(text: &str) -> Result<Self, NotAZone> {
        match text.split_once(':') {
            None => Ok(Self::from(text.parse::<ZoneId>()?)),
            Some((zone, state))
                if state.len() == 2 && state.bytes().all(|b| b.is_ascii_alphabetic()) =>
            {
                Ok(Self {
                    zone: zone.parse()?,
                    state: Some(state.to_ascii_uppercase()),
                })
            }
            Some(_) => Err(NotAZone(text.to_owned())),
        }
    }
}

impl fmt::Display for AreaId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.state {
            None => self.zone.fmt(f),
            Some(state) => write!(f, "{}:{state}", self.zone),
        }
    }
}
