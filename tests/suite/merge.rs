//! `impact merge` against simulated nodes whose energy is known exactly.

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::{LegacyRun, Run, impact_in};
use impact::ledger::merge::{Source, merge};
use impact::ledger::summarise::summarise;
use impact::ledger::{Part, RunSummary};
use predicates::str::contains;
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

const EPOCH: f64 = 1_700_000_000.0;

/// A machine that draws 100 W and swings by 50 W; joules since `EPOCH`.
fn drawn(second: f64) -> f64 {
    100.0 * second + 50.0 * 97.0 * (1.0 - (second / 97.0).cos())
}

/// A rank that tracked itself on a node and claims a share of what the machine drew.
#[derive(Debug, Clone)]
struct Rank {
    host: String,
    boot: String,
    from: f64,
    to: f64,
    share: f64,
}

impl Rank {
    fn new(host: &str, from: f64, to: f64, share: f64) -> Self {
        Self {
            host: host.into(),
            boot: format!("boot of {host}"),
            from,
            to,
            share,
        }
    }

    fn machine_j(&self) -> f64 {
        drawn(self.to) - drawn(self.from)
    }

    fn write(&self, folder: &Path) {
        let watts = [("package-0".to_owned(), (1.0, self.share))].into();
        Run {
            step: 10.0,
            watts,
            joules_per_watt: |start, elapsed| drawn(start - EPOCH + elapsed) - drawn(start - EPOCH),
            ..Run::of_watts(0.0).without("region")
        }
        .with("id", "")
        .on(&self.host, &self.boot)
        .between(EPOCH + self.from, self.to - self.from)
        .write(folder);
    }
}

fn merged(ranks: &[Rank]) -> RunSummary {
    let folder = TempDir::new().unwrap();
    for (index, rank) in ranks.iter().enumerate() {
        rank.write(&folder.path().join(format!("logs/{index}")));
    }
    impact_in(folder.path())
        .args(["merge", "logs", "--output", "merged"])
        .assert()
        .success();
    summarise(&folder.path().join("merged")).unwrap()
}

fn joules(summary: &RunSummary) -> (f64, f64) {
    let machine = |part: &Part| part.machine.unwrap().joules();
    let attributed = |part: &Part| part.attributed.joules();
    (
        summary.parts.values().map(machine).sum(),
        summary.parts.values().map(attributed).sum(),
    )
}

fn assert_near(found: f64, truth: f64) {
    let error = (found - truth).abs() / truth;
    assert!(
        error <= 0.005,
        "{found} is not {truth}: off by {:.3} %",
        error * 100.0
    );
}

#[test]
fn two_ranks_of_one_node_share_its_energy() {
    let ranks = [
        Rank::new("node-1", 0.0, 3600.0, 0.4),
        Rank::new("node-1", 603.0, 4207.0, 0.3),
    ];
    let (machine, attributed) = joules(&merged(&ranks));
    assert_near(machine, drawn(4207.0));
    assert_near(
        attributed,
        0.4 * ranks[0].machine_j() + 0.3 * ranks[1].machine_j(),
    );
}

#[test]
fn two_nodes_add_up() {
    let ranks = [
        Rank::new("node-1", 0.0, 3600.0, 0.4),
        Rank::new("node-2", 0.0, 3600.0, 0.7),
    ];
    let summary = merged(&ranks);
    let (machine, attributed) = joules(&summary);
    assert_eq!(summary.parts.len(), 2);
    assert_near(machine, 2.0 * drawn(3600.0));
    assert_near(attributed, 1.1 * drawn(3600.0));
}

#[test]
fn one_node_before_and_after_a_boot_is_counted_twice() {
    let mut after = Rank::new("node-1", 0.0, 3600.0, 0.5);
    after.boot = "another boot".into();
    let (machine, _) = joules(&merged(&[Rank::new("node-1", 0.0, 3600.0, 0.5), after]));
    assert_near(machine, 2.0 * drawn(3600.0));
}

