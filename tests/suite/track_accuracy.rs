//! Counters that go far while a run lasts, moved by the tracked command itself, so that the answer is exact.
//!
//! How near the tracker comes to a counter that runs along with time, `benches/track_accuracy.rs` measures.

use crate::support::{Machine, same};

/// A package whose counter starts again after so many microjoules.
fn machine(range: u64) -> Machine {
    let machine = Machine::bare();
    machine.domain("intel-rapl:0", "package-0", range);
    machine.set("intel-rapl:0", 0);
    machine
}

/// A script that sets the counter to each value in turn, and goes on once the tracker has seen it.
///
/// The second sample that appears after a value was set was begun after it. The first value waits for
/// two samples too, so that none is taken for an update at the start.
fn script(machine: &Machine, values: impl IntoIterator<Item = u64>) -> String {
    let counter = machine.counter("intel-rapl:0");
    let data = machine.path("log/impacttracker/data.json");
    let mut script = format!(
        "samples() {{ wc -l < {}; }}\n\
         seen() {{ enough=$(($(samples) + 2)); while [ $(samples) -lt $enough ]; do sleep 0.01; done; }}\n\
         seen\n",
        data.display()
    );
    for value in values {
        script.push_str(&format!("echo {value} > {}; seen\n", counter.display()));
    }
    script
}

#[test]
fn a_counter_that_wraps_again_and_again_loses_nothing() {
    let range = 5_000_000;
    let machine = machine(range);
    let values = (1..=10).map(|step| step * 3_000_000 % range);
    let script = script(&machine, values);
    assert!(
        machine
            .track(&["-q", "--interval", "100ms"], &script)
            .status
            .success()
    );
    let measured = machine.log().total("package-0");
    assert!(same(measured, 30.0), "{measured} J");
}

#[test]
fn a_step_in_power_is_counted_on_both_sides() {
    let machine = machine(262_143_328_850);
    let slow = (1..=5).map(|step| step * 2_000_000);
    let fast = (1..=5).map(|step| 10_000_000 + step * 8_000_000);
    let script = script(&machine, slow.chain(fast));
    machine.track(&["-q", "--interval", "100ms"], &script);
    let log = machine.log();
    assert!(same(log.total("package-0"), 50.0));
    let totals: Vec<f64> = log
        .samples
        .iter()
        .filter_map(|sample| sample["energy"]["package-0"]["total_j"].as_f64())
        .collect();
    for joules in [2.0, 4.0, 6.0, 8.0, 10.0, 18.0, 26.0, 34.0, 42.0, 50.0] {
        assert!(
            totals.iter().any(|total| same(*total, joules)),
            "{joules} J is not among {totals:?}"
        );
    }
}
