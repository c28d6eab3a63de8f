//! Quantities with their unit in the type; only arithmetic that makes physical sense.
//!
//! What is added up ([`Energy`], [`GramsCo2e`], [`Hours`]) is an integer count of 1e-18 of the unit
//! people read (kWh, kg, h). Integers add up to the same total in any order, and a total printed in
//! kWh is exactly the sum of the printed parts. What is only multiplied ([`Watts`],
//! [`GramsPerKwh`]) is a finite, non-negative `f64`.

pub mod moments;
mod money;
pub mod span;

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul};
use std::str::FromStr;
use std::time::Duration;

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use money::{Bill, PricePerKwh, Usd, UsdPerTonne};

/// A number that cannot be the quantity it was given for.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{value} is not a valid {quantity}: {rule}")]
pub struct OutOfRange {
    quantity: &'static str,
    value: String,
    rule: &'static str,
}

impl OutOfRange {
    fn new(quantity: &'static str, value: impl fmt::Display, rule: &'static str) -> Self {
        Self {
            quantity,
            value: value.to_string(),
            rule,
        }
    }
}

const DECIMALS: u32 = 18;
const ONE: u128 = 10u128.pow(DECIMALS);
/// The most a single record may claim, in kWh, kg or h; 2^40 such records still add up exactly.
const LARGEST: f64 = 1e8;

fn to_grid(quantity: &'static str, value: f64) -> Result<u128, OutOfRange> {
    if !value.is_finite() || value < 0.0 {
        return Err(OutOfRange::new(
            quantity,
            value,
            "it must be finite and not negative",
        ));
    }
    if value > LARGEST {
        return Err(OutOfRange::new(
            quantity,
            value,
            "it is larger than any experiment",
        ));
    }
    Ok((value * ONE as f64).round() as u128)
}

/// An exact decimal number, printed without rounding and without trailing zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exact {
    count: i128,
    decimals: u32,
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

/// Exact numbers stay exact in JSON, the one format they are serialised to.
impl Serialize for Exact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::value::RawValue::from_string(self.to_string())
            .map_err(serde::ser::Error::custom)?
            .serialize(serializer)
    }
}

macro_rules! additive {
    ($(#[$doc:meta])* $name:ident, $quantity:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[must_use]
        pub struct $name(u128);

        impl $name {
            pub const ZERO: Self = Self(0);

            /// The quantity in the unit people read, to the last digit kept.
            #[must_use]
            pub fn exact(self) -> Exact {
                Exact {
                    count: self.0.try_into().unwrap_or(i128::MAX),
                    decimals: DECIMALS,
                }
            }

            fn rim(self) -> f64 {
                self.exact().value()
            }

            fn from_rim(value: f64) -> Result<Self, OutOfRange> {
                to_grid($quantity, value).map(Self)
            }

            /// What remains when `other` is taken away, or nothing if that is more.
            pub fn saturating_sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }
        }

        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }
        }

        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }

        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
                parts.fold(Self::ZERO, Add::add)
            }
        }
    };
}

additive!(
    /// Energy, kept exactly in steps of 1e-18 kWh (3.6 pJ).
    Energy,
    "energy"
);
additive!(
    /// Mass of CO2-equivalent, kept exactly in steps of 1e-18 kg.
    GramsCo2e,
    "mass of CO2eq"
);
additive!(
    /// Time that adds up over runs, processes or devices, kept exactly in steps of 1e-18 h.
    Hours,
    "time"
);

pub(crate) const JOULES_PER_KWH: f64 = 3.6e6;
pub(crate) const SECONDS_PER_HOUR: f64 = 3600.0;

impl Energy {
    pub fn from_joules(joules: f64) -> Result<Self, OutOfRange> {
        Self::from_rim(joules / JOULES_PER_KWH)
    }

    pub fn from_kwh(kwh: f64) -> Result<Self, OutOfRange> {
        Self::from_rim(kwh)
    }

    /// A counter difference: any number of microjoules a 64-bit counter can hold.
    pub fn from_microjoules(microjoules: u64) -> Self {
        // 1 uJ is 1/3.6 of 1e-12 kWh.
        Self((u128::from(microjoules) * 10_000_000 + 18) / 36)
    }

    #[must_use]
    pub fn joules(self) -> f64 {
        self.rim() * JOULES_PER_KWH
    }

    #[must_use]
    pub fn kwh(self) -> f64 {
        self.rim()
    }
}

impl GramsCo2e {
    pub fn from_grams(grams: f64) -> Result<Self, OutOfRange> {
        Self::from_rim(grams / 1000.0)
    }

    #[must_use]
    pub fn grams(self) -> f64 {
        self.rim() * 1000.0
    }

    #[must_use]
    pub fn kg(self) -> f64 {
        self.rim()
    }
}

impl Hours {
    pub fn from_seconds(seconds: f64) -> Result<Self, OutOfRange> {
        Self::from_rim(seconds / SECONDS_PER_HOUR)
    }

    #[must_use]
    pub fn seconds(self) -> f64 {
        self.rim() * SECONDS_PER_HOUR
    }

    #[must_use]
    pub fn hours(self) -> f64 {
        self.rim()
    }
}

