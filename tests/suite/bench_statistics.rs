//! What a benchmark says about samples of a known distribution: the statistics alone, without a clock.

use std::ops::Range;
use std::time::Duration;

use impact::ledger::bench::{Bench, BenchCommand, BenchFigure, BenchSample, CONFIDENCE};
use impact::ledger::compare::{Resampling, Test, Verdict};
use impact::units::Energy;

/// The standard deviation of a sample as a share of its mean.
const SPREAD: f64 = 0.02;

/// Normally distributed numbers, the same for the same seed.
struct Normal(u64);

impl Normal {
    /// `SplitMix64`.
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// By Box and Muller.
    fn next(&mut self) -> f64 {
        let (a, b) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }

    fn command(&mut self, joules: f64, samples: usize) -> BenchCommand {
        let samples = (0..samples).map(|index| BenchSample {
            place: index + 1,
            runs: 1,
            failed_runs: 0,
            duration: Duration::from_secs(1),
            energy: Energy::from_joules(joules * (1.0 + SPREAD * self.next())).ok(),
            idle: None,
        });
        BenchCommand {
            name: format!("{joules} J"),
            samples: samples.collect(),
            ..BenchCommand::default()
        }
    }
}

fn bench(joules: [f64; 2], seed: u64) -> Bench {
    let mut normal = Normal(seed);
    Bench {
        commands: joules.map(|joules| normal.command(joules, 30)).into(),
        ..Bench::default()
    }
}

/// Whether the test that decides the verdict finds a difference.
fn are_told_apart(joules: [f64; 2], seed: u64) -> bool {
    let bench = bench(joules, seed);
    let values = |command: &BenchCommand| -> Vec<f64> {
        let samples = command.samples.iter();
        samples
            .map(|sample| BenchFigure::Energy.of(sample, None).unwrap())
            .collect()
    };
    let [base, other] = [0, 1].map(|index| values(&bench.commands[index]));
    let result = Test::Welch.run(&base, &other, CONFIDENCE, Resampling::default());
    result.unwrap().p <= 1.0 - CONFIDENCE
}

#[test]
fn intervals_contain_the_truth_as_often_as_they_say() {
    let contains = |seed: &u64| {
        let mut bench = Bench::default();
        bench.commands.push(Normal(*seed).command(40.0, 10));
        let statistics = bench.statistics(&bench.commands[0], &BenchFigure::Energy);
        let (low, high) = statistics.unwrap().interval.unwrap();
        low <= 40.0 && 40.0 <= high
    };
    let of_hundred = (0..100).filter(contains).count();
    assert!(of_hundred >= 90, "{of_hundred} of 100");
    // 950 of 1000, with a standard deviation of 6.9.
    let of_thousand = (1000..2000).filter(contains).count();
    assert!((925..=975).contains(&of_thousand), "{of_thousand} of 1000");
}

#[test]
fn commands_that_differ_by_3_percent_are_told_apart_with_30_samples() {
    let found = (0..100).filter(|seed| are_told_apart([40.0, 41.2], *seed));
    assert_eq!(found.count(), 100);
}

#[test]
fn commands_that_are_the_same_are_told_apart_as_rarely_as_the_level_says() {
    let count = |seeds: Range<u64>| {
        let seeds = seeds.filter(|seed| are_told_apart([40.0, 40.0], *seed));
        seeds.count()
    };
    // 5 of 100 is the mean, not the most: of the first hundred seeds 6 are told apart. Of so many the standard deviation
    // is 22.
    let found = count(0..10_000);
    assert!((435..=565).contains(&found), "{found} of 10000");
}

#[test]
fn the_verdict_is_that_of_the_test() {
    for (joules, seed) in [([40.0, 40.0], 0), ([40.0, 40.4], 3), ([40.0, 41.2], 1)] {
        let verdict = bench(joules, seed).comparison().figures[0].against_first[0].verdict;
        let is_found = verdict == Verdict::More || verdict == Verdict::Less;
        assert_eq!(is_found, are_told_apart(joules, seed), "{verdict:?}");
    }
}

#[test]
fn every_figure_follows_from_energy_and_time() {
    let sample = BenchSample {
        place: 1,
        runs: 4,
        failed_runs: 0,
        duration: Duration::from_secs(8),
        energy: Energy::from_joules(80.0).ok(),
        idle: Energy::from_joules(20.0).ok(),
    };
    let of = |figure: BenchFigure| figure.of(&sample, None).unwrap();
    for (figure, value) in [
        (BenchFigure::Energy, 20.0),
        (BenchFigure::MarginalEnergy, 15.0),
        (BenchFigure::Time, 2.0),
        (BenchFigure::Power, 10.0),
        (BenchFigure::Edp, 40.0),
        (BenchFigure::Ed2p, 80.0),
    ] {
        assert!((of(figure.clone()) - value).abs() < 1e-9, "{figure}");
    }
    let unknown = BenchSample {
        energy: None,
        ..sample
    };
    assert_eq!(BenchFigure::Energy.of(&unknown, None), None);
    assert_eq!(BenchFigure::Time.of(&unknown, None), Some(2.0));
}
