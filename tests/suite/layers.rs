//! The rooms of the house use only those above them.

use std::fs;
use std::path::Path;

/// From the ground up, as `src/lib.rs` lists them.
const ROOMS: [&str; 11] = [
    "units", "text", "files", "model", "grid", "meter", "log", "track", "ledger", "site", "cli",
];

fn sources(path: &Path, found: &mut Vec<(String, String)>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            sources(&entry.unwrap().path(), found);
        }
    } else if path.extension().is_some_and(|ending| ending == "rs") {
        found.push((
            path.display().to_string(),
            fs::read_to_string(path).unwrap(),
        ));
    }
}

#[test]
fn a_room_uses_only_those_above_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (floor, room) in ROOMS.iter().enumerate() {
        let mut found = Vec::new();
        for place in [src.join(format!("{room}.rs")), src.join(room)] {
            if place.exists() {
                sources(&place, &mut found);
            }
        }
        assert!(!found.is_empty(), "{room}");
        for (path, text) in &found {
            assert!(
                !text.contains("crate::{") && !text.contains("crate::*"),
                "{path} does not say in one word which room it uses"
            );
        }
        for above in &ROOMS[floor + 1..] {
            for (path, text) in &found {
                assert!(
                    !text.contains(&format!("crate::{above}")),
                    "{path} uses {above}, which is built on it"
                );
            }
        }
    }
}

#[test]
fn every_room_is_on_the_list() {
    let lib = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let rooms: Vec<&str> = lib
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'))
        .collect();
    assert_eq!(rooms, ROOMS);
}
