//! Tests that compare means: Student's t with one variance for both groups, and Welch's with two.

use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::beta::beta_reg;

use super::effect_size::pooled_variance;
use super::{NoTestResult, TestResult};
use crate::units::moments::Moments;

/// Student's t-test: both groups have the same variance.
pub(super) fn student(
    base: &[f64],
    other: &[f64],
    confidence: f64,
) -> Result<TestResult, NoTestResult> {
    let (a, b) = both(base, other)?;
    let variance = pooled_variance(&a, &b).ok_or(NoTestResult::TooFew)?;
    let error = (variance * (1.0 / a.count as f64 + 1.0 / b.count as f64)).sqrt();
    let freedom = (a.count + b.count - 2) as f64;
    result(b.mean - a.mean, error, freedom, confidence)
}

/// Welch's t-test: each group has a variance of its own.
pub(super) fn welch(
    base: &[f64],
    other: &[f64],
    confidence: f64,
) -> Result<TestResult, NoTestResult> {
    let (a, b) = both(base, other)?;
    let (error, freedom) = welch_error(&a, &b).ok_or(NoTestResult::TooFew)?;
    result(b.mean - a.mean, error, freedom, confidence)
}

/// The t-test of the differences of pairs.
pub(super) fn paired(differences: &[f64], confidence: f64) -> Result<TestResult, NoTestResult> {
    let moments = Moments::of(differences).ok_or(NoTestResult::TooFew)?;
    let error = moments.standard_error().ok_or(NoTestResult::TooFew)?;
    let freedom = (moments.count - 1) as f64;
    result(moments.mean, error, freedom, confidence)
}

/// The standard error of the difference of two means and its degrees of freedom, by Welch.
pub(super) fn welch_error(a: &Moments, b: &Moments) -> Option<(f64, f64)> {
    let (na, nb) = (a.count as f64, b.count as f64);
    let (ea, eb) = (a.variance? / na, b.variance? / nb);
    let freedom = (ea + eb).powi(2) / (ea.powi(2) / (na - 1.0) + eb.powi(2) / (nb - 1.0));
    Some(((ea + eb).sqrt(), freedom))
}

fn both(base: &[f64], other: &[f64]) -> Result<(Moments, Moments), NoTestResult> {
    match (Moments::of(base), Moments::of(other)) {
        (Some(a), Some(b)) if a.count > 1 && b.count > 1 => Ok((a, b)),
        _ => Err(NoTestResult::TooFew),
    }
}

fn result(
    difference: f64,
    error: f64,
    freedom: f64,
    confidence: f64,
) -> Result<TestResult, NoTestResult> {
    if error.is_nan() || error <= 0.0 || !freedom.is_finite() {
        return Err(NoTestResult::NoSpread);
    }
    let statistic = difference / error;
    let margin = error * quantile(0.5 + confidence / 2.0, freedom)?;
    Ok(TestResult {
        statistic,
        p: two_sided(statistic, freedom),
        interval: Some((difference - margin, difference + margin)),
    })
}

/// Both tails at once: exact also where one tail is too small for 1 - cdf.
fn two_sided(statistic: f64, freedom: f64) -> f64 {
    beta_reg(freedom / 2.0, 0.5, freedom / (freedom + statistic.powi(2)))
}

/// Half of the interval of a mean, by Student's t; none for less than two values.
pub(in crate::ledger) fn half_interval(moments: &Moments, confidence: f64) -> Option<f64> {
    let error = moments.standard_error()?;
    let quantile = quantile(f64::midpoint(1.0, confidence), (moments.count - 1) as f64);
    Some(quantile.ok()? * error)
}

pub(super) fn quantile(share: f64, freedom: f64) -> Result<f64, NoTestResult> {
    let distribution = StudentsT::new(0.0, 1.0, freedom).map_err(|_| NoTestResult::NoSpread)?;
    let guess = distribution.inverse_cdf(share);
    // The crate stops early; two steps of Newton bring the last digits.
    let refined = (0..2).fold(guess, |x, _| {
        let tail = two_sided(x, freedom) / 2.0;
        let slope = statrs::distribution::Continuous::pdf(&distribution, x);
        x - (1.0 - share - tail) / -slope.max(f64::MIN_POSITIVE)
    });
    Ok(if refined.is_finite() { refined } else { guess })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_has_the_interval_of_students_t() {
        let moments = Moments::of(&[1.0, 2.0, 4.0, 9.0]).unwrap();
        // 3.182 is the quantile 0.975 of t with three degrees of freedom.
        let half = 3.182_446_305 * moments.standard_error().unwrap();
        assert!((half_interval(&moments, 0.95).unwrap() - half).abs() < 1e-8);
        assert_eq!(half_interval(&Moments::of(&[1.0]).unwrap(), 0.95), None);
    }
}
