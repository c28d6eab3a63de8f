//! `impact region`, `impact cloud` and `impact map` as users meet them.

use crate::support;
use serde_json::Value;

fn impact(args: &[&str]) -> assert_cmd::assert::Assert {
    let nowhere = tempfile::tempdir().unwrap();
    support::impact()
        .args(args)
        .env("IMPACT_SYSFS_ROOT", nowhere.path())
        .env("IMPACT_RUN_ROOT", nowhere.path())
        .assert()
}

fn out(args: &[&str]) -> String {
    String::from_utf8(impact(args).success().get_output().stdout.clone()).unwrap()
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&out(&[args, &["--format", "json"]].concat())).unwrap()
}

fn refusal(args: &[&str], code: i32) -> String {
    String::from_utf8(impact(args).code(code).get_output().stderr.clone()).unwrap()
}

#[test]
fn stanford_gives_the_figure_of_the_original_to_the_last_digit() {
    let answer = out(&[
        "region",
        "--address",
        "Stanford, California",
        "--dataset",
        "eit-2019",
        "--format",
        "json",
    ]);
    assert!(
        answer.contains("\"carbon_intensity\": 250.73337617853463"),
        "{answer}"
    );
    assert!(answer.contains("\"zone\": \"US-CA\""));
}

#[test]
fn the_answer_carries_source_year_licence_and_how_it_was_found() {
    let answer = json(&["region", "--lat", "37.4275", "--lon", "-122.1697"]);
    assert_eq!(answer["zone"], "US-CA");
    assert_eq!(answer["name"], "California");
    assert_eq!(answer["year"], 2025);
    assert_eq!(answer["licence"], "ODbL 1.0");
    assert_eq!(answer["lat"], 37.4275);
    assert!(
        answer["source"]
            .as_str()
            .unwrap()
            .starts_with("Electricity Maps")
    );
    assert!(answer["how"].as_str().unwrap().contains("inside US-CA"));
    assert!(answer["renewable_share"].is_number() && answer["fossil_share"].is_number());
}

#[test]
fn several_candidates_are_listed_and_the_chosen_one_is_marked() {
    let text = out(&["region", "--address", "Cambridge"]);
    let chosen: Vec<&str> = text.lines().filter(|line| line.starts_with("* ")).collect();
    assert_eq!(chosen.len(), 1);
    assert!(text.contains("England, United Kingdom") && text.contains("people)"));
    assert_eq!(
        json(&["region", "--address", "Cambridge, UK"])["zone"],
        "GB"
    );
    assert_eq!(
        json(&["region", "--address", "Cambridge MA"])["zone"],
        "US-NEISO"
    );
}

#[test]
fn a_year_asked_for_is_the_year_answered() {
    let quebec = |year: &str| json(&["region", "--zone", "CA-QC", "--year", year]);
    assert_eq!(quebec("2022")["carbon_intensity"], 28.0);
    assert_eq!(quebec("2025")["carbon_intensity"], 41.0);
    let old = quebec("2001");
    assert_eq!(old["year"], 2021);
    assert_eq!(
        old["fallbacks"][0],
        "there is no figure for 2001, that of 2021 is used"
    );
}

#[test]
fn lists_are_ranked_and_neighbours_have_distances() {
    let top = json(&["region", "--top", "5"]);
    let bottom = json(&["region", "--bottom", "5"]);
    let first = |list: &Value| list[0]["carbon_intensity"].as_f64().unwrap();
    assert_eq!(top.as_array().unwrap().len(), 5);
    assert!(first(&top) > 500.0 && first(&bottom) < 50.0);
    let near = json(&["region", "--country", "FRA", "--near", "3"]);
    assert_eq!(near[0]["zone"], "FR");
    assert_eq!(near.as_array().unwrap().len(), 4);
    assert!(near[1]["distance_km"].is_number());
}

#[test]
fn zones_that_are_too_fine_for_the_map_are_ranked_as_well() {
    let clean = json(&["region", "--bottom", "100"]);
    let clean = clean.as_array().unwrap();
    let place = clean.iter().position(|row| row["zone"] == "SE-SE1");
    assert_eq!(clean[place.unwrap()]["carbon_intensity"], 15.0);
}

