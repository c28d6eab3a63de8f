//! What an intensity counts: life cycle or direct, consumption or production, average or marginal.

use super::region;
use crate::support::receipt::json;
use crate::support::{Run, impact};
use predicates::prelude::PredicateBooleanExt as _;
use predicates::str::contains;
use serde_json::{Value, json};
use tempfile::TempDir;

fn run_of(basis: &Value) -> Run {
    let mut region = json!({ "zone": "US-CA", "carbon_intensity": 250.0, "source": "a test" });
    for (key, value) in basis.as_object().unwrap() {
        region[key] = value.clone();
    }
    Run::of_watts(100.0).with("region", region)
}

/// Two runs of the consumption mix by life cycle, and one of the production mix by what was burnt.
fn of_two_bases() -> TempDir {
    let logs = tempfile::tempdir().unwrap();
    let life_cycle = json!({ "basis": "life_cycle", "mix": "consumption" });
    let direct = json!({ "basis": "direct", "mix": "production" });
    for (name, basis) in [("a", &life_cycle), ("b", &life_cycle), ("c", &direct)] {
        run_of(basis).on(name, name).write(&logs.path().join(name));
    }
    logs
}

#[test]
fn every_answer_says_which_emissions_of_which_mix_it_counts() {
    for (dataset, basis, mix) in [
        ("electricity-maps", "life_cycle", json!("consumption")),
        ("ember", "life_cycle", json!("production")),
        ("eit-2019", "life_cycle", Value::Null),
    ] {
        let answer = region(&["--zone", "DE", "--dataset", dataset]);
        assert_eq!((&answer["basis"], &answer["mix"]), (&json!(basis), &mix));
    }
    impact()
        .args(["region", "--zone", "DE"])
        .assert()
        .success()
        .stdout(contains("life cycle, consumption mix"));
}

#[test]
fn direct_figures_are_given_where_they_are_asked_for_and_known() {
    for (place, grams) in [("US-CA", 179.064), ("US-VA", 244.758), ("US-PJM", 349.667)] {
        let answer = region(&["--zone", place, "--basis", "direct"]);
        assert_eq!(answer["carbon_intensity"], grams, "{place}");
        assert_eq!(answer["basis"], "direct");
        assert_eq!(answer["mix"], "production");
        let is_wider = answer["fallbacks"].to_string().contains("US-PJM");
        assert_eq!(is_wider, place == "US-PJM", "{answer}");
    }
    let el_paso = region(&["--address", "El Paso, Texas", "--basis", "direct"]);
    assert!(el_paso["fallbacks"].to_string().contains("US-TX"));
    let life_cycle = region(&["--zone", "US-CA", "--basis", "life-cycle"]);
    assert_eq!(life_cycle["basis"], "life_cycle");
}

#[test]
fn a_basis_that_no_table_has_is_refused() {
    for (arguments, words) in [
        (
            ["--zone", "DE", "--basis", "direct"].as_slice(),
            "no direct carbon intensity for DE",
        ),
        (
            &["--zone", "US-CA", "--basis", "direct", "--dataset", "ember"],
            "the data set ember has life-cycle figures, not direct ones",
        ),
        (
            &["--zone", "US-CA", "--basis", "both"],
            "known are life-cycle, direct",
        ),
    ] {
        impact()
            .arg("region")
            .args(arguments)
            .assert()
            .failure()
            .stderr(contains(words));
    }
    let logs = tempfile::tempdir().unwrap();
    run_of(&json!({ "basis": "life_cycle" }))
        .in_zone("FR")
        .write(&logs.path().join("run"));
    for command in ["statement", "report"] {
        impact()
            .arg(command)
            .arg(logs.path())
            .args(["--basis", "direct"])
            .assert()
            .failure()
            .stderr(contains(
                "no direct carbon intensity is known for any of the runs",
            ));
    }
}

#[test]
fn a_sum_over_different_bases_says_so_and_is_split() {
    let logs = of_two_bases();
    let words = "The mass adds life-cycle figures of the consumption mix (2 runs, 77 g) and direct figures of the \
                 production mix (1 run, 38.5 g); figures of different bases are not comparable.";
    for format in ["text", "markdown", "latex", "html"] {
        impact()
            .arg("statement")
            .arg(logs.path())
            .args(["--format", format])
            .assert()
            .success()
            .stdout(contains(words));
    }
    impact()
        .arg("report")
        .arg(logs.path())
        .assert()
        .success()
        .stdout(contains(words));
    let receipt = json(&[logs.path()], &[]);
    let bases = receipt["bases"].as_array().unwrap();
    let of: Vec<&Value> = bases.iter().map(|part| &part["of"]).collect();
    assert_eq!(
        of,
        [
            &json!([{ "basis": "life_cycle", "mix": "consumption" }]),
            &json!([{ "basis": "direct", "mix": "production" }]),
        ]
    );
    assert_eq!([&bases[0]["runs"], &bases[1]["runs"]], [2, 1]);
    let sum: f64 = bases
        .iter()
        .map(|part| part["estimated_carbon_impact_kg"].as_f64().unwrap())
        .sum();
    let whole = receipt["estimated_carbon_impact_kg"].as_f64().unwrap();
    assert!((sum - whole).abs() < 1e-12);
}

#[test]
fn a_sum_over_one_basis_has_no_such_warning() {
    let logs = of_two_bases();
    for (basis, grams) in [("life-cycle", "life cycle"), ("direct", "direct")] {
        impact()
            .arg("statement")
            .arg(logs.path())
            .args(["--basis", basis])
            .assert()
            .success()
            .stdout(contains("not comparable").not())
            .stdout(contains(grams));
    }
}

#[test]
fn logs_that_say_less_about_their_basis_are_still_read() {
    let logs = tempfile::tempdir().unwrap();
    for (name, basis) in [
        ("a", json!({ "basis": "life_cycle" })),
        ("b", json!({})),
        ("c", json!({ "basis": "marginal" })),
    ] {
        run_of(&basis).on(name, name).write(&logs.path().join(name));
    }
    impact()
        .arg("statement")
        .arg(logs.path())
        .assert()
        .success()
        .stdout(contains("life-cycle figures of a mix that is not named"))
        .stdout(contains("figures whose basis is not known (1 run"))
        .stdout(contains("marginal figures (1 run"));
}
