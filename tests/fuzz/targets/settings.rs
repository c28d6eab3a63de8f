//! A settings file: settings and errors.
#![no_main]

use std::cell::LazyCell;
use std::fs;

use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

thread_local! {
    static FOLDER: LazyCell<TempDir> =
        LazyCell::new(|| tempfile::tempdir().expect("a temporary folder"));
}

fuzz_target!(|bytes: &[u8]| {
    FOLDER.with(|folder| {
        let file = folder.path().join(".impact.toml");
        fs::write(&file, bytes).expect("a writable file");
        impact::cli::fuzzing::read_settings(&file);
    });
});
