/// How many values there are, where they lie and how far they spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    pub count: usize,
    pub mean: f64,
    /// With n - 1 in the denominator; none for a single value.
    pub variance: Option<f64>,
}

impl Moments {
    /// The moments of some values, or none where there are no values.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() {
            return None;
        }
        let count = values.len();
        let mean = mean(values);
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Self {
            count,
            mean,
            variance: (count > 1).then(|| squares / (count - 1) as f64),
        })
    }

    /// The standard error of the mean.
    #[must_use]
    pub fn standard_error(&self) -> Option<f64> {
        Some((self.variance? / self.count as f64).sqrt())
    }
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Cohen's d: the difference of the means in units of the pooled standard deviation.
pub(super) fn effect_size(base: &Moments, other: &Moments) -> Option<f64> {
    let spread = pooled_variance(base, other)?.sqrt();
    (spread > 0.0).then(|| (other.mean - base.mean) / spread)
}

pub(super) fn pooled_variance(a: &Moments, b: &Moments) -> Option<f64> {
    let freedom = |moments: &Moments| (moments.count - 1) as f64;
    let sum = freedom(a) * a.variance? + freedom(b) * b.variance?;
    Some(sum / (freedom(a) + freedom(b)))
}
