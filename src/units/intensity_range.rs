use super::GramsPerKwh;

/// The lowest and the highest of some carbon intensities.
///
/// ```
/// use impact::units::{GramsPerKwh, IntensityRange};
///
/// let range = |grams| IntensityRange::of(GramsPerKwh::new(grams).unwrap());
/// assert_eq!(range(41.0).join(range(41.0)).only(), GramsPerKwh::new(41.0).ok());
/// assert_eq!(range(41.0).join(range(380.0)).only(), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IntensityRange {
    /// The lowest.
    pub lowest: GramsPerKwh,
    /// The highest.
    pub highest: GramsPerKwh,
}

impl IntensityRange {
    /// That of one intensity.
    #[must_use]
    pub fn of(intensity: GramsPerKwh) -> Self {
        Self {
            lowest: intensity,
            highest: intensity,
        }
    }

    /// That of both.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        let least = |a: GramsPerKwh, b| if b < a { b } else { a };
        let most = |a: GramsPerKwh, b| if b > a { b } else { a };
        Self {
            lowest: least(self.lowest, other.lowest),
            highest: most(self.highest, other.highest),
        }
    }

    /// The intensity, where it is one and the same. A quotient of sums would have other last digits.
    #[must_use]
    pub fn only(self) -> Option<GramsPerKwh> {
        (self.lowest == self.highest).then_some(self.lowest)
    }
}
