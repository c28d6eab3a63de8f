//! `impact compare` from end to end.

use std::path::Path;

use crate::support::{Run, impact_in};
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use tempfile::TempDir;

/// Five runs of about 100 W and five of about 110 W, an hour each.
fn two_groups() -> TempDir {
    let folder = TempDir::new().unwrap();
    for (index, watts) in [98.0, 99.0, 100.0, 101.0, 102.0].into_iter().enumerate() {
        let base = Run::of_watts(watts).tag("lr", "0.1");
        base.write(&folder.path().join(format!("a/{index}")));
        let other = Run::of_watts(watts * 1.1).tag("lr", "0.2");
        other.write(&folder.path().join(format!("b/{index}")));
    }
    folder
}

#[test]
fn means_and_their_difference_are_told_in_the_unit_of_the_figure() {
    let folder = two_groups();
    impact_in(folder.path())
        .args(["compare", "a", "b", "--metric", "energy", "--pue", "1"])
        .assert()
        .success()
        .stdout(predicates::str::starts_with(
            "b used 10 % more energy than a (95 % interval +7.6 to +12 %; 5 against 5 runs; Welch p = 1.3e-5).\n\n\
             energy, PUE included\n",
        ))
        .stdout(predicate::str::is_match(r"b +5 +110 +\+10 % +\+7\.6 to \+12 % +1\.3e-5 +0\.7778 ").unwrap())
        .stdout(contains("Mann-Whitney U").not());
    impact_in(folder.path())
        .args(["compare", "a", "b", "--metric", "energy", "--tests"])
        .assert()
        .success()
        .stdout(contains("Mann-Whitney U"))
        .stdout(contains("effect size (Cohen's d)"));
}

#[test]
fn a_verdict_about_estimates_says_that_they_are_estimates() {
    let folder = TempDir::new().unwrap();
    for (group, method) in [("a", "measured"), ("b", "estimated")] {
        let method = serde_json::json!({ "method": method, "model": "TDP x load" });
        let run = Run {
            method,
            ..Run::of_watts(100.0)
        };
        run.write(&folder.path().join(group));
    }
    impact_in(folder.path())
        .args(["compare", "a", "b"])
        .assert()
        .success()
        .stdout(contains(
            "The energy of 1 of 2 runs is estimated at least in part, not measured.\n\n",
        ));
}

#[test]
fn little_and_much_energy_is_shown_without_zeros_and_written_in_fixed_units() {
    for (watts, seconds, energy, mass, kwh) in [
        (1e-9, 3600.0, ("µJ", "5.4"), ("pg", "375"), 1.5e-12),
        (2e3, 3.6e6, ("MWh", "3"), ("kg", "750"), 3e3),
    ] {
        let folder = TempDir::new().unwrap();
        for (index, spread) in [0.99, 1.0, 1.01, 1.0].into_iter().enumerate() {
            for (group, factor) in [("a", 1.0), ("b", 1.5)] {
                let run = Run::of_watts(watts * spread * factor).between(1.7e9, seconds);
                let run = Run {
                    step: seconds / 4.0,
                    ..run
                };
                run.write(&folder.path().join(format!("{group}/{index}")));
            }
        }
        let shown = |format: &str| {
            let mut command = impact_in(folder.path());
            command.args([
                "compare", "a", "b", "--pue", "1", "--tests", "--format", format,
            ]);
            let output = command.output().unwrap();
            assert!(output.status.success(), "{output:?}");
            String::from_utf8(output.stdout).unwrap()
        };
        for format in ["text", "markdown", "html"] {
            let text = shown(format);
            for (unit, mean) in [energy, mass] {
                assert!(text.contains(&format!("mean ({unit})")), "{text}");
                assert!(text.contains(&format!("low ({unit})")), "{text}");
                let cell = format!(r"(?:\| |<td>| 4 +){mean}(?: |</td>)");
                assert!(
                    predicate::str::is_match(cell).unwrap().eval(&text),
                    "{text}"
                );
            }
            assert!(!text.contains("0.000"), "{text}");
        }
        let svg = shown("svg");
        assert!(
            svg.contains(&format!("energy, PUE included ({})", energy.0)),
            "{svg}"
        );
        assert!(!svg.contains(">0.000"), "{svg}");
        let json: Value = serde_json::from_str(&shown("json")).unwrap();
        let figure = &json["figures"]["total_power"];
        assert_eq!(figure["unit"], "kWh");
        let mean = figure["groups"][1]["mean"].as_f64().unwrap();
        assert!((mean / kwh - 1.0).abs() < 1e-9, "{mean}");
        let csv = shown("csv");
        let row = csv
            .lines()
            .find(|line| line.starts_with("total_power,kWh,b"));
        let mean = row.unwrap().split(',').nth(6).unwrap();
        assert!(
            (mean.parse::<f64>().unwrap() / kwh - 1.0).abs() < 1e-9,
            "{mean}"
        );
    }
}

