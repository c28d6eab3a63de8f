//! Every test of a comparison against scipy: `tests/fixtures/comparison.py` made `tests/fixtures/comparison.json`.

use impact::ledger::compare::{
    Comparison, Group, Metric, Options, OwnFigures, Resampling, Test, TestResult,
};
use impact::ledger::{Assumptions, Figure, collect};
use serde_json::Value;

use crate::support::Run;

const REFERENCE: &str = include_str!("../fixtures/comparison.json");

fn reference() -> Value {
    serde_json::from_str(REFERENCE).unwrap()
}

fn values(of: &Value) -> Vec<f64> {
    let list = of.as_array().unwrap().iter();
    list.map(|value| value.as_f64().unwrap()).collect()
}

/// Within 1e-9 of the wanted figure, or of the size of the values for a difference of nearly equal ones.
#[track_caller]
fn assert_close(what: &str, found: f64, wanted: f64, scale: f64) {
    let error = (found - wanted).abs();
    let bound = (wanted.abs() * 1e-9).max(scale * 1e-14);
    assert!(error <= bound, "{what}: {found} is not {wanted}");
}

fn check(tests: &[Test], sets: &Value) -> usize {
    let mut compared = 0;
    for set in sets.as_array().unwrap() {
        let name = set["name"].as_str().unwrap();
        let (a, b) = (values(&set["a"]), values(&set["b"]));
        let scale = a
            .iter()
            .chain(&b)
            .fold(0.0_f64, |most, value| most.max(value.abs()));
        for test in tests {
            let wanted = &set["tests"][test.id()];
            if wanted.is_null() {
                continue;
            }
            let resampling = Resampling {
                draws: 1_000_000,
                seed: 0,
            };
            let result: TestResult = test.run(&a, &b, 0.95, resampling).unwrap();
            let what = |figure: &str| format!("{figure} of {} of {name}", test.name());
            let number = |key: &str| wanted[key].as_f64().unwrap();
            assert_close(
                &what("statistic"),
                result.statistic,
                number("statistic"),
                scale,
            );
            assert_close(&what("p"), result.p, number("p"), 0.0);
            assert_eq!(
                result.interval.is_some(),
                !wanted["interval"].is_null(),
                "{name}"
            );
            if let Some((low, high)) = result.interval {
                let wanted = values(&wanted["interval"]);
                assert_close(&what("low"), low, wanted[0], scale);
                assert_close(&what("high"), high, wanted[1], scale);
            }
            compared += 1;
        }
    }
    compared
}

#[test]
fn tests_of_independent_runs_give_the_figures_of_scipy() {
    let tests = [
        Test::TTest,
        Test::Welch,
        Test::MannWhitney,
        Test::RankedTTest,
        Test::Permutation,
    ];
    assert_eq!(check(&tests, &reference()["independent"]), 48);
}

#[test]
fn tests_of_pairs_give_the_figures_of_scipy() {
    let tests = [Test::PairedTTest, Test::SignedRank, Test::SignFlips];
    assert_eq!(check(&tests, &reference()["paired"]), 16);
}

/// Compares runs of an hour that draw these kilowatts, with a PUE of 1: their energies in kWh are these values.
fn compared(a: &[f64], b: &[f64], paired_by: Option<&str>) -> Comparison {
    let folder = tempfile::tempdir().unwrap();
    let group = |name: &str, values: &[f64]| {
        for (index, value) in values.iter().enumerate() {
            let run = Run::of_watts(value * 1000.0).tag("seed", &index.to_string());
            run.write(&folder.path().join(format!("{name}/{index}")));
        }
        let runs = collect(&[folder.path().join(name)], &|_| {}).runs;
        assert_eq!(runs.len(), values.len());
        Group {
            name: name.to_owned(),
            label: name.to_owned(),
            runs,
        }
    };
    let assumptions = Assumptions {
        pue: Some("1".parse().unwrap()),
        ..Assumptions::default()
    };
    let options = Options {
        assumptions,
        figures: vec![Metric::Figure(Figure::Energy)],
        own: OwnFigures::default(),
        paired_by: paired_by.map(str::to_owned),
        confidence: 0.95,
        resampling: Resampling::default(),
    };
    Comparison::of(&[group("a", a), group("b", b)], &options)
}

#[test]
fn the_detectable_difference_is_that_of_scipys_noncentral_t() {
    let reference = reference();
    let mut compared_sets = 0;
    for (sets, tag) in [("independent", None), ("paired", Some("seed"))] {
        for set in reference[sets].as_array().unwrap() {
            let (a, b) = (values(&set["a"]), values(&set["b"]));
            // More than 4 kW of a processor is not believed, and of hundreds of runs nothing more is learnt.
            if a.iter().chain(&b).any(|value| *value > 4.0) || a.len() > 100 {
                continue;
            }
            let comparison = compared(&a, &b, tag);
            let found = comparison.figures[0].against_first[0].detectable.unwrap();
            let wanted = set["detectable"].as_f64().unwrap();
            let name = set["name"].as_str().unwrap();
            assert!(
                (found / wanted - 1.0).abs() < 1e-7,
                "{name}: {found} is not {wanted}"
            );
            compared_sets += 1;
        }
    }
    assert_eq!(compared_sets, 6);
}

#[test]
fn pairs_are_found_by_their_tag_and_not_by_their_order() {
    let folder = tempfile::tempdir().unwrap();
    for (seed, watts) in [("1", 100.0), ("2", 200.0), ("10", 300.0)] {
        let base = Run::of_watts(watts).tag("seed", seed);
        base.write(&folder.path().join(format!("a/{watts}")));
        let other = Run::of_watts(watts + 1.0).tag("seed", seed);
        other.write(&folder.path().join(format!("b/{}", 1000.0 - watts)));
    }
    let comparison = crate::support::impact_in(folder.path())
        .args([
            "compare",
            "a",
            "b",
            "--paired-by",
            "seed",
            "--format",
            "json",
        ])
        .args(["--metric", "energy", "--pue", "1"])
        .output()
        .unwrap();
    let json: Value = serde_json::from_slice(&comparison.stdout).unwrap();
    let contrast = &json["figures"]["total_power"]["against_first"][0];
    assert_eq!(contrast["pairs"], 3);
    assert!((contrast["difference"].as_f64().unwrap() - 0.001).abs() < 1e-12);
    assert_eq!(json["paired_by"], "seed");
    let tests: Vec<&String> = contrast["tests"].as_object().unwrap().keys().collect();
    assert_eq!(
        tests,
        [
            "paired_bootstrap",
            "paired_t_test",
            "sign_flips",
            "signed_rank"
        ]
    );
}
