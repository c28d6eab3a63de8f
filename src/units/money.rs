use std::fmt;
use std::ops::Mul;
use std::str::FromStr;

use rust_decimal::Decimal;
use serde::Deserialize;

use super::sum::DECIMALS;
use super::{Energy, Exact, GramsCo2e, OutOfRange};

/// A price with a fixed number of decimals, so that an amount times a price is exact too.
fn fixed(quantity: &'static str, decimals: u32, text: &str) -> Result<i64, OutOfRange> {
    let refuse = |rule| OutOfRange::new(quantity, format_args!("`{}`", text.escape_debug()), rule);
    let mut value: Decimal = text
        .trim()
        .parse()
        .map_err(|_| refuse("it must be a decimal number"))?;
    value = value.normalize();
    if value.scale() > decimals || value.abs() > Decimal::from(1_000_000) {
        return Err(refuse("it has too many digits"));
    }
    value.rescale(decimals);
    i64::try_from(value.mantissa()).map_err(|_| refuse("it has too many digits"))
}

/// US dollars per tonne of CO2; may be negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
#[must_use]
pub struct UsdPerTonne(i64);

impl UsdPerTonne {
    const DECIMALS: u32 = 4;
    /// A kg is 10^-3 tonnes.
    const DECIMALS_PER_KG: u32 = Self::DECIMALS + 3;
}

impl FromStr for UsdPerTonne {
    type Err = OutOfRange;
    fn from_str(text: &str) -> Result<Self, OutOfRange> {
        fixed("social cost in USD per tonne", Self::DECIMALS, text).map(Self)
    }
}

impl TryFrom<String> for UsdPerTonne {
    type Error = OutOfRange;
    fn try_from(text: String) -> Result<Self, OutOfRange> {
        text.parse()
    }
}

impl fmt::Display for UsdPerTonne {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Decimal::new(self.0, Self::DECIMALS).normalize().fmt(f)
    }
}

/// An exact amount of money; the caller knows the currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Money(Exact);

impl Money {
    /// `count` steps of 10^-18 of a unit, at a price in steps of 10^-`decimals`.
    fn of(count: u128, price: i64, decimals: u32) -> Self {
        let count = i128::try_from(count).unwrap_or(i128::MAX);
        Self(Exact {
            count: count.saturating_mul(i128::from(price)),
            decimals: DECIMALS + decimals,
        })
    }

    /// All digits.
    #[must_use]
    pub fn exact(self) -> Exact {
        self.0
    }

    /// The nearest `f64`.
    #[must_use]
    pub fn amount(self) -> f64 {
        self.0.value()
    }
}

impl Mul<UsdPerTonne> for GramsCo2e {
    type Output = Money;
    fn mul(self, cost: UsdPerTonne) -> Money {
        Money::of(self.0, cost.0, UsdPerTonne::DECIMALS_PER_KG)
    }
}

/// The price of a kWh; the caller knows the currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[must_use]
pub struct PricePerKwh(i64);

impl PricePerKwh {
    const DECIMALS: u32 = 6;
}

impl FromStr for PricePerKwh {
    type Err = OutOfRange;
    fn from_str(text: &str) -> Result<Self, OutOfRange> {
        let price = fixed("price per kWh", Self::DECIMALS, text)?;
        if price < 0 {
            return Err(OutOfRange::new(
                "price per kWh",
                text,
                "it must not be negative",
            ));
        }
        Ok(Self(price))
    }
}

impl fmt::Display for PricePerKwh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Decimal::new(self.0, Self::DECIMALS).normalize().fmt(f)
    }
}

impl Mul<PricePerKwh> for Energy {
    type Output = Money;
    fn mul(self, price: PricePerKwh) -> Money {
        Money::of(self.0, price.0, PricePerKwh::DECIMALS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negative_social_cost_keeps_its_sign_and_digits() {
        let cost =
            GramsCo2e::from_grams(500_000.0).unwrap() * "-0.0727".parse::<UsdPerTonne>().unwrap();
        assert_eq!(cost.exact().to_string(), "-0.03635");
    }
}