/// Writes a run that counts tokens twice.
fn counting(folder: &Path, watts: f64, tokens: f64) {
    let data = Run::of_watts(watts)
        .write(folder)
        .join("impacttracker/data.json");
    let lines = std::fs::read_to_string(&data).unwrap();
    let counted = lines.lines().enumerate().map(|(number, line)| {
        let mut sample: Value = serde_json::from_str(line).unwrap();
        if let 1 | 2 = number {
            let count = serde_json::json!({ "tokens": tokens / 2.0 });
            sample["mark"] = serde_json::json!({ "name": "", "edge": "count", "count": count });
        }
        format!("{sample}\n")
    });
    std::fs::write(&data, counted.collect::<String>()).unwrap();
}

#[test]
fn the_energy_for_a_unit_of_work_is_compared_and_is_a_gate() {
    let folder = TempDir::new().unwrap();
    for (index, watts) in [9.9, 10.0, 10.1, 10.0].into_iter().enumerate() {
        // Twice the energy for four times the work.
        counting(&folder.path().join(format!("a/{index}")), watts, 9e6);
        counting(&folder.path().join(format!("b/{index}")), watts * 2.0, 36e6);
    }
    let compare = |options: &[&str]| {
        let mut command = impact_in(folder.path());
        command
            .args(["compare", "a", "b", "--pue", "1"])
            .args(options);
        command.assert()
    };
    compare(&["--metric", "j_per_tokens"])
        .success()
        .stdout(predicates::str::starts_with(
            "b used 50 % less energy for the same number of tokens than a (",
        ))
        .stdout(contains(
            "\nenergy for a unit of work (tokens), PUE included\n",
        ))
        .stdout(contains("mean (mJ)"));
    let json = compare(&["--metric", "j_per_tokens", "--format", "json"]);
    let json: Value = serde_json::from_slice(&json.get_output().stdout).unwrap();
    let figure = &json["figures"]["j_per_tokens"];
    assert_eq!(figure["unit"], "J");
    let mean = figure["groups"][0]["mean"].as_f64().unwrap();
    assert!((mean - 0.004).abs() < 1e-12, "{mean}");
    compare(&["--fail-if", "j_per_tokens > 1 mJ"])
        .code(6)
        .stderr(contains(
            "failed: --fail-if 'j_per_tokens > 1 mJ': b: energy for the same number of tokens is 2 mJ",
        ));
    compare(&["--budget", "j_per_tokens <= -40%"]).success();
    compare(&["--metric", "j_per_token"])
        .code(1)
        .stderr(contains(
            "error: no run has counted token; the nearest is tokens\ntry: j_per_tokens",
        ));
}

