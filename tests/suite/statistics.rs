//! The six tests on four data sets against scipy 1.17.1 with numpy 2.4.6, to 1e-9.
//!
//! With `a` the baseline and `b` the other group, the expected figures were made by
//!
//! ```python
//! stats.ttest_ind(b, a, equal_var=True)            # t, p, .confidence_interval(0.95)
//! stats.ttest_ind(b, a, equal_var=False)           # Welch, the same
//! stats.mannwhitneyu(b, a, alternative="two-sided")
//! ranks = stats.rankdata(np.concatenate([a, b]))
//! stats.ttest_ind(ranks[len(a):], ranks[:len(a)])
//! f = lambda x, y, axis: np.mean(x, axis=axis) - np.mean(y, axis=axis)
//! stats.permutation_test((b, a), f, permutation_type="independent", n_resamples=1_000_000)
//! stats.bootstrap((b, a), f, n_resamples=200_000, method="percentile",
//!                 rng=np.random.default_rng(1))    # interval and standard_error
//! ```
//!
//! A million resamples are more than there are regroupings, so scipy's permutation test is exact.

#![allow(clippy::unreadable_literal, reason = "figures as scipy prints them")]

use impact::ledger::compare::{Resampling, Test, TestResult};

struct Expected {
    name: &'static str,
    a: &'static [f64],
    b: &'static [f64],
    /// t, p, low, high.
    student: [f64; 4],
    welch: [f64; 4],
    /// Statistic, p.
    mann_whitney: [f64; 2],
    ranked: [f64; 2],
    permutation: [f64; 2],
    /// Low, high, standard error of the difference.
    bootstrap: [f64; 3],
}

const SETS: [Expected; 4] = [
    Expected {
        name: "separated",
        a: &[1.20, 1.31, 1.27, 1.25, 1.29],
        b: &[1.05, 1.10, 1.02, 1.08, 1.11],
        student: [
            -7.649463099740101,
            6.0200826784195794e-05,
            -0.24988024442842793,
            -0.13411975557157152,
        ],
        welch: [
            -7.649463099740101,
            6.586093071878161e-05,
            -0.25005137020412516,
            -0.13394862979587432,
        ],
        mann_whitney: [0.0, 0.007936507936507936],
        ranked: [-5.0, 0.0010528257933665399],
        permutation: [-0.19199999999999973, 0.007936507936507936],
        bootstrap: [
            -0.23400000000000043,
            -0.1479999999999999,
            0.02245652656465438,
        ],
    },
    Expected {
        name: "overlapping",
        a: &[0.52, 0.61, 0.48, 0.55, 0.59, 0.50, 0.57],
        b: &[0.56, 0.63, 0.51, 0.60, 0.58, 0.66],
        student: [
            1.584214030068988,
            0.1414517745832523,
            -0.0172414519284814,
            0.10581288049990992,
        ],
        welch: [
            1.571089404778804,
            0.14643580345109114,
            -0.018297996444950823,
            0.10686942501637935,
        ],
        mann_whitney: [31.0, 0.18065268065268064],
        ranked: [1.5013654986896887, 0.16140965367592366],
        permutation: [0.04428571428571426, 0.1561771561771562],
        bootstrap: [
            -0.006666666666666599,
            0.0942857142857143,
            0.025800203302203565,
        ],
    },
    Expected {
        name: "tied",
        a: &[3., 3., 4., 5., 5., 6., 7., 7., 8., 9.],
        b: &[4., 5., 5., 6., 8., 8., 9., 10., 10., 11., 12., 12.],
        student: [
            2.462355935918908,
            0.023005997258528484,
            0.4025278686675584,
            4.864138797999109,
        ],
        welch: [
            2.534044686116938,
            0.019867649857531384,
            0.46374833405938487,
            4.802918332607282,
        ],
        mann_whitney: [92.5, 0.03378404162672848],
        ranked: [2.3841447428841582, 0.027138721606832512],
        permutation: [2.6333333333333337, 0.029815385852537554],
        bootstrap: [0.6833333333333327, 4.566666666666666, 0.9920826038652011],
    },
    Expected {
        name: "skewed",
        a: &[
            0.011, 0.013, 0.012, 0.090, 0.014, 0.015, 0.011, 0.300, 0.016, 0.012, 0.0125, 0.0135,
        ],
        b: &[
            0.021, 0.018, 0.35, 0.022, 0.025, 0.019, 0.8, 0.024, 0.0205, 0.023,
        ],
        student: [
            1.1357454871143258,
            0.2694904455344836,
            -0.07439185502567564,
            0.252225188359009,
        ],
        welch: [
            1.0511003665659466,
            0.3165712072484602,
            -0.09811969166354764,
            0.275953024996881,
        ],
        mann_whitney: [104.0, 0.004105678340201337],
        ranked: [3.6612389276449093, 0.0015510344915052095],
        permutation: [0.08891666666666667, 0.2614537165620757],
        bootstrap: [
            -0.04043333333333333,
            0.2679085416666666,
            0.08025591474521096,
        ],
    },
];

