use crate::units::moments::Moments;

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
