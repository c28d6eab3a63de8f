use statrs::distribution::{ContinuousCDF, StudentsT};

const CONFIDENCE: f64 = 0.95;

/// Number, mean and spread of values that are seen one by one.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Welford {
    pub(super) count: u64,
    pub(super) mean: f64,
    /// The sum of squared distances from the mean.
    squares: f64,
}

impl Welford {
    pub(super) fn add(&mut self, value: f64) {
        self.count += 1;
        let before = value - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (value - self.mean);
    }

    /// Half of the 95 % interval of the mean, by Student's t; none for less than two values.
    pub(super) fn half_interval(&self) -> Option<f64> {
        if self.count < 2 {
            return None;
        }
        let count = self.count as f64;
        let error = (self.squares / (count - 1.0) / count).sqrt();
        let t = StudentsT::new(0.0, 1.0, count - 1.0).ok()?;
        Some(t.inverse_cdf(f64::midpoint(1.0, CONFIDENCE)) * error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::moments::Moments;

    fn of(values: &[f64]) -> Welford {
        let mut sum = Welford::default();
        values.iter().for_each(|value| sum.add(*value));
        sum
    }

    #[test]
    fn the_mean_has_the_interval_of_students_t() {
        let values = [1.0, 2.0, 4.0, 9.0];
        let seen = of(&values);
        let moments = Moments::of(&values).unwrap();
        assert_eq!(seen.mean, moments.mean);
        // 3.182 is the quantile 0.975 of t with three degrees of freedom.
        let half = 3.182_446 * moments.standard_error().unwrap();
        assert!((seen.half_interval().unwrap() - half).abs() < 1e-5);
        assert_eq!(of(&[1.0]).half_interval(), None);
    }
}
