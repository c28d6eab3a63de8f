use std::collections::BTreeMap;

use serde::Serialize;

use super::entry::Entry;
use crate::units::moments::Moments;

/// Statistics by the names of the figures.
pub(super) type Statistics = BTreeMap<String, Statistic>;

/// One figure over some runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Statistic {
    pub(super) mean: f64,
    /// Standard error of the mean; none for a single run.
    pub(super) stderr: Option<f64>,
    pub(super) sum: f64,
    pub(super) n: usize,
}

impl Statistic {
    /// None if there are no values.
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

/// Every figure that some of the runs have.
pub(super) fn statistics<'a>(entries: impl Iterator<Item = &'a Entry>) -> Statistics {
    let mut values: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for entry in entries {
        for (name, value) in &entry.figures {
            values.entry(name).or_default().push(*value);
        }
    }
    values
        .into_iter()
        .filter_map(|(name, values)| Some((name.to_owned(), Statistic::of(&values)?)))
        .collect()
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
