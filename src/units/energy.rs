use std::ops::Mul;

use super::sum::exact_sum;
use super::{Exact, GramsCo2e, GramsPerKwh, OutOfRange, Pue};

pub(crate) const JOULES_PER_KWH: f64 = 3.6e6;

exact_sum!(
    /// Energy, kept exactly in steps of 1e-18 kWh (3.6 pJ).
    ///
    /// ```
    /// use impact::units::{Energy, GramsPerKwh, Pue};
    ///
    /// let machines = Energy::from_kwh(2.0).unwrap();
    /// let building = machines * "1.5".parse::<Pue>().unwrap();
    /// assert_eq!(building.kwh(), 3.0);
    /// assert_eq!((building * GramsPerKwh::new(400.0).unwrap()).kg(), 1.2);
    /// ```
    Energy,
    "energy"
);

impl Energy {
    /// Fails where it is negative, not finite or more than any experiment uses.
    pub fn from_joules(joules: f64) -> Result<Self, OutOfRange> {
        Self::from_unit(joules / JOULES_PER_KWH)
    }

    /// Fails where it is negative, not finite or more than any experiment uses.
    pub fn from_kwh(kwh: f64) -> Result<Self, OutOfRange> {
        Self::from_unit(kwh)
    }

    /// The difference of two readings of a counter.
    pub fn from_microjoules(microjoules: u64) -> Self {
        // 1 uJ is 1/3.6 of 1e-12 kWh.
        Self((u128::from(microjoules) * 10_000_000 + 18) / 36)
    }

    /// So many steps of 1e-18 kWh.
    pub(crate) const fn from_steps(steps: u128) -> Self {
        Self(steps)
    }

    /// In steps of 1e-18 kWh, to be divided without a remainder that is lost.
    #[must_use]
    pub(crate) const fn steps(self) -> u128 {
        self.0
    }

    /// All digits, in joules.
    #[must_use]
    pub fn exact_joules(self) -> Exact {
        // 1e-18 kWh is 3.6e-12 J.
        Exact {
            count: i128::try_from(self.0.saturating_mul(36)).unwrap_or(i128::MAX),
            decimals: 13,
        }
    }

    /// In joules.
    #[must_use]
    pub fn joules(self) -> f64 {
        // 1e-18 kWh is 3.6e-12 J; an integer is multiplied without rounding.
        let steps = self.0.saturating_mul(36);
        // The same number, converted in a tenth of the time.
        u64::try_from(steps).map_or(steps as f64, |steps| steps as f64) / 1e13
    }

    /// In kilowatt-hours.
    #[must_use]
    pub fn kwh(self) -> f64 {
        self.in_unit()
    }
}

impl Mul<GramsPerKwh> for Energy {
    type Output = GramsCo2e;
    fn mul(self, intensity: GramsPerKwh) -> GramsCo2e {
        GramsCo2e((self.0 as f64 * (intensity.get() / 1000.0)).round() as u128)
    }
}

impl Mul<Pue> for Energy {
    type Output = Self;
    fn mul(self, pue: Pue) -> Self {
        Self(pue.scale(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let step = Energy::from_steps(1).exact_joules();
        assert_eq!(step.to_string(), "0.0000000000036");
    }

    #[test]
    fn energy_that_is_negative_infinite_or_too_large_is_refused() {
        for joules in [f64::NAN, f64::INFINITY, -1.0, 1e300] {
            assert!(Energy::from_joules(joules).is_err(), "{joules}");
        }
    }

    #[test]
    fn energy_times_an_intensity_is_a_mass() {
        let mass = Energy::from_kwh(1.0).unwrap() * GramsPerKwh::new(250.0).unwrap();
        assert_eq!(mass.exact().to_string(), "0.25");
    }
}
