//! The readers of logs, fed with damaged and arbitrary bytes: an answer or an error, never a panic.
//!
//! The suite runs a few thousand cases; `IMPACT_FUZZ_CASES=1000000 cargo test --release --test fuzz`
//! runs the long ones.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use impact::ledger::summarise::summarise;
use impact::log::legacy::LegacyInfo;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

fn cases() -> u32 {
    std::env::var("IMPACT_FUZZ_CASES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(5_000)
}

fn seeds(kind: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/corpus")
        .join(kind);
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// What can happen to bytes on a disk, and some things that only malice does.
#[derive(Debug, Clone)]
enum Damage {
    Replace(prop::sample::Index, u8),
    Insert(prop::sample::Index, Vec<u8>),
    Remove(prop::sample::Index, usize),
    Repeat(prop::sample::Index, usize),
    Cut(prop::sample::Index),
}

impl Damage {
    fn apply(&self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        match self {
            Self::Replace(at, byte) => {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            Self::Insert(at, new) => {
                let at = at.index(bytes.len());
                bytes.splice(at..at, new.iter().copied());
            }
            Self::Remove(at, length) => {
                let at = at.index(bytes.len());
                bytes.drain(at..(at + length).min(bytes.len()));
            }
            Self::Repeat(at, length) => {
                let at = at.index(bytes.len());
                let piece = bytes[at..(at + length).min(bytes.len())].to_vec();
                bytes.splice(at..at, piece);
            }
            Self::Cut(at) => bytes.truncate(at.index(bytes.len())),
        }
    }
}

fn any_damage() -> impl Strategy<Value = Damage> {
    let at = || any::<prop::sample::Index>();
    let telling = prop::sample::select(b"\"\\{}[]:,0-e.n\n(u)t\x80\x94\x8c".to_vec());
    prop_oneof![
        (at(), prop_oneof![any::<u8>(), telling]).prop_map(|(at, byte)| Damage::Replace(at, byte)),
        (at(), prop::collection::vec(any::<u8>(), 1..8))
            .prop_map(|(at, new)| Damage::Insert(at, new)),
        (at(), 1..64usize).prop_map(|(at, length)| Damage::Remove(at, length)),
        (at(), 1..256usize).prop_map(|(at, length)| Damage::Repeat(at, length)),
        at().prop_map(Damage::Cut),
    ]
}

/// Bytes near one of the seeds, or any bytes at all.
fn any_file(kind: &str) -> impl Strategy<Value = Vec<u8>> + use<> {
    let damaged = (
        prop::sample::select(seeds(kind)),
        prop::collection::vec(any_damage(), 0..6),
    )
        .prop_map(|(mut bytes, damages)| {
            for damage in damages {
                damage.apply(&mut bytes);
            }
            bytes
        });
    prop_oneof![9 => damaged, 1 => prop::collection::vec(any::<u8>(), 0..600)]
}

fn run(kind: &str, mut test: impl FnMut(&[u8])) {
    let config = Config {
        cases: cases(),
        failure_persistence: None,
        ..Config::default()
    };
    let test = std::cell::RefCell::new(&mut test);
    TestRunner::new(config)
        .run(&any_file(kind), |bytes| {
            test.borrow_mut()(&bytes);
            Ok(())
        })
        .unwrap();
}

#[test]
fn any_samples_end_in_figures_or_an_error() {
    let run_folder = tempfile::tempdir().unwrap();
    let folder = run_folder.path().join("impacttracker");
    fs::create_dir(&folder).unwrap();
    let mut good = 0u32;
    run("data", |bytes| {
        fs::write(folder.join("data.json"), bytes).unwrap();
        if let Ok(summary) = summarise(run_folder.path()) {
            assert!(!summary.parts.is_empty());
            good += 1;
        }
    });
    assert!(
        good > cases() / 100,
        "most damage should leave something to read: {good}"
    );
}

#[test]
fn any_pickle_ends_in_information_or_an_error() {
    let mut good = 0u32;
    run("pickle", |bytes| {
        if LegacyInfo::from_pickle(bytes).is_ok() {
            good += 1;
        }
    });
    assert!(good > cases() / 100, "{good}");
}

#[test]
fn a_new_component_in_every_line_ends_in_an_error() {
    let run_folder = tempfile::tempdir().unwrap();
    let folder = run_folder.path().join("impacttracker");
    fs::create_dir(&folder).unwrap();
    let mut text = String::new();
    for n in 0..70_000 {
        writeln!(
            text,
            r#"{{"schema":1,"timestamp":{n},"elapsed":{n},"energy":{{"gpu:{n}":{{"attributed_j":1,"method":"measured"}}}}}}"#
        )
        .unwrap();
    }
    fs::write(folder.join("data.json"), text).unwrap();
    let error = summarise(run_folder.path()).unwrap_err().to_string();
    assert!(error.contains("sample 65537 of"), "{error}");
}

#[test]
fn ten_thousand_packages_that_are_one_huge_dictionary_end_in_information() {
    // {"python_package_info": [d, d, ...]} with the same d of half a million entries each time.
    let mut bytes = b"}X\x13\0\0\0python_package_info](}q\0(N2".to_vec();
    bytes.extend(b"22".repeat(500_000));
    bytes.push(b'u');
    bytes.extend(b"h\0".repeat(10_000));
    bytes.extend(b"es.");
    let info = LegacyInfo::from_pickle(&bytes).unwrap().info;
    assert!(info.python.unwrap().packages.is_empty());
}
