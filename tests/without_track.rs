//! The program as it is built for macOS and Windows: it reads logs, and says that it cannot measure.
//!
//! `cargo test --no-default-features --features cli --test without_track` runs these tests; a build that can measure
//! does not have them.

#[path = "suite/support/program.rs"]
mod program;

use std::path::PathBuf;

use program::impact;

#[test]
fn commands_that_measure_say_that_they_are_not_available_and_what_is() {
    for (command, code) in [
        ("track", 125),
        ("bench", 1),
        ("powercap", 1),
        ("doctor", 1),
        ("require", 1),
    ] {
        let mut measure = impact();
        measure.args([command, "--zone", "FR", "--", "true"]);
        let output = measure.assert().code(code).get_output().clone();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            message,
            format!(
                "error: {command}: not on this system yet\n\
                 because: this impact was built without the feature `track`\n\
                 try: impact statement LOGS, which reads logs made on another machine\n"
            )
        );
    }
}

#[test]
fn logs_of_another_machine_are_accounted() {
    let runs = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/reference/runs");
    for command in ["statement", "report", "list"] {
        let mut account = impact();
        account.arg(command).arg(&runs).args(["--zone", "US-CA"]);
        let output = account.assert().success().get_output().clone();
        assert!(!output.stdout.is_empty(), "{command} printed nothing");
    }
}
