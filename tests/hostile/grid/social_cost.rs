//! Money of different years.

use crate::support::receipt::json;
use crate::support::{Run, impact};
use predicates::str::contains;

#[test]
fn a_social_cost_is_in_dollars_of_2005_and_of_a_named_year_by_a_named_index() {
    let logs = tempfile::tempdir().unwrap();
    Run::of_watts(4e3).write(&logs.path().join("run"));
    for format in ["text", "markdown", "latex", "html"] {
        impact()
            .arg("statement")
            .arg(logs.path())
            .args(["USA", "--detail", "--format", format])
            .assert()
            .success()
            .stdout(contains(
                "These are US dollars of 2005; in those of 2025 it is ",
            ))
            .stdout(contains(
                "by the US consumer price index CPI-U, annual average",
            ));
    }
    let cost = &json(&[logs.path()], &["USA"])["social_cost_usd"];
    assert_eq!(cost["dollar_year"], 2005);
    assert_eq!(cost["newest"]["dollar_year"], 2025);
    let factor = cost["newest"]["factor"].as_f64().unwrap();
    let [of_2005, of_2025] = [&cost["median"], &cost["newest"]["median"]];
    let ratio = of_2025.as_f64().unwrap() / of_2005.as_f64().unwrap();
    assert!((ratio - factor).abs() < 1e-9 && (1.6..1.7).contains(&factor));
}
