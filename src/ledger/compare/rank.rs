//! Tests that use only the order of the values.

use statrs::function::erf::erfc;

use super::{NoTestResult, TestResult, t};

/// Up to this size of the smaller group the distribution of U is exact, as in scipy.
const EXACT_UP_TO: usize = 8;
/// The exact distribution takes memory in proportion to n1 * n2.
const LARGEST_EXACT: usize = 1_000_000;

/// The Mann-Whitney U test, exact for small groups without ties, else by the normal approximation
/// with corrections for ties and continuity.
pub(super) fn mann_whitney(base: &[f64], other: &[f64]) -> Result<TestResult, NoTestResult> {
    if base.is_empty() || other.is_empty() {
        return Err(NoTestResult::TooFew);
    }
    let (n1, n2) = (other.len(), base.len());
    let ranks = midranks(other.iter().chain(base));
    let sum: f64 = ranks.values[..n1].iter().sum();
    let u1 = sum - (n1 * (n1 + 1)) as f64 / 2.0;
    let u = u1.max((n1 * n2) as f64 - u1);
    let countable = n1.min(n2) <= EXACT_UP_TO && n1 * n2 <= LARGEST_EXACT;
    let p = if countable && ranks.ties == 0.0 {
        2.0 * exact_tail(n1, n2, u as usize)
    } else {
        let (n1, n2) = (n1 as f64, n2 as f64);
        let n = n1 + n2;
        let spread = (n1 * n2 / 12.0 * ((n + 1.0) - ranks.ties / (n * (n - 1.0)))).sqrt();
        if spread.is_nan() || spread <= 0.0 {
            return Err(NoTestResult::NoSpread);
        }
        let z = (u - n1 * n2 / 2.0 - 0.5) / spread;
        erfc(z / std::f64::consts::SQRT_2)
    };
    Ok(TestResult {
        statistic: u1,
        p: p.min(1.0),
        interval: None,
    })
}

/// Up to this many pairs the distribution of the sum of signed ranks is exact, as in scipy.
const EXACT_PAIRS_UP_TO: usize = 50;

/// Wilcoxon's signed-rank test of the differences of pairs, exact for few pairs without ties, else by the normal
/// approximation with a correction for ties; differences of 0 are left out.
///
/// The statistic is the smaller of the two sums of ranks.
pub(super) fn signed_rank(differences: &[f64]) -> Result<TestResult, NoTestResult> {
    if differences.len() < 2 {
        return Err(NoTestResult::TooFew);
    }
    let changed: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    if changed.is_empty() {
        return Err(NoTestResult::NoSpread);
    }
    let sizes: Vec<f64> = changed.iter().map(|difference| difference.abs()).collect();
    let ranks = midranks(sizes.iter());
    let count = changed.len() as f64;
    let all = count * (count + 1.0) / 2.0;
    let positive: f64 = changed
        .iter()
        .zip(&ranks.values)
        .filter(|(difference, _)| **difference > 0.0)
        .map(|(_, rank)| rank)
        .sum();
    let statistic = positive.min(all - positive);
    let is_exact = changed.len() == differences.len()
        && changed.len() <= EXACT_PAIRS_UP_TO
        && ranks.ties == 0.0;
    let p = if is_exact {
        2.0 * exact_share_of_signs(changed.len(), statistic as usize)
    } else {
        let variance = count * (count + 1.0) * (2.0 * count + 1.0) / 24.0 - ranks.ties / 48.0;
        if variance <= 0.0 {
            return Err(NoTestResult::NoSpread);
        }
        erfc((all / 2.0 - statistic) / variance.sqrt() / std::f64::consts::SQRT_2)
    };
    Ok(TestResult {
        statistic,
        p: p.min(1.0),
        interval: None,
    })
}

/// The share of all choices of signs of the ranks 1 to `count` whose positive ranks add up to at most `sum`.
fn exact_share_of_signs(count: usize, sum: usize) -> f64 {
    let mut choices = vec![0u64; count * (count + 1) / 2 + 1];
    choices[0] = 1;
    for rank in 1..=count {
        for total in (rank..choices.len()).rev() {
            choices[total] += choices[total - rank];
        }
    }
    let tail: u64 = choices.iter().take(sum + 1).sum();
    tail as f64 / 2.0_f64.powi(count as i32)
}

/// Student's t-test on the ranks instead of the values.
pub(super) fn ranked_t(
    base: &[f64],
    other: &[f64],
    confidence: f64,
) -> Result<TestResult, NoTestResult> {
    let ranks = midranks(base.iter().chain(other)).values;
    let (base, other) = ranks.split_at(base.len());
    let result = t::student(base, other, confidence)?;
    // An interval of ranks is not an interval of the figure.
    Ok(TestResult {
        interval: None,
        ..result
    })
}

struct Ranks {
    /// From 1, in the order of the values; equal values share the mean of their ranks.
    values: Vec<f64>,
    /// The sum of t^3 - t over every set of t equal values.
    ties: f64,
}

fn midranks<'a>(values: impl Iterator<Item = &'a f64>) -> Ranks {
    let values: Vec<f64> = values.copied().collect();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut ties = 0.0;
    let mut first = 0;
    for equal in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let rank = (2 * first + equal.len() + 1) as f64 / 2.0;
        for index in equal {
            ranks[*index] = rank;
        }
        let size = equal.len() as f64;
        ties += size.powi(3) - size;
        first += equal.len();
    }
    Ranks {
        values: ranks,
        ties,
    }
}

/// The share of all orders of n1 and n2 values whose U is at least this.
///
/// The number of orders with U = k is the coefficient of q^k of the Gaussian binomial, the product of
/// (1 - q^(n2+i)) / (1 - q^i) for i from 1 to n1.
fn exact_tail(n1: usize, n2: usize, u: usize) -> f64 {
    let (n1, n2) = (n1.min(n2), n1.max(n2));
    let mut orders = vec![0i128; n1 * n2 + 1];
    orders[0] = 1;
    for i in 1..=n1 {
        for k in (n2 + i..orders.len()).rev() {
            orders[k] -= orders[k - n2 - i];
        }
        for k in i..orders.len() {
            orders[k] += orders[k - i];
        }
    }
    let all: i128 = orders.iter().sum();
    let tail: i128 = orders.iter().skip(u).sum();
    tail as f64 / all as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_the_mean_of_their_ranks() {
        let ranks = midranks([3.0, 1.0, 3.0, 2.0].iter());
        assert_eq!(ranks.values, [3.5, 1.0, 3.5, 2.0]);
        assert_eq!(ranks.ties, 6.0);
    }

    #[test]
    fn every_order_of_two_and_two_is_counted_once() {
        // U of 2 x 2 takes the values 0, 1, 2, 2, 3, 4.
        assert_eq!(exact_tail(2, 2, 3), 2.0 / 6.0);
        assert_eq!(exact_tail(2, 2, 0), 1.0);
    }
}
