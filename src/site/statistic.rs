use serde::Serialize;

use crate::units::moments::Moments;

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
        let moments = Moments::of(values)?;
        Some(Self {
            mean: moments.mean,
            stderr: moments.standard_error(),
            sum: values.iter().sum(),
            n: moments.count,
        })
    }
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
}
