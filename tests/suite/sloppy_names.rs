//! Devices, places and amounts are understood as people write them.

use crate::support::{Run, impact, impact_in};

fn out(arguments: &[&str]) -> String {
    let output = impact().args(arguments).output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {complaint}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&out(&[arguments, &["--format", "json"]].concat())).unwrap()
}

#[test]
fn a_device_is_known_by_what_people_and_drivers_call_it() {
    for (option, name, device) in [
        ("--gpu", "rtx3090", "1 x GeForce RTX 3090 (350 W)"),
        ("--gpu", "1080ti", "1 x GeForce GTX 1080 Ti (250 W)"),
        ("--gpu", "TPUv4", "1 x TPU v4 (192 W)"),
        (
            "--gpu",
            "NVIDIA H100 80GB HBM3",
            "1 x H100 SXM5 80 GB (700 W)",
        ),
        (
            "--cpu",
            "AMD EPYC 7763 64-Core Processor",
            "1 x AMD EPYC 7763 (280 W)",
        ),
        (
            "--cpu",
            "12th Gen Intel(R) Core(TM) i7-1260P",
            "1 x Intel Core i7-1260P (28 W)",
        ),
    ] {
        let text = out(&["estimate", option, name, "--hours", "1"]);
        assert!(text.contains(device), "{name}: {text}");
    }
}

#[test]
fn a_share_may_be_a_percentage_and_hours_may_have_a_unit() {
    let kwh = |hours: &str, share: &str| {
        let job = [
            "--gpu",
            "rtx3090",
            "--hours",
            hours,
            "--gpu-utilization",
            share,
        ];
        out(&[&["estimate"], &job[..]].concat())
    };
    let plain = kwh("0.5", "0.8");
    assert!(
        plain.contains("at 80 % utilisation") && plain.contains("in 30 min"),
        "{plain}"
    );
    for (hours, share) in [
        ("30m", "80%"),
        ("30 min", "80 %"),
        ("1800s", "0.8"),
        ("0.5h", " 80% "),
    ] {
        assert_eq!(kwh(hours, share), plain, "{hours} {share}");
    }
}

#[test]
fn a_place_is_known_by_what_people_call_it() {
    for (option, name, zone) in [
        ("--address", "NYC", "US-NY"),
        ("--address", "L.A.", "US-CA"),
        ("--address", "Zuerich", "CH"),
        ("--address", "Buenos Aires", "AR"),
        ("--address", "Washington, D.C.", "US-DC"),
        ("--address", "Germany", "DE"),
        ("--address", "Burma", "MM"),
        ("--address", "England", "GB"),
        ("--zone", "Germany", "DE"),
        ("--zone", "USA", "US"),
        ("--zone", "United States", "US"),
        ("--zone", "England", "GB"),
        ("--country", "Germany", "DE"),
        ("--country", "Burma", "MM"),
        ("--country", "England", "GB"),
        ("--region", "ovh:gra", "FR"),
        ("--region", "azure:East US", "US-PJM"),
    ] {
        let region = json(&["region", option, name]);
        assert_eq!(region["zone"].as_str(), Some(zone), "{option} {name}");
        let grams = region["carbon_intensity"].as_f64().unwrap();
        let job = ["estimate", "--gpu", "rtx3090", "--hours", "1", option, name];
        let text = out(&job);
        let said = format!("At {grams} g/kWh in {zone}");
        assert!(text.contains(&said), "{option} {name}: {text}");
    }
}

#[test]
fn a_country_of_several_zones_is_answered_with_its_average_by_name() {
    for arguments in [
        ["--zone", "USA"],
        ["--zone", "Canada"],
        ["--country", "Australia"],
    ] {
        let region = json(&["region", arguments[0], arguments[1]]);
        let how = region["how"].as_str().unwrap();
        let name = region["name"].as_str().unwrap();
        assert_eq!(how, format!("the country {name}"), "{arguments:?}");
    }
    let text = out(&[
        "estimate", "--memory", "64", "--hours", "1", "--zone", "USA",
    ]);
    assert!(
        text.contains("the average of the United States, which was given"),
        "{text}"
    );
}

#[test]
fn a_statement_takes_the_same_names() {
    let folder = tempfile::tempdir().unwrap();
    Run::default()
        .without("region")
        .write(&folder.path().join("impact-logs/a"));
    for country in ["Germany", "DEU", "de", "Burma", "England", "UK", "America"] {
        let output = impact_in(folder.path())
            .args(["statement", country])
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(
            text.contains("The zone was not recorded; the average of"),
            "{country}: {text}"
        );
    }
}