fn run(test: Test, set: &Expected, draws: usize, seed: u64) -> TestResult {
    test.run(set.a, set.b, 0.95, Resampling { draws, seed })
        .unwrap()
}

fn assert_close(what: &str, found: f64, wanted: f64) {
    let error = (found - wanted).abs() / wanted.abs().max(1.0);
    assert!(error <= 1e-9, "{what}: {found} is not {wanted}");
}

#[test]
fn t_tests_give_the_figures_and_intervals_of_scipy() {
    for set in &SETS {
        for (test, expected) in [(Test::TTest, set.student), (Test::Welch, set.welch)] {
            let result = run(test, set, 100, 0);
            let (low, high) = result.interval.unwrap();
            let found = [result.statistic, result.p, low, high];
            for (found, wanted) in found.into_iter().zip(expected) {
                assert_close(&format!("{} of {}", test.name(), set.name), found, wanted);
            }
        }
    }
}

#[test]
fn rank_tests_give_the_figures_of_scipy() {
    for set in &SETS {
        for (test, [statistic, p]) in [
            (Test::MannWhitney, set.mann_whitney),
            (Test::RankedTTest, set.ranked),
        ] {
            let result = run(test, set, 100, 0);
            assert_close(
                &format!("{} of {}", test.name(), set.name),
                result.statistic,
                statistic,
            );
            assert_close(
                &format!("p of {} of {}", test.name(), set.name),
                result.p,
                p,
            );
        }
    }
}

#[test]
fn counting_out_every_regrouping_gives_the_permutation_test_of_scipy() {
    for set in &SETS {
        let result = run(Test::Permutation, set, 1_000_000, 0);
        assert_close(set.name, result.statistic, set.permutation[0]);
        assert_close(set.name, result.p, set.permutation[1]);
    }
}

#[test]
fn drawn_regroupings_give_the_permutation_test_within_monte_carlo_error() {
    for set in &SETS {
        // Fewer than there are regroupings, so that they are drawn.
        let draws = if set.a.len() + set.b.len() > 20 {
            200_000
        } else {
            200
        };
        let p = set.permutation[1];
        let error = 5.0 * (p * (1.0 - p) / draws as f64).sqrt() + 2.0 / draws as f64;
        let found = run(Test::Permutation, set, draws, 42).p;
        assert!(
            (found - p).abs() <= error,
            "{}: {found} is not {p}",
            set.name
        );
    }
}

#[test]
fn the_bootstrap_gives_the_interval_of_scipy_within_monte_carlo_error() {
    for set in &SETS {
        let [low, high, standard_error] = set.bootstrap;
        let (found_low, found_high) = run(Test::Bootstrap, set, 100_000, 42).interval.unwrap();
        // The quantile of so many draws has an error of about 1 % of the spread; small groups have
        // few different means, and the quantile may fall on the next of them.
        let error = 0.1 * standard_error;
        assert!(
            (found_low - low).abs() <= error,
            "{}: {found_low} is not {low}",
            set.name
        );
        assert!(
            (found_high - high).abs() <= error,
            "{}: {found_high} is not {high}",
            set.name
        );
    }
}

#[test]
fn groups_that_cannot_be_told_apart_are_undecided_and_never_a_number() {
    for test in Test::ALL {
        for (a, b) in [
            (&[][..], &[][..]),
            (&[1.0][..], &[][..]),
            (&[1.0][..], &[2.0][..]),
            (&[1.0, 1.0][..], &[1.0, 1.0][..]),
            (&[0.0, 0.0][..], &[1.0, 1.0][..]),
        ] {
            if let Ok(result) = test.run(a, b, 0.95, Resampling::default()) {
                assert!(result.statistic.is_finite(), "{test:?} of {a:?} and {b:?}");
                assert!(
                    (0.0..=1.0).contains(&result.p),
                    "{test:?} of {a:?} and {b:?}"
                );
            }
        }
    }
}
