use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The name of a zone of the electricity map, such as `US-CA` or `DK-DK1`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ZoneId(String);

/// Text that cannot be the name of a zone.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("`{}` is not a zone name: expected letters and digits joined by `-`, such as US-CA", .0.escape_debug())]
pub struct NotAZone(pub(crate) String);

impl ZoneId {
    /// The name in capital letters.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The country code the name starts with, such as `US` of `US-CA`.
    #[must_use]
    pub fn country_prefix(&self) -> &str {
        self.0.split('-').next().unwrap_or_default()
    }
}

impl FromStr for ZoneId {
    type Err = NotAZone;
    fn from_str(text: &str) -> Result<Self, NotAZone> {
        let name = text.trim();
        let plausible = (2..=32).contains(&name.len())
            && name
                .split('-')
                .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric()));
        if plausible {
            Ok(Self(name.to_ascii_uppercase()))
        } else {
            Err(NotAZone(text.to_owned()))
        }
    }
}

impl TryFrom<String> for ZoneId {
    type Error = NotAZone;
    fn try_from(text: String) -> Result<Self, NotAZone> {
        text.parse()
    }
}

impl From<ZoneId> for String {
    fn from(zone: ZoneId) -> Self {
        zone.0
    }
}

impl fmt::Display for ZoneId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
