//! What many runs have in common: means, errors and quartiles.

use serde::Serialize;

/// A figure over some runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Statistic {
    pub(super) mean: f64,
    /// Standard error of the mean; none for a single run.
    pub(super) stderr: Option<f64>,
    pub(super) sum: f64,
    pub(super) n: usize,
}

impl Statistic {
    /// None where no run has the figure.
    pub(super) fn of(values: &[f64]) -> Option<Self> {
        let deviation = standard_deviation(values);
        Some(Self {
            mean: mean(values)?,
            stderr: deviation.map(|deviation| deviation / (values.len() as f64).sqrt()),
            sum: values.iter().sum(),
            n: values.len(),
        })
    }
}

pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Of a sample, with n - 1 below; none for a single value.
pub(super) fn standard_deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

/// Between the values next to it, as most plotting tools do.
pub(super) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
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
    fn the_error_of_a_mean_needs_two_runs() {
        let two = Statistic::of(&[1.0, 3.0]).unwrap();
        assert_eq!(
            (two.mean, two.stderr, two.sum, two.n),
            (2.0, Some(1.0), 4.0, 2)
        );
        assert_eq!(Statistic::of(&[5.0]).unwrap().stderr, None);
        assert_eq!(Statistic::of(&[]), None);
    }

    #[test]
    fn a_quantile_lies_between_its_neighbours() {
        assert_eq!(quantile(&[1.0, 2.0, 4.0, 8.0], 0.5), Some(3.0));
        assert_eq!(quantile(&[7.0], 0.25), Some(7.0));
        assert_eq!(quantile(&[], 0.5), None);
    }
}
