//! Energy against counters that run along a known power profile.

mod meters;

use std::time::Instant;

use meters::Machine;
use meters::simulator::{Profile, Simulator};

/// Tracks a sleep beside a running meter and compares with what truly went by.
///
/// The truth lies between the sleep alone and the whole call, however busy the machine is.
fn check(profile: Profile, range: u64, interval: &str, seconds: f64, tolerance: f64) {
    let machine = Machine::bare();
    machine.domain("intel-rapl:0", "package-0", range);
    let simulator = Simulator::start(&machine.counter("intel-rapl:0"), profile, range);
    let before = Instant::now();
    machine.track(&["-q", "--interval", interval], &format!("sleep {seconds}"));
    let after = Instant::now();
    let elapsed = machine.log().last()["elapsed"].as_f64().unwrap();
    let measured = machine.log().total("package-0");
    let most = simulator.truth(before, after);
    let watts = measured / elapsed;
    assert!(
        measured <= most * (1.0 + tolerance),
        "{measured} J of at most {most} J"
    );
    let least = least_in(profile, seconds);
    assert!(
        measured >= least * (1.0 - tolerance),
        "{measured} J of at least {least} J, {watts} W"
    );
}

/// The least energy a profile can give in so many seconds: those of its lowest power.
fn least_in(profile: Profile, seconds: f64) -> f64 {
    let lowest = profile
        .iter()
        .map(|(_, watts)| *watts)
        .fold(f64::MAX, f64::min);
    lowest * seconds
}

#[test]
fn a_constant_power_is_its_watts_times_the_time() {
    let machine = Machine::bare();
    machine.domain("intel-rapl:0", "package-0", 262_143_328_850);
    let _simulator = Simulator::start(
        &machine.counter("intel-rapl:0"),
        &[(0.0, 50.0)],
        262_143_328_850,
    );
    machine.track(&["-q", "--interval", "100ms"], "sleep 1");
    let log = machine.log();
    let elapsed = log.last()["elapsed"].as_f64().unwrap();
    let watts = log.total("package-0") / elapsed;
    // The simulator itself is late by a millisecond now and then.
    assert!((watts / 50.0 - 1.0).abs() < 0.01, "{watts} W");
}

#[test]
fn a_counter_that_wraps_ten_times_a_second_loses_nothing_at_a_long_interval() {
    check(&[(0.0, 50.0)], 5_000_000, "10s", 1.0, 0.01);
}

#[test]
fn a_step_in_power_is_counted_on_both_sides() {
    check(
        &[(0.0, 20.0), (0.5, 80.0)],
        262_143_328_850,
        "10s",
        1.0,
        0.01,
    );
}

#[test]
fn half_a_second_is_enough() {
    check(&[(0.0, 50.0)], 262_143_328_850, "1s", 0.5, 0.01);
}
