//! A profile: energies that add up and pictures, or an error.
#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use impact::Energy;
use impact::ledger::attribute::{Attribution, Options, bands, csv, flame, graph, json};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = TempDir::new().unwrap();
    let log = folder.path().join("impacttracker");
    fs::create_dir(&log).unwrap();
    let sample = |elapsed: u32| {
        let time = 1_700_000_000 + elapsed;
        let joules = 20 * elapsed;
        format!(
            "{{\"schema\":2,\"timestamp\":{time},\"elapsed\":{elapsed},\"energy\":{{\"package-0\":\
             {{\"total_j\":{joules},\"attributed_j\":{joules},\"method\":\"measured\"}},\"gpu:a\":\
             {{\"total_j\":{joules},\"attributed_j\":{joules},\"method\":\"measured\"}}}}}}\n"
        )
    };
    fs::write(log.join("data.json"), (0..9).map(sample).collect::<String>()).unwrap();
    fs::write(log.join("info.json"), "{\"schema\":2}").unwrap();
    folder
});

fuzz_target!(|bytes: &[u8]| {
    let profile: PathBuf = FOLDER.path().join("profile");
    fs::write(&profile, bytes).unwrap();
    let options = Options {
        over_time: true,
        ..Options::default()
    };
    let Ok(attribution) = Attribution::of(FOLDER.path(), &profile, &options) else {
        return;
    };
    let of_spans: Energy = attribution.rows.iter().map(|row| row.own).sum();
    assert_eq!(of_spans + attribution.uncovered(), attribution.total());
    let _ = (json(&attribution), csv(&attribution));
    let _ = (flame(&attribution), graph(&attribution), bands(&attribution));
});
