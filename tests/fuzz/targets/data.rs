//! `data.json` of a run: figures or an error.
#![no_main]

use std::cell::LazyCell;
use std::fs;

use impact::ledger::summarise::summarise;
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

thread_local! {
    static RUN: LazyCell<TempDir> = LazyCell::new(|| {
        let run = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(run.path().join("impacttracker")).expect("a new folder");
        run
    });
}

fuzz_target!(|bytes: &[u8]| {
    RUN.with(|run| {
        fs::write(run.path().join("impacttracker/data.json"), bytes).expect("a writable file");
        let _ = summarise(run.path());
    });
});
