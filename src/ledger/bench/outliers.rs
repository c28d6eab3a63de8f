use crate::units::moments::{Moments, median};

/// Values this many standard deviations from the mean are outliers.
const SIGMAS: f64 = 3.0;
/// Values with a larger modified z-score are outliers (Iglewicz and Hoaglin 1993, How to detect and handle outliers).
const LARGEST_SCORE: f64 = 3.5;
/// The median absolute deviation of normally distributed values, in standard deviations.
const MAD_OF_NORMAL: f64 = 0.674_489_750_196_081_7;

/// The places of values that lie far from the others, by two rules. No value is left out for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outliers {
    /// More than 3 standard deviations from the mean; of fewer than 11 values none can be.
    pub by_sigma: Vec<usize>,
    /// With a modified z-score of more than 3.5, by the median and the median absolute deviation.
    pub by_mad: Vec<usize>,
}

impl Outliers {
    pub(super) fn of(values: &[Option<f64>]) -> Self {
        let known: Vec<f64> = values.iter().copied().flatten().collect();
        let further = |centre: f64, distance: f64| {
            let values = values.iter().enumerate();
            let is_far = |value: f64| (value - centre).abs() > distance;
            values
                .filter(|(_, value)| value.is_some_and(is_far))
                .map(|(place, _)| place)
                .collect()
        };
        let moments = Moments::of(&known);
        let spread =
            moments.and_then(|moments| Some((moments.mean, moments.standard_deviation()?)));
        let by_sigma = spread.filter(|(_, spread)| *spread > 0.0);
        let by_mad = median(&known).and_then(|centre| {
            let distances: Vec<f64> = known.iter().map(|value| (value - centre).abs()).collect();
            Some((centre, median(&distances)?))
        });
        // Where more than half of the values are the same, every other one would be an outlier.
        let by_mad = by_mad.filter(|(_, mad)| *mad > 0.0);
        Self {
            by_sigma: by_sigma
                .map_or_else(Vec::new, |(mean, spread)| further(mean, SIGMAS * spread)),
            by_mad: by_mad.map_or_else(Vec::new, |(centre, mad)| {
                further(centre, LARGEST_SCORE * mad / MAD_OF_NORMAL)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outliers(values: &[f64]) -> Outliers {
        let values: Vec<Option<f64>> = values.iter().copied().map(Some).collect();
        Outliers::of(&values)
    }

    #[test]
    fn one_value_far_off_is_found_by_the_median_where_it_hides_itself_from_the_deviation() {
        let ten = [9.9, 10.0, 10.1, 10.2, 9.8, 10.0, 10.1, 9.9, 10.0, 50.0];
        let found = outliers(&ten);
        assert_eq!(found.by_sigma, [0; 0]);
        assert_eq!(found.by_mad, [9]);
        let mut twelve = ten.to_vec();
        twelve.splice(0..0, [10.0, 10.1]);
        assert_eq!(outliers(&twelve).by_sigma, [11]);
    }

    #[test]
    fn the_place_of_an_outlier_counts_unknown_values() {
        let values: Vec<Option<f64>> =
            [None, Some(1.0), Some(1.1), Some(0.9), Some(1.05), Some(9.0)].into();
        assert_eq!(Outliers::of(&values).by_mad, [5]);
    }

    #[test]
    fn the_score_of_the_source_s_limit_is_the_bound() {
        // Median 5, median absolute deviation 2: the bound is 5 + 3.5 * 2 / 0.6745 = 15.378.
        let with = |far: f64| outliers(&[1.0, 3.0, 5.0, 6.0, 7.0, 4.0, far]).by_mad;
        assert_eq!(with(15.37), [0; 0]);
        assert_eq!(with(15.39), [6]);
    }

    #[test]
    fn equal_values_have_no_outliers() {
        assert_eq!(outliers(&[2.0; 9]), Outliers::default());
        assert_eq!(outliers(&[]), Outliers::default());
    }
}
