use std::fmt;

use serde::{Serialize, Serializer};

/// An exact decimal number, printed without rounding and without trailing zeros.
///
/// ```
/// use impact::units::Energy;
///
/// let sum = Energy::from_kwh(0.1).unwrap() + Energy::from_kwh(0.2).unwrap();
/// assert_eq!(sum.exact().to_string(), "0.3");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exact {
    /// How many steps of 10^-`decimals`.
    pub(super) count: i128,
    pub(super) decimals: u32,
}

impl Exact {
    /// The nearest `f64`.
    #[must_use]
    pub fn value(self) -> f64 {
        let one = 10i128.pow(self.decimals);
        (self.count / one) as f64 + (self.count % one) as f64 / one as f64
    }
}

impl fmt::Display for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = 10u128.pow(self.decimals);
        let (whole, part) = (
            self.count.unsigned_abs() / one,
            self.count.unsigned_abs() % one,
        );
        let sign = if self.count < 0 { "-" } else { "" };
        if part == 0 {
            return write!(f, "{sign}{whole}");
        }
        let digits = format!("{part:0width$}", width = self.decimals as usize);
        write!(f, "{sign}{whole}.{}", digits.trim_end_matches('0'))
    }
}

/// Written as a JSON number with all its digits; other formats are not supported.
impl Serialize for Exact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::value::RawValue::from_string(self.to_string())
            .map_err(serde::ser::Error::custom)?
            .serialize(serializer)
    }
}