#[test]
fn one_node_at_two_times_is_counted_for_both_and_not_for_the_time_between() {
    let ranks = [
        Rank::new("node-1", 0.0, 1000.0, 0.5),
        Rank::new("node-1", 2000.0, 3000.0, 0.5),
    ];
    let summary = merged(&ranks);
    let (machine, _) = joules(&summary);
    assert_near(machine, ranks[0].machine_j() + ranks[1].machine_j());
    assert!((summary.duration.seconds() - 3000.0).abs() < 1e-3);
}

#[test]
fn ranks_that_claim_more_than_the_machine_are_scaled_down_to_it() {
    let ranks = [
        Rank::new("node-1", 0.0, 3600.0, 0.9),
        Rank::new("node-1", 0.0, 3600.0, 0.8),
    ];
    let summary = merged(&ranks);
    let (machine, attributed) = joules(&summary);
    assert_near(machine, drawn(3600.0));
    assert!(
        attributed <= machine * (1.0 + 1e-9),
        "{attributed} of {machine}"
    );
    assert!(
        summary
            .notes
            .iter()
            .any(|note| note.contains("claimed more"))
    );
}

#[test]
fn what_the_runs_agree_on_is_kept() {
    let folder = TempDir::new().unwrap();
    let run = |host: &str, rank: &str| {
        Run::of_watts(100.0)
            .on(host, host)
            .tag("lr", "0.1")
            .tag("rank", rank)
    };
    run("a", "0").write(&folder.path().join("logs/0"));
    run("b", "1").write(&folder.path().join("logs/1"));
    impact_in(folder.path())
        .args(["merge", "logs", "--output", "merged"])
        .assert()
        .success();
    let summary = summarise(&folder.path().join("merged")).unwrap();
    assert_eq!(summary.tags, BTreeMap::from([("lr".into(), "0.1".into())]));
    assert_eq!(summary.host.as_deref(), Some("a+b"));
    assert_eq!(summary.region.unwrap().zone.as_str(), "US-CA");
    assert!(
        (summary
            .parts
            .values()
            .map(|part| part.attributed.kwh())
            .sum::<f64>()
            - 0.2)
            .abs()
            < 1e-9
    );
}

#[test]
fn a_merged_run_does_not_go_where_it_would_be_counted_again() {
    let folder = TempDir::new().unwrap();
    Run::of_watts(100.0).write(&folder.path().join("logs/0"));
    let merge = |output: &str| {
        impact_in(folder.path())
            .args(["merge", "logs", "--output", output])
            .assert()
    };
    merge("logs/all")
        .code(1)
        .stderr(contains("would be counted together with its parts"));
    merge("all").success();
    merge("all").code(1).stderr(contains("holds a run already"));
}

#[test]
fn a_single_run_of_the_other_tracker_stays_what_it_was() {
    let folder = TempDir::new().unwrap();
    let run = LegacyRun::default().write(&folder.path().join("logs/0"));
    impact_in(folder.path())
        .args(["merge", "logs", "--output", "merged"])
        .assert()
        .success()
        .stdout("merged 1 run without a recorded host into merged\n")
        .stderr("");
    let before = summarise(&run).unwrap();
    let after = summarise(&folder.path().join("merged")).unwrap();
    assert!((after.duration.seconds() - before.duration.seconds()).abs() < 1e-3);
    assert_eq!(after.started, before.started);
    assert_eq!(after.absent, before.absent);
    assert_near(after.total().joules(), before.total().joules());
}

#[test]
fn runs_one_after_the_other_are_merged_with_a_warning() {
    let folder = TempDir::new().unwrap();
    let run = |start: f64| Run::of_watts(100.0).between(start, 3600.0);
    run(EPOCH).write(&folder.path().join("logs/0"));
    run(EPOCH + 7200.0).write(&folder.path().join("logs/1"));
    impact_in(folder.path())
        .args(["merge", "logs", "--output", "merged"])
        .assert()
        .success()
        .stdout("merged 2 runs on 1 node into merged\n")
        .stderr(contains(
            "the runs were not all at one time; the merged run lasts 1 h longer than they did",
        ));
    let notes = summarise(&folder.path().join("merged")).unwrap().notes;
    assert!(
        notes
            .iter()
            .any(|note| note.contains("for 1 h of the wall-clock time")),
        "{notes:?}"
    );
}

