//! `info.json` beside a sample: figures or an error.
#![no_main]

use std::cell::LazyCell;
use std::fs;

use impact::ledger::summarise::summarise;
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

const SAMPLE: &str = r#"{"schema":2,"timestamp":1700000000,"elapsed":1,"energy":{"cpu":{"attributed_j":1,"method":"measured"}}}"#;

thread_local! {
    static RUN: LazyCell<TempDir> = LazyCell::new(|| {
        let run = tempfile::tempdir().expect("a temporary folder");
        let folder = run.path().join("impacttracker");
        fs::create_dir(&folder).expect("a new folder");
        fs::write(folder.join("data.json"), SAMPLE).expect("a writable file");
        run
    });
}

fuzz_target!(|bytes: &[u8]| {
    RUN.with(|run| {
        fs::write(run.path().join("impacttracker/info.json"), bytes).expect("a writable file");
        let _ = summarise(run.path());
    });
});
