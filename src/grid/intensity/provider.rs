use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::{Basis, Period, Series};
use crate::grid::zone::ZoneId;
use crate::units::OutOfRange;

/// A source of carbon intensities of a zone over a period.
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

/// Why a provider did not answer; never contains a token or an address with one in it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Declined {
    /// The service needs a token, which is read from this variable.
    #[error("no token: set {0}")]
    NoToken(&'static str),
    /// The service has no data for this zone.
    #[error("it does not serve the zone {0}")]
    NotServed(ZoneId),
    /// The service has no values for the period.
    #[error("it has no values for this period")]
    NoValues,
    /// The service cannot be reached.
    #[error("it cannot be reached")]
    Offline,
    /// The answer was not complete within this time.
    #[error("it did not answer within {} s", .0.as_secs_f64())]
    Timeout(Duration),
    /// The service got too many requests.
    #[error("it received too many requests (HTTP 429)")]
    RateLimited,
    /// The service refused the token with this HTTP status.
    #[error("it refused the token (HTTP {0})")]
    Refused(u16),
    /// The service answered with this HTTP status.
    #[error("it answered with HTTP status {0}")]
    Status(u16),
    /// The address of the service was set to one that cannot be used.
    #[error("the address in {variable} cannot be used: it must be https, or http on this machine")]
    BadAddress {
        /// The variable it was set by.
        variable: &'static str,
    },
    /// The answer cannot be used.
    #[error("it answered with nonsense")]
    InvalidAnswer(#[from] InvalidAnswer),
}

/// What was wrong with an answer that came.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidAnswer {
    /// A value is impossible.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// The answer is about another zone than this one.
    #[error("it answered about another zone than {0}")]
    OtherZone(ZoneId),
    /// The answer is a web page.
    #[error("a web page instead of data")]
    WebPage,
    /// The answer is larger than this many bytes.
    #[error("more than {0} bytes")]
    TooLarge(u64),
    /// The answer does not have the documented form of this part.
    #[error("not the documented {0}")]
    Unreadable(&'static str),
}

impl From<OutOfRange> for Declined {
    fn from(error: OutOfRange) -> Self {
        Self::InvalidAnswer(InvalidAnswer::OutOfRange(error))
    }
}

impl Declined {
    /// Whether asking again later may help.
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
            Self::InvalidAnswer(nonsense) => format!("{self}: {nonsense}"),
            _ => self.to_string(),
        }
    }
}