#[test]
fn a_map_that_is_no_file_or_too_large_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let large = folder.path().join("large.geojson");
    let file = std::fs::File::create(&large).unwrap();
    file.set_len((256 << 20) + 1).unwrap();
    for (path, why) in [
        ("/dev/zero", "not a regular file"),
        (large.to_str().unwrap(), "larger than 256 MB"),
    ] {
        impact(&["region", "--zone", "FR", "--zones", path])
            .code(1)
            .stderr(predicates::str::contains(format!("cannot read {path}")))
            .stderr(predicates::str::contains(why));
    }
}

#[test]
fn the_shipped_map_is_real_geojson_and_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let map = folder.path().join("map.geojson");
    std::fs::write(&map, out(&["region", "--all", "--format", "geojson"])).unwrap();
    let answer = json(&[
        "region",
        "--zones",
        map.to_str().unwrap(),
        "--lat",
        "48.86",
        "--lon",
        "2.35",
    ]);
    assert_eq!(answer["zone"], "FR");
}

#[test]
fn a_map_and_a_table_of_ones_own_replace_the_shipped_ones() {
    let folder = tempfile::tempdir().unwrap();
    let (map, table) = (
        folder.path().join("lab.geojson"),
        folder.path().join("lab.csv"),
    );
    std::fs::write(
        &map,
        r#"{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"zone":"LAB-1"},
            "geometry":{"type":"Polygon","coordinates":[[[2,48],[3,48],[3,49],[2,49],[2,48]]]}}]}"#,
    )
    .unwrap();
    std::fs::write(
        &table,
        "zone,g_per_kwh,year,source\nLAB-1,12.5,2024,our \u{1b}[31mroof\n",
    )
    .unwrap();
    let own = [
        "--zones",
        map.to_str().unwrap(),
        "--intensities",
        table.to_str().unwrap(),
    ];
    let answer = json(&[&["region", "--address", "Paris"], &own[..]].concat());
    assert_eq!(
        (answer["zone"].as_str(), answer["carbon_intensity"].as_f64()),
        (Some("LAB-1"), Some(12.5))
    );
    let text = out(&[&["region", "--address", "Paris"], &own[..]].concat());
    assert!(!text.contains('\u{1b}'), "{text:?}");
    let error = refusal(
        &[
            "region",
            "--address",
            "Paris",
            "--zones",
            map.to_str().unwrap(),
        ],
        1,
    );
    assert!(error.contains("--intensities"), "{error}");
}

#[test]
fn what_cannot_be_found_is_refused_with_what_to_try() {
    for (args, error) in [
        (
            &["region", "--lat", "0", "--lon", "-30"][..],
            "no electricity zone within 0.25 degrees",
        ),
        (
            &["region", "--address", "Karlsruhee"],
            "Karlsruhe, Baden-Wurttemberg, Germany",
        ),
        (&["region", "--zone", "US-CAA"], "US-CA (California)"),
        (&["region", "--cloud", "aws:us-esat-1"], "us-east-1"),
        (&["region", "--current"], "do not say where it is"),
    ] {
        let text = refusal(args, 1);
        assert!(
            text.starts_with("error: ") && text.contains(error) && text.contains("\ntry: "),
            "{text}"
        );
    }
    for args in [
        &["region"][..],
        &["region", "--lat", "1"],
        &["region", "--country", "Atlantis"],
        &["cloud"],
    ] {
        refusal(args, 2);
    }
}

#[test]
fn an_escape_sequence_in_an_address_does_not_reach_the_terminal() {
    let text = refusal(&["region", "--address", "\u{1b}[2J\u{202e}x"], 1);
    assert!(
        !text.contains('\u{1b}') && !text.contains('\u{202e}'),
        "{text:?}"
    );
}

#[test]
fn a_machine_in_a_cloud_knows_its_region() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(root.path().join("cloud-init")).unwrap();
    let data = r#"{"v1":{"cloud_name":"gce","region":"europe-north1"}}"#;
    std::fs::write(root.path().join("cloud-init/instance-data.json"), data).unwrap();
    let run = |zone: &str| {
        let output = support::impact()
            .args(["region", "--current", "--format", "json"])
            .env("IMPACT_RUN_ROOT", root.path())
            .env("IMPACT_ZONE", zone)
            .output()
            .unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["zone"].clone()
    };
    assert_eq!(run(""), "FI");
    assert_eq!(run("CA-QC"), "CA-QC");
}