macro_rules! intensive {
    ($(#[$doc:meta])* $name:ident, $quantity:literal, $largest:expr, $rule:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
        #[must_use]
        pub struct $name(f64);

        impl $name {
            pub fn new(value: f64) -> Result<Self, OutOfRange> {
                if value.is_finite() && (0.0..=$largest).contains(&value) {
                    Ok(Self(value))
                } else {
                    Err(OutOfRange::new($quantity, value, $rule))
                }
            }

            #[must_use]
            pub fn get(self) -> f64 {
                self.0
            }
        }

        impl FromStr for $name {
            type Err = OutOfRange;
            fn from_str(text: &str) -> Result<Self, OutOfRange> {
                text.trim()
                    .parse()
                    .map_err(|_| OutOfRange::new($quantity, format_args!("`{}`", text.escape_debug()), "it must be a number"))
                    .and_then(Self::new)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_f64(self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::new(f64::deserialize(deserializer)?).map_err(serde::de::Error::custom)
            }
        }
    };
}

intensive!(
    /// Power.
    Watts,
    "power in watts",
    1e9,
    "it must lie between 0 and 1e9 W"
);
intensive!(
    /// How dirty electricity is, in grams of CO2-equivalent per kWh.
    GramsPerKwh,
    "carbon intensity in g/kWh",
    3000.0,
    "it must lie between 0 and 3000 g/kWh"
);

impl Mul<Duration> for Watts {
    type Output = Energy;
    fn mul(self, time: Duration) -> Energy {
        Energy::from_joules((self.0 * time.as_secs_f64()).min(LARGEST * JOULES_PER_KWH))
            .expect("both factors are finite and not negative")
    }
}

impl Mul<GramsPerKwh> for Energy {
    type Output = GramsCo2e;
    fn mul(self, intensity: GramsPerKwh) -> GramsCo2e {
        GramsCo2e((self.0 as f64 * (intensity.0 / 1000.0)).round() as u128)
    }
}

/// Power usage effectiveness: what the data centre draws for each unit the machines draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[must_use]
pub struct Pue(Decimal);

impl Pue {
    const MILLIONTHS: u32 = 6;

    /// The default of experiment-impact-tracker: the global average of the 2018 Uptime survey.
    pub fn global_average() -> Self {
        Self(Decimal::new(158, 2))
    }

    pub fn new(value: Decimal) -> Result<Self, OutOfRange> {
        if (Decimal::ONE..=Decimal::TEN).contains(&value)
            && value.normalize().scale() <= Self::MILLIONTHS
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

    #[must_use]
    pub fn get(self) -> f64 {
        self.0.to_f64().expect("a PUE is between 1 and 10")
    }

    fn scale(self, amount: u128) -> u128 {
        let one = 10u128.pow(Self::MILLIONTHS);
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
            .map(|value| value.round_dp(Self::MILLIONTHS))
            .ok_or_else(|| serde::de::Error::custom("a PUE must be finite"))
            .and_then(|value| Self::new(value).map_err(serde::de::Error::custom))
    }
}

impl Mul<Pue> for Energy {
    type Output = Self;
    fn mul(self, pue: Pue) -> Self {
        Self(pue.scale(self.0))
    }
}

/// The overhead of the building goes with the electricity, so mass scales as energy does.
impl Mul<Pue> for GramsCo2e {
    type Output = Self;
    fn mul(self, pue: Pue) -> Self {
        Self(pue.scale(self.0))
    }
}

/// A number of things, as people say it.
pub(crate) fn counted<N: Copy + fmt::Display + PartialEq + From<u8>>(
    number: N,
    noun: &str,
) -> String {
    let ending = if number == N::from(1) { "" } else { "s" };
    format!("{number} {noun}{ending}")
}

/// 1234567 as 1,234,567.
#[must_use]
pub fn grouped(digits: &str) -> String {
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_grouped() {
        assert_eq!(
            (grouped("5"), grouped("1234567")),
            ("5".to_owned(), "1,234,567".to_owned())
        );
    }

    #[test]
    fn sums_do_not_depend_on_order() {
        let parts: Vec<Energy> = (1..=1000)
            .map(|n| Energy::from_joules(1.0 / f64::from(n)).unwrap())
            .collect();
        let forward: Energy = parts.iter().copied().sum();
        let backward: Energy = parts.iter().rev().copied().sum();
        assert_eq!(forward, backward);
    }

    #[test]
    fn a_kwh_of_microjoules_is_a_kwh() {
        assert_eq!(
            Energy::from_microjoules(3_600_000_000_000)
                .exact()
                .to_string(),
            "1"
        );
        assert_eq!(Energy::from_joules(3.6e6).unwrap().kwh(), 1.0);
        assert_eq!(Energy::from_microjoules(36).joules(), 36e-6);
    }

    #[test]
    fn energy_that_cannot_be_is_refused() {
        for joules in [f64::NAN, f64::INFINITY, -1.0, 1e300] {
            assert!(Energy::from_joules(joules).is_err(), "{joules}");
        }
        assert!(Watts::new(-0.1).is_err());
        assert!(GramsPerKwh::new(3000.1).is_err());
        assert!("0.9".parse::<Pue>().is_err());
    }

    #[test]
    fn pue_scales_energy_exactly() {
        let pue: Pue = "1.58".parse().unwrap();
        assert_eq!(
            (Energy::from_kwh(1.0).unwrap() * pue).exact().to_string(),
            "1.58"
        );
    }

    #[test]
    fn watts_for_a_time_are_joules_and_joules_at_an_intensity_are_grams() {
        let energy = Watts::new(1000.0).unwrap() * Duration::from_secs(3600);
        assert_eq!(energy.kwh(), 1.0);
        let mass = energy * GramsPerKwh::new(250.0).unwrap();
        assert_eq!(mass.exact().to_string(), "0.25");
    }

    #[test]
    fn a_negative_social_cost_keeps_its_sign_and_digits() {
        let cost =
            GramsCo2e::from_grams(500_000.0).unwrap() * "-0.0727".parse::<UsdPerTonne>().unwrap();
        assert_eq!(cost.exact().to_string(), "-0.03635");
    }
}