#[test]
fn work_that_was_counted_adds_up_and_phases_are_said_to_be_left_out() {
    let folder = TempDir::new().unwrap();
    for (run, marks) in [
        (
            "a",
            json!([{"name": "train", "edge": "start"}, {"name": "train", "edge": "end", "count": {"tokens": 100.5}}]),
        ),
        (
            "b",
            json!([{"name": "", "edge": "count", "count": {"tokens": 50, "samples": 7}}]),
        ),
    ] {
        let run = Run::of_watts(100.0).write(&folder.path().join("logs").join(run));
        let data = run.join("impacttracker/data.json");
        let lines = std::fs::read_to_string(&data).unwrap();
        let marked = lines.lines().enumerate().map(|(number, line)| {
            let mut sample: Value = serde_json::from_str(line).unwrap();
            if let Some(mark) = number.checked_sub(1).and_then(|place| marks.get(place)) {
                sample["mark"] = mark.clone();
            }
            format!("{sample}\n")
        });
        std::fs::write(&data, marked.collect::<String>()).unwrap();
    }
    impact_in(folder.path())
        .args(["merge", "logs", "--output", "merged"])
        .assert()
        .success()
        .stderr(contains(
            "note: the phases of 1 run are not in the merged run, as each had them at other times",
        ));
    let merged = summarise(&folder.path().join("merged")).unwrap();
    let counts: Vec<(&str, f64)> = merged
        .counts
        .iter()
        .map(|(unit, count)| (&**unit, *count))
        .collect();
    assert_eq!(counts, [("samples", 7.0), ("tokens", 150.5)]);
    let note = "the phases of 1 run are not in this log".to_owned();
    assert!(merged.notes.contains(&note), "{:?}", merged.notes);
}

fn ranks() -> impl Strategy<Value = Vec<Rank>> {
    let rank =
        (0..3u8, 0..2000u32, 100..3000u32, 0.0..1.0f64).prop_map(|(host, from, length, share)| {
            let from = f64::from(from);
            Rank::new(
                &format!("node-{host}"),
                from,
                from + f64::from(length),
                share,
            )
        });
    prop::collection::vec(rank, 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_order_of_directories_does_not_matter(ranks in ranks(), rotation in 0..6usize) {
        let folder = TempDir::new().unwrap();
        let read = |order: &[usize], name: &str| {
            let sources = order.iter().enumerate().map(|(place, rank)| {
                let path = folder.path().join(format!("{name}/{place}"));
                ranks[*rank].write(&path);
                Source::read(&path, summarise(&path).unwrap()).unwrap()
            });
            merge(sources.collect()).unwrap()
        };
        let forward: Vec<usize> = (0..ranks.len()).collect();
        let mut other: Vec<usize> = forward.iter().rev().copied().collect();
        other.rotate_left(rotation % ranks.len());
        let (one, two) = (read(&forward, "one"), read(&other, "two"));
        prop_assert_eq!(&one.samples, &two.samples);
        prop_assert_eq!(one.info, two.info);
        let last = one.samples.last().unwrap();
        for meter in last.energy.values() {
            prop_assert!(meter.attributed_j.unwrap() <= meter.total_j.unwrap() * (1.0 + 1e-9));
        }
    }
}

#[test]
fn merges_of_different_runs_have_different_ids_and_of_the_same_runs_the_same() {
    let folder = TempDir::new().unwrap();
    let source = |id: &str| {
        let path = Run::of_watts(100.0)
            .with("id", id)
            .write(&folder.path().join(id));
        Source::read(&path, summarise(&path).unwrap()).unwrap()
    };
    let [a, b, c] = ["a", "b", "c"].map(source);
    let id = |sources: [&Source; 2]| merge(sources.map(Clone::clone).to_vec()).unwrap().info.id;
    assert_eq!(id([&a, &b]), id([&b, &a]));
    assert_ne!(id([&a, &b]), id([&a, &c]));
}
