//! The overhead of a data centre that nobody states.

use crate::support::receipt::json;
use crate::support::{LegacyRun, Run, impact};
use predicates::str::contains;
use tempfile::tempdir;

const SURVEY: &str = "Uptime Institute, Global Data Center Survey";

#[test]
fn an_assumed_pue_is_the_newest_average_and_names_its_survey() {
    let logs = tempdir().unwrap();
    Run::default().write(&logs.path().join("run"));
    let origin = &json(&[logs.path()], &[])["pue_origins"][0];
    assert_eq!(origin["pue"], 1.54);
    assert_eq!(origin["origin"], "assumed");
    assert_eq!(origin["source"], format!("{SURVEY}, 2025"));
    for format in ["text", "latex"] {
        impact()
            .arg("statement")
            .arg(logs.path())
            .args(["--detail", "--format", format])
            .assert()
            .success()
            .stdout(contains(format!(
                "PUE 1.54, a global average assumed here: {SURVEY}, 2025"
            )));
    }
}

#[test]
fn a_log_of_the_original_tool_keeps_the_pue_its_figures_were_published_with() {
    let logs = tempdir().unwrap();
    LegacyRun::default().write(&logs.path().join("run"));
    let origin = &json(&[logs.path()], &[])["pue_origins"][0];
    assert_eq!(origin["pue"], 1.58);
    assert_eq!(
        origin["source"],
        format!("{SURVEY}, as in experiment-impact-tracker, 2018")
    );
}
