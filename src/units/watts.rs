use std::ops::Mul;
use std::time::Duration;

use super::bounded::bounded;
use super::sum::LARGEST;
use super::{Energy, JOULES_PER_KWH};

bounded!(
    /// Power.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use impact::units::Watts;
    ///
    /// let energy = Watts::new(1000.0).unwrap() * Duration::from_secs(3600);
    /// assert_eq!(energy.kwh(), 1.0);
    /// ```
    Watts,
    "power in watts",
    1e9,
    "it must lie between 0 and 1e9 W"
);

impl Mul<Duration> for Watts {
    type Output = Energy;
    fn mul(self, time: Duration) -> Energy {
        Energy::from_joules((self.0 * time.as_secs_f64()).min(LARGEST * JOULES_PER_KWH))
            .expect("both factors are finite and not negative")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_power_is_refused() {
        assert!(Watts::new(-0.1).is_err());
    }
}