#[test]
fn a_project_file_says_where_this_machine_is_and_which_figures_count() {
    let folder = tempfile::tempdir().unwrap();
    let set = |text: &str| std::fs::write(folder.path().join(".impact.toml"), text).unwrap();
    let run = |args: &[&str]| {
        let output = support::impact()
            .args(args)
            .current_dir(folder.path())
            .output()
            .unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let current = ["region", "--current", "--format", "json"];
    set("zone = \"CA-QC\"\n");
    let answer = run(&current);
    assert_eq!(answer["zone"], "CA-QC");
    let how = answer["how"].as_str().unwrap().to_owned();
    assert!(how.ends_with(".impact.toml:1 names the zone"), "{how}");
    set("region = \"aws:eu-north-1\"\ndataset = \"eit-2019\"\n");
    let answer = run(&current);
    assert_eq!(answer["zone"], "SE-SE3");
    let job = [
        "estimate", "--memory", "1", "--hours", "1", "--format", "json",
    ];
    assert_eq!(run(&job)["carbon_intensity"], answer["carbon_intensity"]);
    std::fs::write(folder.path().join("own.csv"), "zone,g_per_kwh\nFR,7\n").unwrap();
    set("zone = \"FR\"\n");
    let own = ["--config", "intensities=own.csv"];
    assert_eq!(run(&[&job[..], &own].concat())["carbon_intensity"], 7.0);
    assert_eq!(run(&[&current[..], &own].concat())["carbon_intensity"], 7.0);
}

#[test]
fn a_cloud_region_is_asked_for_as_in_the_other_commands() {
    let zone = |option: &str| json(&["region", option, "aws:eu-north-1"])["zone"].clone();
    assert_eq!(zone("--region"), zone("--cloud"));
}

#[test]
fn yaml_keeps_norway_a_text() {
    assert!(out(&["region", "--country", "NOR", "--format", "yaml"]).contains("zone: \"NO\""));
}

#[test]
fn clouds_are_listed_with_zone_intensity_and_pue() {
    let all = json(&["cloud", "all"]);
    assert_eq!(all.as_array().unwrap().len(), 321);
    let aws = json(&["cloud", "aws", "--sort", "intensity"]);
    let grams: Vec<f64> = aws
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["carbon_intensity"].as_f64().unwrap())
        .collect();
    assert!(grams.is_sorted());
    let pue = |code: &str| {
        let region = aws.as_array().unwrap().iter();
        region.clone().find(|r| r["region"] == code).unwrap()["pue"].clone()
    };
    assert_eq!(
        (pue("eu-north-1"), pue("eu-west-3")),
        (1.1.into(), 1.14.into())
    );
    let near = json(&["cloud", "gcp", "--near", "-33.9,151.2"]);
    assert_eq!(near[0]["region"], "australia-southeast1");
}

#[test]
fn a_suggestion_is_cleaner_near_and_says_by_how_much() {
    let rows = json(&["cloud", "--suggest", "aws:us-east-1"]);
    assert_eq!(rows[0]["region"], "us-east-1");
    assert_eq!(rows[1]["region"], "ca-central-1");
    assert_eq!(rows[1]["saving_percent"], 90.0);
}

#[test]
fn a_map_has_a_title_a_description_and_the_point() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("map.svg");
    out(&[
        "map",
        "--at",
        "37.4275,-122.1697",
        "--output",
        path.to_str().unwrap(),
    ]);
    let svg = std::fs::read_to_string(&path).unwrap();
    assert!(svg.contains("<title id=\"map-title\">") && svg.contains("<desc id=\"map-desc\">"));
    assert!(svg.contains("US-CA: 208 g/kWh") && svg.contains("ODbL 1.0"));
    assert!(svg.len() < 400_000, "{}", svg.len());
    let again = refusal(&["map", "--output", path.to_str().unwrap()], 1);
    assert!(again.contains("--force"));
    assert!(out(&["map", "--zone", "CH", "--html"]).starts_with("<!doctype html>"));
    let page = folder.path().join("map.html");
    out(&["map", "--zone", "CH", "--output", page.to_str().unwrap()]);
    assert!(
        std::fs::read_to_string(&page)
            .unwrap()
            .starts_with("<!doctype html>")
    );
    let picture = folder.path().join("map.png");
    let refused = refusal(&["map", "--output", picture.to_str().unwrap()], 1);
    assert!(refused.contains("try: a file that ends in .svg or .html"));
    assert!(!picture.exists());
}
