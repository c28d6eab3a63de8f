use super::Outliers;
use crate::ledger::compare::t::half_interval;
use crate::units::moments::{Moments, median};

/// The statistics of a figure over the samples of a command.
#[derive(Debug, Clone)]
#[must_use]
pub struct Statistics {
    /// Count, mean and variance.
    pub moments: Moments,
    /// The confidence interval of the mean, by Student's t; none for a single sample.
    pub interval: Option<(f64, f64)>,
    /// The value in the middle.
    pub median: f64,
    /// The smallest value.
    pub least: f64,
    /// The largest value.
    pub most: f64,
    /// Values that lie far from the others; they are part of all of the above.
    pub outliers: Outliers,
}

impl Statistics {
    /// Of the values that are known; none where there are none.
    #[must_use]
    pub fn of(values: &[Option<f64>], confidence: f64) -> Option<Self> {
        let known: Vec<f64> = values.iter().copied().flatten().collect();
        let moments = Moments::of(&known)?;
        Some(Self {
            interval: half_interval(&moments, confidence)
                .map(|margin| (moments.mean - margin, moments.mean + margin)),
            median: median(&known)?,
            least: known.iter().copied().reduce(f64::min)?,
            most: known.iter().copied().reduce(f64::max)?,
            outliers: Outliers::of(values),
            moments,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_that_of_student() {
        let values = [
            Some(9.0),
            Some(10.0),
            None,
            Some(11.0),
            Some(12.0),
            Some(8.0),
        ];
        let found = Statistics::of(&values, 0.95).unwrap();
        assert_eq!(
            (found.moments.count, found.moments.mean, found.median),
            (5, 10.0, 10.0)
        );
        assert_eq!((found.least, found.most), (8.0, 12.0));
        // t(0.975, 4) = 2.776445, the standard error is sqrt(2.5 / 5).
        let (low, high) = found.interval.unwrap();
        let margin = 2.776_445_105 * 0.5_f64.sqrt();
        assert!((high - 10.0 - margin).abs() < 1e-8 && (10.0 - low - margin).abs() < 1e-8);
    }

    #[test]
    fn a_single_sample_has_no_interval() {
        assert!(
            Statistics::of(&[Some(1.0)], 0.95)
                .unwrap()
                .interval
                .is_none()
        );
        assert!(Statistics::of(&[None], 0.95).is_none());
    }
}
