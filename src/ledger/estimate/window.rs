use chrono::{DateTime, TimeDelta, Utc};

use crate::units::GramsPerKwh;

/// A time to run a job, and the mean intensity of that time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// When to start.
    pub from: DateTime<Utc>,
    /// When the job ends.
    pub to: DateTime<Utc>,
    /// The mean intensity between the two.
    pub mean: GramsPerKwh,
}

/// The time of this length with the lowest mean intensity; none if the forecast is shorter.
///
/// Each point holds until the next, the last for one `resolution`. Only windows that start or end at
/// a point are tried: the mean of a step function is lowest at one of them.
#[must_use]
pub fn best_window(
    forecast: &[(DateTime<Utc>, GramsPerKwh)],
    resolution: TimeDelta,
    length: TimeDelta,
) -> Option<Window> {
    let end = forecast.last()?.0 + resolution;
    let starts = forecast.iter().map(|(at, _)| *at);
    let ends = starts.clone().chain([end]).map(|at| at - length);
    let mut best: Option<Window> = None;
    let mut candidates: Vec<DateTime<Utc>> = starts.chain(ends).collect();
    candidates.sort_unstable();
    for from in candidates {
        let to = from + length;
        if from < forecast[0].0 || to > end {
            continue;
        }
        let Some(mean) = mean(forecast, end, from, to) else {
            continue;
        };
        if best.is_none_or(|best| mean < best.mean) {
            best = Some(Window { from, to, mean });
        }
    }
    best
}

fn mean(
    forecast: &[(DateTime<Utc>, GramsPerKwh)],
    end: DateTime<Utc>,
    from: DateTime<Utc>,
    to: DateTime<Utc>,
) -> Option<GramsPerKwh> {
    let ends = forecast.iter().skip(1).map(|(at, _)| *at).chain([end]);
    let seconds = |time: TimeDelta| time.num_milliseconds() as f64 / 1000.0;
    let sum: f64 = forecast
        .iter()
        .zip(ends)
        .map(|((start, value), end)| {
            let shared = end.min(to).signed_duration_since(*start.max(&from));
            value.get() * seconds(shared).max(0.0)
        })
        .sum();
    let length = seconds(to.signed_duration_since(from));
    (length > 0.0)
        .then(|| GramsPerKwh::new(sum / length).ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cleanest_stretch_is_found_also_where_it_is_longer_than_a_step() {
        let start = DateTime::from_timestamp(1_700_000_000, 0).unwrap();
        let hour = TimeDelta::hours(1);
        let forecast: Vec<_> = [300.0, 100.0, 120.0, 400.0]
            .into_iter()
            .zip(0..)
            .map(|(value, n)| (start + hour * n, GramsPerKwh::new(value).unwrap()))
            .collect();
        let best = best_window(&forecast, hour, hour * 2).unwrap();
        assert_eq!((best.from, best.mean.get()), (start + hour, 110.0));
        let half = best_window(&forecast, hour, TimeDelta::minutes(90)).unwrap();
        assert_eq!(half.from, start + hour);
        assert_eq!(best_window(&forecast, hour, hour * 5), None);
        assert_eq!(best_window(&[], hour, hour), None);
    }
}
