//! Tests that assume no distribution and resample the values.

use super::random::Random;
use super::{NoTestResult, TestResult};
use crate::units::moments::{mean, quantile};

/// How often to draw, and the seed that makes it repeatable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resampling {
    /// The number of random samples.
    pub draws: usize,
    /// The seed of the random numbers.
    pub seed: u64,
}

impl Default for Resampling {
    fn default() -> Self {
        Self {
            draws: 9999,
            seed: 0,
        }
    }
}

/// Of fewer values there are so few different samples that the bootstrap's interval is far too narrow.
const LEAST_FOR_BOOTSTRAP: usize = 5;

/// The percentile bootstrap of the difference of means.
pub(super) fn bootstrap(
    base: &[f64],
    other: &[f64],
    confidence: f64,
    resampling: Resampling,
) -> Result<TestResult, NoTestResult> {
    if base.len().min(other.len()) < LEAST_FOR_BOOTSTRAP {
        return Err(NoTestResult::TooFew);
    }
    let mut random = Random::seeded(resampling.seed);
    let differences = (0..resampling.draws)
        .map(|_| redrawn_mean(other, &mut random) - redrawn_mean(base, &mut random))
        .collect();
    let observed = difference_of_means(base, other)?;
    Ok(percentiles(observed, differences, confidence, resampling))
}

/// The percentile bootstrap of the mean of the differences of pairs.
pub(super) fn paired_bootstrap(
    differences: &[f64],
    confidence: f64,
    resampling: Resampling,
) -> Result<TestResult, NoTestResult> {
    if differences.len() < LEAST_FOR_BOOTSTRAP {
        return Err(NoTestResult::TooFew);
    }
    let mut random = Random::seeded(resampling.seed);
    let means = (0..resampling.draws)
        .map(|_| redrawn_mean(differences, &mut random))
        .collect();
    let observed = mean(differences).ok_or(NoTestResult::TooFew)?;
    Ok(percentiles(observed, means, confidence, resampling))
}

/// The mean of as many values, each drawn from all of them.
fn redrawn_mean(values: &[f64], random: &mut Random) -> f64 {
    let sum: f64 = (0..values.len())
        .map(|_| values[random.below(values.len())])
        .sum();
    sum / values.len() as f64
}

fn percentiles(
    observed: f64,
    mut differences: Vec<f64>,
    confidence: f64,
    resampling: Resampling,
) -> TestResult {
    differences.sort_by(f64::total_cmp);
    let tail = (1.0 - confidence) / 2.0;
    let below = differences.iter().filter(|d| **d <= 0.0).count();
    let above = differences.iter().filter(|d| **d >= 0.0).count();
    TestResult {
        statistic: observed,
        p: two_sided(below + 1, above + 1, resampling.draws + 1),
        interval: quantile(&differences, tail).zip(quantile(&differences, 1.0 - tail)),
    }
}

/// The permutation test of the difference of means: every regrouping where there are few enough,
/// else random ones.
pub(super) fn permutation(
    base: &[f64],
    other: &[f64],
    resampling: Resampling,
) -> Result<TestResult, NoTestResult> {
    if base.is_empty() || other.is_empty() || base.len() + other.len() < 3 {
        return Err(NoTestResult::TooFew);
    }
    let observed = difference_of_means(base, other)?;
    let mut pool: Vec<f64> = other.iter().chain(base).copied().collect();
    let total: f64 = pool.iter().sum();
    let (n_other, n_base) = (other.len() as f64, base.len() as f64);
    let mut tails = Tails::around(observed, &pool);
    let difference = |sum: f64| sum / n_other - (total - sum) / n_base;
    if let Some(count) =
        regroupings(pool.len(), other.len()).filter(|count| *count <= resampling.draws)
    {
        for_each_choice(&pool, other.len(), &mut |sum| tails.see(difference(sum)));
        Ok(tails.result(observed, 0, count))
    } else {
        let mut random = Random::seeded(resampling.seed);
        for _ in 0..resampling.draws {
            // Half a Fisher-Yates shuffle chooses the group.
            for index in 0..other.len() {
                let chosen = index + random.below(pool.len() - index);
                pool.swap(index, chosen);
            }
            tails.see(difference(pool[..other.len()].iter().sum()));
        }
        Ok(tails.result(observed, 1, resampling.draws))
    }
}

/// The permutation test of pairs: every choice of signs of the differences where there are few enough, else random ones.
pub(super) fn sign_flips(
    differences: &[f64],
    resampling: Resampling,
) -> Result<TestResult, NoTestResult> {
    let observed = mean(differences)
        .filter(|_| differences.len() > 1)
        .ok_or(NoTestResult::TooFew)?;
    let mut tails = Tails::around(observed, differences);
    let count = differences.len();
    let flipped = |signs: &mut dyn FnMut(usize) -> bool| {
        let signed = differences.iter().enumerate();
        let sum: f64 = signed
            .map(|(place, difference)| {
                if signs(place) {
                    -difference
                } else {
                    *difference
                }
            })
            .sum();
        sum / count as f64
    };
    let choices = 1usize
        .checked_shl(count as u32)
        .filter(|choices| *choices <= resampling.draws);
    if let Some(choices) = choices {
        for choice in 0..choices {
            tails.see(flipped(&mut |place| choice >> place & 1 == 1));
        }
        Ok(tails.result(observed, 0, choices))
    } else {
        let mut random = Random::seeded(resampling.seed);
        for _ in 0..resampling.draws {
            tails.see(flipped(&mut |_| random.below(2) == 1));
        }
        Ok(tails.result(observed, 1, resampling.draws))
    }
}

