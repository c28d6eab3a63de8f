use std::time::Duration;

/// A sample lasts this many updates of the counters, so that it is known to 0.4 %.
const UPDATES_OF_A_SAMPLE: f64 = 250.0;
/// More runs in one sample say nothing more.
const MOST_RUNS: f64 = 100_000.0;

/// How often the counter of a device is updated, and the power that it showed for the command.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CounterUpdates {
    /// The time between two updates.
    pub period: Duration,
    /// The power attributed to the command; 0 where none was.
    pub watts: f64,
}

/// How often a command must run in one sample, for the energy of the sample to be far above what
/// the counters can tell apart.
///
/// A counter is late by up to one update, so it is off by up to the energy of one update at the start and at the end. A
/// device that the command hardly uses has little weight.
#[must_use]
pub fn runs_of_a_sample(run: Duration, counters: &[CounterUpdates]) -> u32 {
    let all: f64 = counters.iter().map(|counter| counter.watts).sum();
    let periods = || {
        let counters = counters.iter();
        counters.map(|counter| (counter.period.as_secs_f64(), counter.watts))
    };
    let period = if all > 0.0 {
        periods().map(|(period, watts)| period * watts / all).sum()
    } else {
        periods().map(|(period, _)| period).fold(0.0, f64::max)
    };
    let run = run.as_secs_f64().max(1e-6);
    (UPDATES_OF_A_SAMPLE * period / run)
        .ceil()
        .clamp(1.0, MOST_RUNS) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counter(period_ms: u64, watts: f64) -> CounterUpdates {
        CounterUpdates {
            period: Duration::from_millis(period_ms),
            watts,
        }
    }

    #[test]
    fn a_short_run_is_repeated_until_its_energy_is_that_of_250_updates() {
        let ten = Duration::from_millis(10);
        assert_eq!(runs_of_a_sample(ten, &[counter(2, 40.0)]), 50);
        assert_eq!(runs_of_a_sample(ten * 50, &[counter(2, 40.0)]), 1);
        assert_eq!(
            runs_of_a_sample(Duration::from_secs(60), &[counter(2, 40.0)]),
            1
        );
    }

    #[test]
    fn a_slow_counter_of_an_unused_device_hardly_counts() {
        let run = Duration::from_millis(500);
        assert_eq!(
            runs_of_a_sample(run, &[counter(2, 40.0), counter(100, 0.0)]),
            1
        );
        assert_eq!(
            runs_of_a_sample(run, &[counter(2, 40.0), counter(100, 360.0)]),
            46
        );
    }

    #[test]
    fn a_run_without_energy_is_repeated_by_the_slowest_counter() {
        let run = Duration::from_millis(1);
        assert_eq!(
            runs_of_a_sample(run, &[counter(2, 0.0), counter(4, 0.0)]),
            1000
        );
        assert_eq!(runs_of_a_sample(run, &[]), 1);
        assert_eq!(
            runs_of_a_sample(Duration::ZERO, &[counter(1000, 1.0)]),
            100_000
        );
    }
}
