//! Quantities that are added up, as an integer count of small steps.

use super::OutOfRange;

/// Digits kept after the decimal point of a kWh, a kg or an hour.
pub(super) const DECIMALS: u32 = 18;
const STEPS_PER_UNIT: f64 = 10u128.pow(DECIMALS) as f64;
/// The largest value of one record, in kWh, kg or h; 2^40 of them still add up exactly.
pub(super) const LARGEST: f64 = 1e8;

/// The number of steps nearest to a value in kWh, kg or h.
pub(super) fn steps(quantity: &'static str, value: f64) -> Result<u128, OutOfRange> {
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
    Ok((value * STEPS_PER_UNIT).round() as u128)
}

macro_rules! exact_sum {
    ($(#[$doc:meta])* $name:ident, $quantity:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[must_use]
        pub struct $name(pub(super) u128);

        impl $name {
            /// Nothing.
            pub const ZERO: Self = Self(0);

            /// All digits, in the unit that is printed: kWh, kg or h.
            #[must_use]
            pub fn exact(self) -> $crate::units::Exact {
                $crate::units::Exact {
                    count: self.0.try_into().unwrap_or(i128::MAX),
                    decimals: $crate::units::sum::DECIMALS,
                }
            }

            fn in_unit(self) -> f64 {
                self.exact().value()
            }

            fn from_unit(value: f64) -> Result<Self, $crate::units::OutOfRange> {
                $crate::units::sum::steps($quantity, value).map(Self)
            }

            /// The difference, or zero where `other` is larger.
            pub fn saturating_sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }
        }

        impl std::ops::Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }
        }

        impl std::ops::AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }

        impl std::iter::Sum for $name {
            fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
                parts.fold(Self::ZERO, std::ops::Add::add)
            }
        }
    };
}

pub(super) use exact_sum;