/// The smallest two-sided p that the permutation test of two groups of these sizes can have.
pub(super) fn least_p(base: usize, other: usize) -> f64 {
    regroupings(base + other, other).map_or(0.0, |ways| (2.0 / ways as f64).min(1.0))
}

/// The smallest two-sided p that the permutation test of so many pairs can have.
pub(super) fn least_p_of_pairs(pairs: usize) -> f64 {
    2.0 * 0.5_f64.powi(pairs.max(1) as i32)
}

/// How many regroupings differ from the observed one by as much, on either side.
struct Tails {
    observed: f64,
    tolerance: f64,
    below: usize,
    above: usize,
}

impl Tails {
    fn around(observed: f64, values: &[f64]) -> Self {
        let largest = values
            .iter()
            .fold(0.0_f64, |most, value| most.max(value.abs()));
        Self {
            observed,
            // Sums in another order differ in the last digits and are equal all the same.
            tolerance: (observed.abs() * 1e-12).max(largest * 1e-13),
            below: 0,
            above: 0,
        }
    }

    fn see(&mut self, difference: f64) {
        self.below += usize::from(difference <= self.observed + self.tolerance);
        self.above += usize::from(difference >= self.observed - self.tolerance);
    }

    fn result(&self, statistic: f64, extra: usize, draws: usize) -> TestResult {
        TestResult {
            statistic,
            p: two_sided(self.below + extra, self.above + extra, draws + extra),
            interval: None,
        }
    }
}

fn two_sided(below: usize, above: usize, of: usize) -> f64 {
    (2.0 * below.min(above) as f64 / of as f64).min(1.0)
}

fn difference_of_means(base: &[f64], other: &[f64]) -> Result<f64, NoTestResult> {
    match (mean(base), mean(other)) {
        (Some(base), Some(other)) => Ok(other - base),
        _ => Err(NoTestResult::TooFew),
    }
}

/// In how many ways `chosen` can be taken of `all`, or none where that overflows.
fn regroupings(all: usize, chosen: usize) -> Option<usize> {
    let chosen = chosen.min(all - chosen);
    (1..=chosen).try_fold(1usize, |ways, i| {
        Some(ways.checked_mul(all - chosen + i)? / i)
    })
}

/// Tells the sum of every choice of so many values.
fn for_each_choice(values: &[f64], chosen: usize, see: &mut dyn FnMut(f64)) {
    fn descend(values: &[f64], chosen: usize, sum: f64, see: &mut dyn FnMut(f64)) {
        if chosen == 0 {
            see(sum);
            return;
        }
        for first in 0..=values.len() - chosen {
            descend(&values[first + 1..], chosen - 1, sum + values[first], see);
        }
    }
    descend(values, chosen, 0.0, see);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_regrouping_is_looked_at_once() {
        let mut sums = Vec::new();
        for_each_choice(&[1.0, 2.0, 4.0, 8.0], 2, &mut |sum| sums.push(sum));
        assert_eq!(sums, [3.0, 5.0, 9.0, 6.0, 10.0, 12.0]);
        assert_eq!(regroupings(4, 2), Some(6));
        assert_eq!(regroupings(10_000, 5_000), None);
    }

    #[test]
    fn three_against_three_runs_can_have_a_p_of_a_tenth_and_no_less() {
        assert_eq!(least_p(3, 3), 0.1);
        assert_eq!(least_p(4, 4), 2.0 / 70.0);
        assert_eq!(least_p(1, 1), 1.0);
        assert_eq!(least_p(10_000, 10_000), 0.0);
        assert_eq!(least_p_of_pairs(5), 0.0625);
        let (a, b) = ([1.0, 2.0, 3.0], [11.0, 12.0, 13.0]);
        let p = permutation(&a, &b, Resampling::default()).unwrap().p;
        assert_eq!(p, least_p(3, 3));
        let differences = [1.0, 2.0, 3.0, 4.0, 5.0];
        let p = sign_flips(&differences, Resampling::default()).unwrap().p;
        assert_eq!(p, least_p_of_pairs(5));
    }

    #[test]
    fn sums_of_large_values_in_another_order_are_equal() {
        // Both groups hold the same values, so half of all regroupings lie on either side.
        let (a, b) = (
            [1e6 + 0.1, 1e6 + 0.2, 1e6 + 0.3],
            [1e6 + 0.3, 1e6 + 0.1, 1e6 + 0.2],
        );
        let p = permutation(&a, &b, Resampling::default()).unwrap().p;
        assert_eq!(p, 1.0);
    }

    #[test]
    fn the_bootstrap_needs_five_values() {
        let (four, five) = ([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0, 5.0]);
        let resampling = Resampling::default();
        assert!(bootstrap(&four, &five, 0.95, resampling).is_err());
        assert!(bootstrap(&five, &five, 0.95, resampling).is_ok());
        assert!(paired_bootstrap(&four, 0.95, resampling).is_err());
    }

    #[test]
    fn the_same_seed_gives_the_same_interval() {
        let (a, b) = ([1.0, 2.0, 3.5, 4.0, 4.5], [2.0, 2.5, 5.0, 6.0, 7.5]);
        let with = |seed| {
            let resampling = Resampling { draws: 500, seed };
            bootstrap(&a, &b, 0.95, resampling).unwrap()
        };
        assert_eq!(with(7), with(7));
        assert_ne!(with(7), with(8));
    }
}
