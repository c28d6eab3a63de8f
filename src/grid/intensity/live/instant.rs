use chrono::{DateTime, Utc};

use crate::grid::intensity::{Declined, InvalidAnswer};
use crate::units::parse_instant;

/// A time as services write it.
pub(super) fn instant(text: &str) -> Result<DateTime<Utc>, Declined> {
    parse_instant(text).ok_or_else(|| InvalidAnswer::Unreadable("time").into())
}