#[test]
fn three_against_three_runs_are_too_few_and_no_bootstrap_pretends_otherwise() {
    let folder = TempDir::new().unwrap();
    for (index, watts) in [98.0, 99.0, 100.0].into_iter().enumerate() {
        Run::of_watts(watts).write(&folder.path().join(format!("a/{index}")));
        Run::of_watts(watts * 1.5).write(&folder.path().join(format!("b/{index}")));
    }
    let with = |options: &[&str]| {
        let mut command = impact_in(folder.path());
        command
            .args(["compare", "a", "b", "--metric", "energy"])
            .args(options);
        command.assert()
    };
    with(&["--tests"])
        .success()
        .stdout(predicates::str::starts_with(
            "Too few runs to tell whether b and a differ in energy: +50 % (3 against 3 runs). The smallest p that a \
             permutation test can have here is 0.1; it takes 4 against 4 runs for p below 0.05.",
        ))
        .stdout(contains("bootstrap (too few runs)"))
        .stdout(contains("2e-4").not());
    with(&["--fail-if-significant"]).code(1).stderr(contains(
        "not judged: --fail-if-significant 'any': b: too few runs to tell about energy",
    ));
    with(&["--confidence", "0.89"]).stdout(contains("b used 50 % more energy"));
}

#[test]
fn runs_without_spread_are_compared_by_permutation_and_equal_ones_are_the_same() {
    let folder = TempDir::new().unwrap();
    for index in 0..5 {
        Run::of_watts(100.0).write(&folder.path().join(format!("a/{index}")));
        Run::of_watts(100.0).write(&folder.path().join(format!("b/{index}")));
        Run::of_watts(90.0).write(&folder.path().join(format!("c/{index}")));
    }
    impact_in(folder.path())
        .args(["compare", "a", "b", "c", "--metric", "energy"])
        .assert()
        .success()
        .stdout(predicates::str::starts_with(
            "b and a have the same energy in every run (5 against 5 runs).\n\
             c used 10 % less energy than a (5 against 5 runs; permutation p = 0.0079).\n",
        ));
}

