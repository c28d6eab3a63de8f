use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::{Basis, Period, Series};
use crate::grid::zone::ZoneId;
use crate::units::OutOfRange;

/// Something that knows how dirty the electricity of a zone is over a period.
pub trait IntensityProvider: Send + Sync {
    /// The name it is chosen by on the command line.
    fn name(&self) -> &'static str;

    /// What its values count.
    fn basis(&self) -> Basis;

    /// The intensities of a zone over a period, or why there are none.
    fn intensity(&self, zone: &ZoneId, period: &Period) -> Result<Series, Declined>;

    /// The newest values it has; grids publish up to a few hours late.
    fn latest(&self, zone: &ZoneId, now: DateTime<Utc>) -> Result<Series, Declined> {
        self.intensity(zone, &Period::until(now, TimeDelta::hours(6)))
    }
}

/// Why a provider did not answer; never holds a token or an address with one in it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Declined {
    #[error("no token: set {0}")]
    NoToken(&'static str),
    #[error("it does not serve the zone {0}")]
    NotServed(ZoneId),
    #[error("it has no values for this period")]
    NoValues,
    #[error("it cannot be reached")]
    Offline,
    #[error("it did not answer within {} s", .0.as_secs_f64())]
    Timeout(Duration),
    #[error("it asks to be left alone for a while (HTTP 429)")]
    RateLimited,
    #[error("it refused the token (HTTP {0})")]
    Refused(u16),
    #[error("it answered with HTTP status {0}")]
    Status(u16),
    #[error("the address in {variable} cannot be used: it must be https, or http on this machine")]
    BadAddress { variable: &'static str },
    #[error("it answered with nonsense")]
    Nonsense(#[from] Nonsense),
}

/// What was wrong with an answer that came.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Nonsense {
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    #[error("it answered about another zone than {0}")]
    OtherZone(ZoneId),
    #[error("a web page instead of data")]
    WebPage,
    #[error("more than {0} bytes")]
    TooLarge(u64),
    #[error("not the documented {0}")]
    Unreadable(&'static str),
}

impl From<OutOfRange> for Declined {
    fn from(error: OutOfRange) -> Self {
        Self::Nonsense(Nonsense::OutOfRange(error))
    }
}

impl Declined {
    /// Whether asking again in a while may help.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Offline | Self::Timeout(_) | Self::RateLimited => true,
            Self::Status(status) => *status >= 500,
            _ => false,
        }
    }

    /// The reason with its cause, in one line.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::Nonsense(nonsense) => format!("{self}: {nonsense}"),
            _ => self.to_string(),
        }
    }
}
