//! The receipt that `impact statement --format json` writes.

use std::path::Path;

use serde_json::Value;

use super::impact;

pub fn json(arguments: &[&Path], more: &[&str]) -> Value {
    let output = impact()
        .arg("statement")
        .args(arguments)
        .args(more)
        .args(["--format", "json"])
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{error}: {}", String::from_utf8_lossy(&output.stderr));
    })
}

pub fn close(found: &Value, wanted: f64) {
    let found = found.as_f64().unwrap();
    assert!(
        (found - wanted).abs() <= 1e-12 * wanted.abs(),
        "{found} is not {wanted}"
    );
}
