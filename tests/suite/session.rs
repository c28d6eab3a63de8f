//! A measuring session used as a library, on meters that the tests move.

#[allow(dead_code, reason = "its `main` is for the command line")]
#[path = "../../examples/measure.rs"]
mod example;

use std::fs;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use impact::meter::{Clock, ClockReading, Measurement, Roots, Scope, SensorSet, Session};
use impact::model::{Edge, EnergyClass, Mark, Sample};
use impact::units::Energy;

use crate::support::Machine;

/// A clock that tests set.
#[derive(Debug, Clone, Default)]
struct TestClock(Arc<Mutex<ClockReading>>);

impl TestClock {
    fn advance(&self, seconds: u64) {
        let mut now = self.0.lock().unwrap();
        now.monotonic += Duration::from_secs(seconds);
        now.since_boot += Duration::from_secs(seconds);
        now.wall += seconds as f64;
    }

    /// The monotonic clock stands still while the machine is suspended.
    fn suspend(&self, seconds: u64) {
        self.0.lock().unwrap().since_boot += Duration::from_secs(seconds);
    }
}

impl Clock for TestClock {
    fn now(&self) -> ClockReading {
        *self.0.lock().unwrap()
    }

    fn sleep(&self, time: Duration) {
        let mut now = self.0.lock().unwrap();
        now.monotonic += time;
        now.since_boot += time;
    }
}

const PACKAGE: &str = "intel-rapl:0";
const DRAM: &str = "intel-rapl:0:1";

fn roots(machine: &Machine) -> Roots {
    Roots {
        sysfs: machine.path("sys"),
        ..Roots::default()
    }
}

fn whole_machine(machine: &Machine, clock: &TestClock) -> Session {
    let sensors = SensorSet::discover(&roots(machine));
    Session::start(sensors, &Scope::Machine, clock.clone()).unwrap()
}

/// Counters count microjoules.
fn microjoules(joules: f64) -> f64 {
    (joules * 1e6).round()
}

fn joules(energy: Option<Energy>) -> f64 {
    microjoules(energy.unwrap().joules()) / 1e6
}

/// Joules of the machine and of the run.
fn package(sample: &Sample) -> (f64, f64) {
    let meter = &sample.energy[&"package-0".into()];
    let joules = |joules: Option<f64>| microjoules(joules.unwrap()) / 1e6;
    (joules(meter.total_j), joules(meter.attributed_j))
}

#[test]
fn a_closure_has_the_energy_that_the_counters_moved_by() {
    let machine = Machine::with_rapl();
    let measurement = example::measure(&roots(&machine), || {
        machine.set(PACKAGE, 6_250_000);
        machine.set(DRAM, 3_500_000);
    });
    let measurement: Measurement = measurement.unwrap();
    assert_eq!(joules(measurement.energy()), 7.75);
    assert_eq!(joules(measurement.energy_of(EnergyClass::Cpu)), 5.25);
    assert_eq!(joules(measurement.energy_of(EnergyClass::Dram)), 2.5);
    assert_eq!(measurement.energy_of(EnergyClass::Gpu), None);
    assert!(measurement.notes.is_empty(), "{:?}", measurement.notes);
}

#[test]
fn samples_are_totals_since_the_start_and_a_mark_is_a_sample() {
    let (machine, clock) = (Machine::with_rapl(), TestClock::default());
    let mut session = whole_machine(&machine, &clock);
    clock.advance(2);
    machine.set(PACKAGE, 21_000_000);
    let sample = session.sample();
    assert_eq!((sample.elapsed, package(&sample)), (2.0, (20.0, 20.0)));
    let watts = sample.observed.rapl_power_draw_absolute.unwrap();
    assert_eq!(microjoules(watts), 10e6);
    clock.advance(1);
    machine.set(PACKAGE, 31_000_000);
    let mark = Mark::new("train", Edge::Start);
    let sample = session.mark(mark.clone());
    assert_eq!((sample.mark, sample.energy.len()), (Some(mark), 3));
    let measurement = session.stop();
    assert_eq!(measurement.duration, Duration::from_secs(3));
    assert_eq!(package(&measurement.last), (30.0, 30.0));
}

