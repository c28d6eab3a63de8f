//! Mean, variance and quantiles.

/// Count, mean and variance of some values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// How many values there are.
    pub count: usize,
    /// Their arithmetic mean.
    pub mean: f64,
    /// The sample variance, with n - 1 in the denominator; none for a single value.
    pub variance: Option<f64>,
}

impl Moments {
    /// The moments of some values, or none where there are no values.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let count = values.len();
        let mean = mean(values)?;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Self {
            count,
            mean,
            variance: (count > 1).then(|| squares / (count - 1) as f64),
        })
    }

    /// The square root of the variance.
    #[must_use]
    pub fn standard_deviation(&self) -> Option<f64> {
        self.variance.map(f64::sqrt)
    }

    /// The standard error of the mean.
    #[must_use]
    pub fn standard_error(&self) -> Option<f64> {
        Some((self.variance? / self.count as f64).sqrt())
    }
}

/// Moments of values that are seen one by one, by Welford's method.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RunningMoments {
    count: usize,
    mean: f64,
    /// The sum of squared distances from the mean.
    squares: f64,
}

impl RunningMoments {
    /// Adds a value.
    pub fn add(&mut self, value: f64) {
        self.count += 1;
        let before = value - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (value - self.mean);
    }

    /// The moments of the values so far, or none where there are no values.
    #[must_use]
    pub fn moments(&self) -> Option<Moments> {
        let Self {
            count,
            mean,
            squares,
        } = *self;
        (count > 0).then(|| Moments {
            count,
            mean,
            variance: (count > 1).then(|| squares / (count - 1) as f64),
        })
    }
}

/// The mean of some values, or none where there are no values.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The value in the middle, or none where there are no values.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    quantile(&sorted, 0.5)
}

/// The quantile of sorted values, interpolated linearly between its neighbours.
#[must_use]
pub fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = share * last as f64;
    let below = sorted[place.floor() as usize];
    let above = sorted[(place.ceil() as usize).min(last)];
    Some(below + (above - below) * place.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_needs_two_values() {
        let two = Moments::of(&[1.0, 3.0]).unwrap();
        assert_eq!((two.count, two.mean, two.variance), (2, 2.0, Some(2.0)));
        assert_eq!(two.standard_error(), Some(1.0));
        let one = Moments::of(&[5.0]).unwrap();
        assert_eq!((one.mean, one.standard_deviation()), (5.0, None));
        assert_eq!(one.standard_error(), None);
        assert_eq!(Moments::of(&[]), None);
    }

    #[test]
    fn values_seen_one_by_one_have_the_same_moments() {
        let values = [1.0, 2.0, 4.0, 9.0];
        let mut running = RunningMoments::default();
        assert_eq!(running.moments(), None);
        for value in values {
            running.add(value);
        }
        let (seen, all) = (running.moments().unwrap(), Moments::of(&values).unwrap());
        assert_eq!((seen.count, seen.mean), (all.count, all.mean));
        assert!((seen.variance.unwrap() - all.variance.unwrap()).abs() < 1e-12);
    }

    #[test]
    fn a_quantile_lies_between_its_neighbours() {
        assert_eq!(quantile(&[1.0, 2.0, 4.0, 8.0], 0.5), Some(3.0));
        assert_eq!(quantile(&[7.0], 0.25), Some(7.0));
        assert_eq!(median(&[9.0, 1.0, 2.0, 4.0]), Some(3.0));
        assert_eq!(quantile(&[], 0.5), None);
    }
}
