use std::fmt;
use std::str::FromStr;

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::OutOfRange;

/// Power usage effectiveness: the energy of the data centre divided by the energy of its machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[must_use]
pub struct Pue(Decimal);

impl Pue {
    const DECIMALS: u32 = 6;

    /// No overhead: all energy goes to the machines.
    pub const ONE: Self = Self(Decimal::ONE);

    /// 1.58, the global average of the 2018 Uptime survey and the default of
    /// experiment-impact-tracker.
    pub fn of_experiment_impact_tracker() -> Self {
        Self(Decimal::new(158, 2))
    }

    /// Fails outside of 1 to 10, or with more than six decimals.
    pub fn new(value: Decimal) -> Result<Self, OutOfRange> {
        if (Decimal::ONE..=Decimal::TEN).contains(&value)
            && value.normalize().scale() <= Self::DECIMALS
        {
            Ok(Self(value.normalize()))
        } else {
            Err(OutOfRange::new(
                "PUE",
                value,
                "it must lie between 1 and 10, with at most six decimals",
            ))
        }
    }

    /// The plain number.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0.to_f64().expect("a PUE is between 1 and 10")
    }

    /// An amount times the PUE, rounded to a whole step.
    pub(super) fn scale(self, amount: u128) -> u128 {
        let one = 10u128.pow(Self::DECIMALS);
        let millionths = (self.0 * Decimal::from(one as u64))
            .to_u128()
            .expect("a PUE is between 1 and 10");
        match amount.checked_mul(millionths) {
            Some(product) => (product + one / 2) / one,
            None => (amount / one).saturating_mul(millionths),
        }
    }
}

impl fmt::Display for Pue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Pue {
    type Err = OutOfRange;
    fn from_str(text: &str) -> Result<Self, OutOfRange> {
        text.trim()
            .parse()
            .map_err(|_| {
                OutOfRange::new(
                    "PUE",
                    format_args!("`{}`", text.escape_debug()),
                    "it must be a decimal number such as 1.58",
                )
            })
            .and_then(Self::new)
    }
}

impl Serialize for Pue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.get())
    }
}

impl<'de> Deserialize<'de> for Pue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?;
        Decimal::from_f64_retain(value)
            .map(|value| value.round_dp(Self::DECIMALS))
            .ok_or_else(|| serde::de::Error::custom("a PUE must be finite"))
            .and_then(|value| Self::new(value).map_err(serde::de::Error::custom))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Energy;
    use super::*;

    #[test]
    fn a_pue_scales_energy_exactly() {
        let pue: Pue = "1.58".parse().unwrap();
        assert_eq!(
            (Energy::from_kwh(1.0).unwrap() * pue).exact().to_string(),
            "1.58"
        );
    }

    #[test]
    fn a_pue_below_one_is_refused() {
        assert!("0.9".parse::<Pue>().is_err());
    }
}
