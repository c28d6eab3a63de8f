use std::collections::BTreeMap;

use super::Row;
use super::gauge::Gauge;

/// A trace never holds more buckets than this, two points each.
const MOST_BUCKETS: usize = 512;

/// The gauges of one run over time, thinned out while they stream by.
#[derive(Debug, Default)]
pub struct TimeSeries {
    traces: BTreeMap<Gauge, Trace>,
    first: Option<f64>,
    seconds: f64,
}

impl TimeSeries {
    /// Takes in the next sample.
    pub fn add(&mut self, row: &Row) {
        let first = *self.first.get_or_insert(row.timestamp);
        let seconds = row.elapsed.unwrap_or(row.timestamp - first);
        if !seconds.is_finite() || seconds < self.seconds {
            return;
        }
        self.seconds = seconds;
        for gauge in Gauge::ALL {
            let value = row.gauge(gauge);
            if let Some(value) = value {
                self.traces
                    .entry(gauge)
                    .or_default()
                    .add(Point { seconds, value });
            }
        }
    }

    /// The points of a gauge in order of time, or none where the log never has it.
    pub fn points(&self, gauge: Gauge) -> Vec<Point> {
        self.traces
            .get(&gauge)
            .map(Trace::points)
            .unwrap_or_default()
    }

    /// The last second that the log covers.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.seconds
    }
}

/// A value at a second of the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Seconds since the start.
    pub seconds: f64,
    /// In the unit of the gauge.
    pub value: f64,
}

/// One gauge, as the lowest and the highest point of each of at most [`MOST_BUCKETS`] stretches.
///
/// When the buckets are used up each two become one that holds twice as many rows, so that memory
/// stays the same for a log of any length and no peak is ever lost.
#[derive(Debug)]
struct Trace {
    buckets: Vec<Bucket>,
    rows_per_bucket: u32,
    rows_in_last: u32,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    low: Point,
    high: Point,
}

impl Default for Trace {
    fn default() -> Self {
        Self {
            buckets: Vec::new(),
            rows_per_bucket: 1,
            rows_in_last: 1,
        }
    }
}

impl Trace {
    fn add(&mut self, point: Point) {
        let single = Bucket {
            low: point,
            high: point,
        };
        if self.rows_in_last < self.rows_per_bucket
            && let Some(last) = self.buckets.last_mut()
        {
            *last = last.with(single);
            self.rows_in_last += 1;
            return;
        }
        if self.buckets.len() == MOST_BUCKETS {
            self.buckets = self
                .buckets
                .chunks(2)
                .map(|pair| {
                    pair.iter()
                        .copied()
                        .reduce(Bucket::with)
                        .expect("chunks are not empty")
                })
                .collect();
            self.rows_per_bucket = self.rows_per_bucket.saturating_mul(2);
        }
        self.buckets.push(single);
        self.rows_in_last = 1;
    }

    fn points(&self) -> Vec<Point> {
        let mut points = Vec::with_capacity(self.buckets.len() * 2);
        for bucket in &self.buckets {
            let (a, b) = if bucket.low.seconds <= bucket.high.seconds {
                (bucket.low, bucket.high)
            } else {
                (bucket.high, bucket.low)
            };
            points.push(a);
            if b != a {
                points.push(b);
            }
        }
        points
    }
}

impl Bucket {
    fn with(self, later: Self) -> Self {
        Self {
            low: if later.low.value < self.low.value {
                later.low
            } else {
                self.low
            },
            high: if later.high.value > self.high.value {
                later.high
            } else {
                self.high
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(values: impl Iterator<Item = f64>) -> Trace {
        let mut trace = Trace::default();
        for (row, value) in values.enumerate() {
            trace.add(Point {
                seconds: row as f64,
                value,
            });
        }
        trace
    }

    #[test]
    fn a_short_log_keeps_every_point() {
        let points = trace([3.0, 1.0, 2.0].into_iter()).points();
        assert_eq!(
            points.iter().map(|p| p.value).collect::<Vec<_>>(),
            [3.0, 1.0, 2.0]
        );
    }

    #[test]
    fn a_long_log_keeps_its_peaks_and_its_order_in_bounded_memory() {
        let trace = trace((0..1_000_000).map(|row| match row {
            123_457 => 900.0,
            777_777 => -5.0,
            _ => f64::from(row % 7),
        }));
        let points = trace.points();
        assert!(points.len() <= 2 * MOST_BUCKETS, "{} points", points.len());
        assert!(points.len() >= MOST_BUCKETS / 2);
        assert!(points.contains(&Point {
            seconds: 123_457.0,
            value: 900.0
        }));
        assert!(points.contains(&Point {
            seconds: 777_777.0,
            value: -5.0
        }));
        assert!(points.is_sorted_by(|a, b| a.seconds < b.seconds));
    }

    #[test]
    fn the_hottest_gpu_of_a_row_is_drawn() {
        let mut series = TimeSeries::default();
        let line = br#"{"timestamp":1,"per_gpu_temperature":{"0":61,"1":73.5}}"#;
        series.add(&Row::parse(line).unwrap());
        assert_eq!(series.points(Gauge::GpuTemperature)[0].value, 73.5);
        assert!(series.points(Gauge::Memory).is_empty());
    }
}
