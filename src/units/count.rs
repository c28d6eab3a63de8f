use std::ops::{Add, AddAssign};

use super::Exact;

const DECIMALS: u32 = 6;
/// No count is larger; 2^40 of them still add up exactly.
const LARGEST: f64 = 1e18;

/// Work that was counted, such as tokens, kept exactly in steps of a millionth.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
#[must_use]
pub struct Count(u128);

impl Count {
    /// The nearest count that there can be.
    pub fn nearest(value: f64) -> Self {
        // `as` takes what is no number for 0.
        Self((value.clamp(0.0, LARGEST) * 10f64.powi(DECIMALS as i32)).round() as u128)
    }

    /// The nearest `f64`.
    #[must_use]
    pub fn value(self) -> f64 {
        self.exact().value()
    }

    /// All digits.
    #[must_use]
    pub fn exact(self) -> Exact {
        Exact {
            count: self.0.try_into().unwrap_or(i128::MAX),
            decimals: DECIMALS,
        }
    }
}

impl Add for Count {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_up_in_any_order() {
        let parts = [0.1, 4096.0, 0.2, 1e15];
        let sum = |parts: &mut dyn Iterator<Item = &f64>| {
            parts.fold(Count::default(), |sum, part| sum + Count::nearest(*part))
        };
        let all = sum(&mut parts.iter());
        assert_eq!(all, sum(&mut parts.iter().rev()));
        assert_eq!(all.exact().to_string(), "1000000000004096.3");
        assert_eq!(Count::nearest(f64::NAN), Count::default());
        assert_eq!(Count::nearest(-1.0), Count::default());
    }
}
