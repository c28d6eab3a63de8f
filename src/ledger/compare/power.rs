//! The smallest difference that a t-test would find.

use statrs::function::erf::erfc;
use statrs::function::gamma::ln_gamma;

use super::t::quantile;

/// The probability with which a detectable difference is found.
pub const POWER: f64 = 0.8;

/// The difference of means that a two-sided t-test with this standard error finds with the probability [`POWER`].
pub(super) fn detectable(error: f64, freedom: f64, confidence: f64) -> Option<f64> {
    let is_usable = error > 0.0 && error.is_finite() && freedom.is_finite() && freedom >= 1.0;
    let critical = quantile(0.5 + confidence / 2.0, freedom)
        .ok()
        .filter(|critical| is_usable && critical.is_finite())?;
    let density = Density::of(freedom);
    let power = |shift: f64| {
        1.0 - density.share_below(critical, shift) + density.share_below(-critical, shift)
    };
    let (mut low, mut high) = (0.0, critical + 10.0);
    while power(high) < POWER {
        high *= 2.0;
        if !high.is_finite() {
            return None;
        }
    }
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        if power(middle) < POWER {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(high * error)
}

/// The distribution of an observed standard deviation as a multiple of the true one, as points with weights.
struct Density(Vec<(f64, f64)>);

impl Density {
    const STEPS: usize = 2000;

    /// By Simpson's rule over the square root of the multiple, which leaves no steep end at 0.
    fn of(freedom: f64) -> Self {
        let half = freedom / 2.0;
        let scale = half * half.ln() - ln_gamma(half) + 2.0_f64.ln();
        let density = |multiple: f64| {
            (scale + (freedom - 1.0) * multiple.ln() - half * multiple.powi(2)).exp()
        };
        let end = (1.0 + 12.0 / freedom.sqrt()).sqrt();
        let step = end / Self::STEPS as f64;
        let points = (1..=Self::STEPS).map(|place| {
            let root = place as f64 * step;
            let simpson = match place {
                Self::STEPS => 1.0,
                odd if odd % 2 == 1 => 4.0,
                _ => 2.0,
            };
            let multiple = root * root;
            (
                multiple,
                density(multiple) * 2.0 * root * simpson * step / 3.0,
            )
        });
        Self(points.collect())
    }

    /// The probability that Student's t whose normal part is shifted lies below a value.
    fn share_below(&self, value: f64, shift: f64) -> f64 {
        self.0
            .iter()
            .map(|(multiple, weight)| weight * normal_below(value * multiple - shift))
            .sum()
    }
}

fn normal_below(value: f64) -> f64 {
    erfc(-value / std::f64::consts::SQRT_2) / 2.0
}
