//! What cannot be meant is refused before anything is done.

use crate::support::{Run, impact};
use predicates::prelude::*;
use predicates::str::contains;

#[test]
fn mistakes_in_the_command_line_end_with_2() {
    let mistakes: &[(&[&str], &str)] = &[
        (&["region", "--lat", "95", "--lon", "13"], "error: "),
        #[cfg(feature = "live")]
        (
            &["grid", "FR", "--provider", "foo"],
            "no provider is called foo",
        ),
        #[cfg(feature = "live")]
        (
            &["grid", "FR", "--from", "2026-11-08", "--to", "2026-11-01"],
            "must run forwards",
        ),
        (
            &["region", "--zone", "FR", "--config", "bogus=1"],
            "there is no key `bogus`",
        ),
        (
            &["cloud", "--suggest", "aws:us-east-1", "--within", "nan"],
            "it must be a number of kilometres",
        ),
        (
            &["estimate", "--memory", "1", "--hours", "1e300"],
            "a number of hours from 0.000001 to 100,000,000",
        ),
    ];
    for (arguments, words) in mistakes {
        impact()
            .args(*arguments)
            .assert()
            .code(2)
            .stderr(contains(*words));
    }
}

#[test]
fn a_file_named_twice_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    Run::default().write(&folder.path().join("logs/a"));
    impact()
        .current_dir(folder.path())
        .args(["statement", "logs", "-o", "x.tex", "--bib", "./x.tex"])
        .assert()
        .code(2)
        .stderr(
            contains("x.tex is given as the name of two files")
                .and(contains("try: a different name for each")),
        );
    assert!(!folder.path().join("x.tex").exists());
}