#[test]
fn the_baseline_is_chosen_by_name_and_numbers_are_sorted_as_numbers() {
    let folder = TempDir::new().unwrap();
    for (lr, watts) in [
        ("10", 100.0),
        ("1e-3", 120.0),
        ("0.5", 110.0),
        ("none", 90.0),
    ] {
        for index in 0..2 {
            let run = Run::of_watts(watts + f64::from(index)).tag("lr", lr);
            run.write(&folder.path().join(format!("{lr}/{index}")));
        }
    }
    let names = |options: &[&str]| {
        let mut command = impact_in(folder.path());
        let output = command.args(["compare", "--format", "json"]).args(options);
        let output = output.output().unwrap();
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        let groups = json["groups"].as_array().unwrap().iter();
        groups
            .map(|group| group["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names(&[".", "--by", "lr"]),
        ["lr=1e-3", "lr=0.5", "lr=10", "lr=none"]
    );
    assert_eq!(
        names(&[".", "--by", "lr", "--baseline", "10"]),
        ["lr=10", "lr=1e-3", "lr=0.5", "lr=none"]
    );
    assert_eq!(
        names(&["10", "./0.5/", "--baseline", "0.5"]),
        ["./0.5/", "10"]
    );
    impact_in(folder.path())
        .args(["compare", ".", "--by", "lr", "--baseline", "nome"])
        .assert()
        .code(2)
        .stderr(contains("no group is called nome"))
        .stderr(contains("try: one of lr=1e-3, lr=0.5, lr=10, lr=none"));
}

#[test]
fn runs_are_paired_by_a_tag_and_those_without_a_partner_are_told() {
    let folder = TempDir::new().unwrap();
    for seed in 0..6 {
        let watts = 100.0 + 20.0 * f64::from(seed);
        let run = |watts: f64| Run::of_watts(watts).tag("seed", &seed.to_string());
        run(watts).write(&folder.path().join(format!("a/{seed}")));
        run(watts + 1.0 + 0.1 * f64::from(seed)).write(&folder.path().join(format!("b/{seed}")));
    }
    let compare = |options: &[&str]| {
        let mut command = impact_in(folder.path());
        command
            .args(["compare", "a", "b", "--metric", "energy"])
            .args(options);
        command.assert()
    };
    compare(&[]).success().stdout(predicates::str::starts_with(
        "No significant difference in energy",
    ));
    compare(&["--paired-by", "seed"]).success().stdout(predicates::str::starts_with(
        "b used 0.83 % more energy than a (95 % interval +0.7 to +0.96 %; 6 pairs by seed; paired t-test p = 1.6e-5).",
    ));
    Run::of_watts(500.0)
        .tag("seed", "7")
        .write(&folder.path().join("b/7"));
    Run::of_watts(500.0).write(&folder.path().join("b/none"));
    compare(&["--paired-by", "seed"])
        .code(3)
        .stdout(contains("b used 0.83 % more energy than a"))
        .stdout(contains(
            "1 run has no partner with the same seed in the comparison with b",
        ))
        .stderr(contains("left out: 1 run without the tag seed"));
    Run::of_watts(500.0)
        .tag("seed", "7")
        .write(&folder.path().join("b/again"));
    compare(&["--paired-by", "seed"]).code(1).stderr(contains(
        "b has two runs with seed=7, so it is not clear which of them to pair",
    ));
}

#[test]
fn figures_are_taken_from_files_beside_the_logs() {
    let folder = two_groups();
    for (group, scores) in [
        ("a", [0.90, 0.91, 0.92, 0.93, 0.94]),
        ("b", [0.95, 0.96, 0.97, 0.98, 0.99]),
    ] {
        for (index, score) in scores.into_iter().enumerate() {
            let table = format!("step,score\n1,0.1\n2,{score}\n");
            std::fs::write(
                folder.path().join(format!("{group}/{index}/eval.csv")),
                table,
            )
            .unwrap();
        }
    }
    let compare = |options: &[&str]| {
        let mut command = impact_in(folder.path());
        command
            .args(["compare", "a", "b", "--pue", "1"])
            .args(options);
        command.assert()
    };
    compare(&[
        "--metric",
        "score=eval.csv:last(score)",
        "--fail-if",
        "score < 0.95",
    ])
    .success()
    .stdout(predicates::str::starts_with(
        "The score of b is 5.4 % higher than that of a",
    ));
    compare(&[
        "--metric",
        "score=eval.csv:last(score)",
        "--fail-if",
        "score < 0.98",
    ])
    .code(6)
    .stderr(contains(
        "failed: --fail-if 'score < 0.98': b: score is 0.97",
    ));
    let spec = r#"{"processors":{"evaluate":{"file":"eval.csv","figures":{"score per kWh":"last(score) / total_power"}}},"all":{}}"#;
    std::fs::write(folder.path().join("spec.json"), spec).unwrap();
    let json = compare(&["--metrics-from", "spec.json", "--format", "json"]).success();
    let json: Value = serde_json::from_slice(&json.get_output().stdout).unwrap();
    let mean = json["figures"]["score per kWh"]["groups"][1]["mean"]
        .as_f64()
        .unwrap();
    assert!((mean - 8.82).abs() < 0.01, "{mean}");
    std::fs::remove_file(folder.path().join("b/0/eval.csv")).unwrap();
    compare(&["--metric", "score=eval.csv:last(score)"])
        .success()
        .stdout(contains("1 run has no such figure"))
        .stdout(contains("1 run: eval.csv is left out: it cannot be read"));
    compare(&["--metric", "score=/etc/passwd:last(score)"])
        .code(2)
        .stderr(contains("does not lie in the run's folder"));
    let command = r#"{"processors":{"evaluate":{"command":["sh","-c","echo '{\"score\":5}'"],"figures":{"score":"last(score)"}}}}"#;
    std::fs::write(folder.path().join("spec.json"), command).unwrap();
    compare(&["--metrics-from", "spec.json", "--metric", "score"])
        .stdout(contains("The score of a and b is not known."))
        .stdout(contains(
            "the command sh is not run without --allow-commands",
        ));
    compare(&[
        "--metrics-from",
        "spec.json",
        "--metric",
        "score",
        "--allow-commands",
    ])
    .stdout(contains("b and a have the same score in every run"));
}

#[test]
fn a_gate_on_significance_fails_in_the_direction_asked_for() {
    let folder = two_groups();
    let gate = |groups: [&str; 2], option: &str| {
        let mut command = impact_in(folder.path());
        command
            .arg("compare")
            .args(groups)
            .args(["--metric", "energy", option]);
        command.assert()
    };
    gate(["a", "b"], "--fail-if-significant")
        .code(6)
        .stderr(contains(
            "failed: --fail-if-significant 'any': b: energy is significantly more",
        ));
    gate(["a", "b"], "--fail-if-significant=more").code(6);
    gate(["a", "b"], "--fail-if-significant=less").code(0);
    gate(["b", "a"], "--fail-if-significant=less").code(6);
    gate(["a", "a"], "--fail-if-significant").code(0);
}

#[test]
fn a_bound_that_can_be_read_in_two_ways_is_refused_before_any_log_is_read() {
    let refused = |condition: &str, wanted: &[&str]| {
        let mut assert = impact_in(std::path::Path::new("/"))
            .args(["compare", "/nowhere", "/nowhere", "--fail-if", condition])
            .assert()
            .code(2);
        for words in wanted {
            assert = assert.stderr(contains(*words));
        }
    };
    refused(
        "energy > 1.05",
        &[
            "error: `energy > 1.05` has no unit, so it may mean 1.05 kWh or 1.05 times the first group",
            "try: 1.05x for 1.05 times the first group, or 1.05kWh",
        ],
    );
    refused(
        "energy > 5%",
        &[
            "may mean 5 % more than the first group, or 5 % of it",
            "try: +5% for",
        ],
    );
    refused(
        "time > 5 kWh",
        &["expected a number with h, s, ms, min, d, x, %"],
    );
}

#[test]
fn packages_are_counted_in_one_line_and_listed_on_request() {
    let folder = TempDir::new().unwrap();
    for (group, version) in [("a", "1.0"), ("b", "2.0")] {
        let packages = serde_json::json!({ "version": "3.12", "packages": { "torch": version, "numpy": version, "same": "1" } });
        Run::of_watts(100.0)
            .with("python", packages)
            .write(&folder.path().join(format!("{group}/0")));
    }
    let compare = |options: &[&str]| {
        let mut command = impact_in(folder.path());
        command
            .args(["compare", "a", "b"])
            .args(options)
            .assert()
            .success()
    };
    compare(&[])
        .stdout(contains(
            "2 Python packages differ; --environment lists them.",
        ))
        .stdout(contains("torch").not());
    compare(&["--environment"])
        .stdout(contains(
            "package numpy differs: 1.0 / 2.0\npackage torch differs: 1.0 / 2.0\n",
        ))
        .stdout(contains("package same").not());
}

#[test]
fn runs_that_do_not_tell_a_figure_are_counted_as_people_count() {
    let folder = two_groups();
    let told = |words: &str| {
        impact_in(folder.path())
            .args(["compare", "a", "b", "--metric", "co2", "--pue", "1"])
            .assert()
            .stdout(contains(words));
    };
    let nowhere = Run::of_watts(100.0).without("region");
    nowhere.write(&folder.path().join("a/5"));
    told("1 run has no such figure");
    nowhere.write(&folder.path().join("b/5"));
    told("2 runs have no such figure");
}

#[test]
fn a_tag_splits_one_folder_into_groups() {
    let folder = two_groups();
    Run::of_watts(1.0).write(&folder.path().join("c/untagged"));
    let output = impact_in(folder.path())
        .args([
            "compare", ".", "--by", "lr", "--format", "json", "--pue", "1",
        ])
        .assert()
        .code(3)
        .stderr(contains("left out: 1 run without the tag lr"));
    let json: Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
    assert_eq!(json["groups"][1]["name"], "lr=0.2");
    let energy = &json["figures"]["total_power"];
    assert!((energy["groups"][0]["mean"].as_f64().unwrap() - 0.1).abs() < 1e-12);
    assert!(
        (energy["against_first"][0]["relative_difference"]
            .as_f64()
            .unwrap()
            - 0.1)
            .abs()
            < 1e-9
    );
    assert!(
        energy["against_first"][0]["tests"]["welch"]["p"]
            .as_f64()
            .unwrap()
            < 0.001
    );
    assert_eq!(json["same_surroundings"], true);
}

#[test]
fn a_glob_names_a_group() {
    let folder = two_groups();
    impact_in(folder.path())
        .args(["compare", "a/[0-2]", "b/*"])
        .assert()
        .success()
        .stdout(predicate::str::is_match(r"a/\[0-2\] +3 ").unwrap());
    impact_in(folder.path())
        .args(["compare", "a", "none-*"])
        .assert()
        .code(1)
        .stderr(contains("no directory matches none-*"));
}

#[test]
fn a_budget_is_a_gate_by_exit_code() {
    let folder = two_groups();
    let with = |args: &[&str]| {
        let mut command = impact_in(folder.path());
        command.args(["compare", "a", "b"]).args(args).assert()
    };
    with(&["--budget", "energy<=+10%"]).code(0);
    with(&["--budget", "energy<=+9%"]).code(6).stderr(contains(
        "failed: --budget 'energy<=+9%': b: energy is +10.00 %",
    ));
    with(&["--budget", "energy<=110%"]).code(0);
    with(&["--budget", "energy<=109%"]).code(6).stderr(contains(
        "failed: --budget 'energy<=109%': b: energy is 110.00 % of the first group's",
    ));
    with(&["--fail-if", "energy > 700 kJ"]).code(0);
    with(&["--fail-if", "energy > 0.01 Wh"]).code(6);
    with(&["--fail-if", "co2 > 1.2x"]).code(0);
    with(&["--fail-if", "co2 > 1.05x"]).code(6);
    with(&["--fail-if", "gpu > 1.05x"]).code(1).stderr(contains(
        "not judged: --fail-if 'gpu > 1.05x': b: GPU energy is not known",
    ));
    with(&["--fail-if", "gpu > 1.05x", "--fail-if", "co2 > 1.05x"]).code(6);
    with(&["--budget", "enrgy<=+9%"])
        .code(2)
        .stderr(contains("the nearest is energy"));
}

#[test]
fn other_hardware_drivers_and_packages_are_warned_of() {
    let folder = TempDir::new().unwrap();
    let base = Run::of_watts(100.0).gpu("A100", "GPU-1", "535.1", 10.0);
    base.write(&folder.path().join("a/0"));
    let other = Run::of_watts(100.0).gpu("TITAN V", "GPU-2", "550.2", 10.0);
    other.write(&folder.path().join("b/0"));
    impact_in(folder.path())
        .args(["compare", "a", "b"])
        .assert()
        .success()
        .stdout(contains("warning: GPUs differ: 1 x A100 / 1 x TITAN V"))
        .stdout(contains("warning: GPU driver differs: 535.1 / 550.2"))
        .stdout(contains("too few runs"));
}

#[test]
fn every_format_is_written_by_the_ending_of_its_file() {
    let folder = two_groups();
    for (file, start) in [
        ("c.md", "## Comparison"),
        ("c.json", "{"),
        ("c.csv", "figure,unit,group,against,runs"),
        ("c.svg", "<svg "),
        ("c.html", "<!DOCTYPE html>"),
        ("c.txt", "b used 10 % more energy than a"),
    ] {
        let mut command = impact_in(folder.path());
        command
            .args(["compare", "a", "b", "--output", file])
            .assert()
            .success();
        let text = std::fs::read_to_string(folder.path().join(file)).unwrap();
        assert!(text.starts_with(start), "{file}: {text}");
    }
    impact_in(folder.path())
        .args(["compare", "a", "b", "--output", "c.svg"])
        .assert()
        .code(1)
        .stderr(contains("c.svg is already there"));
}

#[test]
fn the_same_seed_writes_the_same_bytes() {
    let folder = two_groups();
    let bytes = |seed: &str| {
        let mut command = impact_in(folder.path());
        let output = command.args(["compare", "a", "b", "--format", "json", "--seed", seed]);
        output.output().unwrap().stdout
    };
    assert_eq!(bytes("7"), bytes("7"));
    assert_ne!(bytes("7"), bytes("8"));
}
