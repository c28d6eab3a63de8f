use std::ops::Mul;

use super::sum::{DECIMALS, exact_sum};
use super::{Exact, OutOfRange, Pue};

exact_sum!(
    /// Mass of CO2-equivalent, kept exactly in steps of 1e-18 kg.
    GramsCo2e,
    "mass of CO2eq"
);

impl GramsCo2e {
    /// Fails where it is negative, not finite or more than any experiment emits.
    pub fn from_grams(grams: f64) -> Result<Self, OutOfRange> {
        Self::from_unit(grams / 1000.0)
    }

    /// In grams.
    #[must_use]
    pub fn grams(self) -> f64 {
        self.in_unit() * 1000.0
    }

    /// All digits, in grams.
    #[must_use]
    pub fn exact_grams(self) -> Exact {
        Exact {
            decimals: DECIMALS - 3,
            ..self.exact()
        }
    }

    /// In kilograms.
    #[must_use]
    pub fn kg(self) -> f64 {
        self.in_unit()
    }
}

/// Emissions rise with the energy that the building adds.
impl Mul<Pue> for GramsCo2e {
    type Output = Self;
    fn mul(self, pue: Pue) -> Self {
        Self(pue.scale(self.0))
    }
}