#[test]
fn the_time_of_a_suspended_machine_is_not_counted() {
    let (machine, clock) = (Machine::with_rapl(), TestClock::default());
    let mut session = whole_machine(&machine, &clock);
    clock.advance(1);
    machine.set(PACKAGE, 5_000_000);
    session.sample();
    clock.suspend(600);
    machine.set(PACKAGE, 900_000_000);
    session.read();
    clock.advance(1);
    machine.set(PACKAGE, 902_000_000);
    let measurement = session.stop();
    assert_eq!(package(&measurement.last), (6.0, 6.0));
    assert_eq!(measurement.duration, Duration::from_secs(2));
    let notes = measurement.notes.join("\n");
    assert!(notes.contains("slept for 600 s"), "{notes}");
}

#[test]
fn a_control_group_gets_its_part_of_the_busy_time() {
    let (machine, clock) = (Machine::with_rapl(), TestClock::default());
    let group = machine.path("sys/fs/cgroup/job");
    fs::create_dir_all(&group).unwrap();
    fs::create_dir_all(machine.path("proc")).unwrap();
    let worked = |of_group: u64, ticks: u64| {
        let times = format!("user_usec {of_group}\nsystem_usec 0\n");
        fs::write(group.join("cpu.stat"), times).unwrap();
        fs::write(machine.path("proc/stat"), format!("cpu  {ticks} 0 0 0\n")).unwrap();
    };
    worked(0, 0);
    fs::write(group.join("cgroup.procs"), "").unwrap();
    fs::write(group.join("cgroup.stat"), "nr_descendants 0\n").unwrap();
    let mut roots = roots(&machine);
    roots.procfs = machine.path("proc");
    let sensors = SensorSet::discover(&roots);
    let session = Session::start(sensors, &Scope::Cgroup(group.clone()), clock.clone()).unwrap();
    // The machine's busy time is not read more often than once in a millisecond.
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(2) {}
    clock.advance(2);
    worked(500_000, 200);
    machine.set(PACKAGE, 9_000_000);
    let measurement = session.stop();
    assert_eq!(package(&measurement.last), (8.0, 2.0));
}

#[test]
fn a_process_can_measure_itself() {
    let (machine, clock) = (Machine::with_rapl(), TestClock::default());
    let scope = Scope::ProcessTree(std::process::id());
    let sensors = SensorSet::discover(&roots(&machine));
    let session = Session::start(sensors, &scope, clock.clone()).unwrap();
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(20) {}
    clock.advance(1);
    let measurement = session.stop();
    let used = &measurement.last.observed.cpu_time_seconds[&std::process::id().to_string()];
    assert!(used.user + used.system > 0.0);
}

#[test]
fn a_scope_that_does_not_exist_says_what_to_give() {
    let machine = Machine::with_rapl();
    let error = |scope: Scope| {
        let sensors = SensorSet::discover(&roots(&machine));
        let session = Session::start(sensors, &scope, TestClock::default());
        session.unwrap_err().to_string()
    };
    let process = error(Scope::ProcessTree(u32::MAX / 2));
    assert!(
        process.contains("give the id of a running process"),
        "{process}"
    );
    let group = error(Scope::Cgroup(machine.path("nowhere")));
    assert!(group.contains("give a cgroup v2 folder"), "{group}");
}

#[test]
fn a_session_can_be_moved_to_another_thread() {
    let (machine, clock) = (Machine::with_rapl(), TestClock::default());
    let session = whole_machine(&machine, &clock);
    machine.set(PACKAGE, 2_000_000);
    let measurement = std::thread::spawn(|| session.stop()).join().unwrap();
    assert_eq!(joules(measurement.energy()), 1.0);
}
