//! Measures the energy of a closure.
//!
//! `cargo run --example measure`; with a folder as argument, its sensors are read instead of /sys.

use impact::meter::{Measurement, Roots, Scope, ScopeError, SensorSet, Session, SystemClock};

/// Runs `work` and measures what the whole machine draws meanwhile.
pub fn measure(roots: &Roots, work: impl FnOnce()) -> Result<Measurement, ScopeError> {
    let session = Session::start(SensorSet::discover(roots), &Scope::Machine, SystemClock)?;
    work();
    Ok(session.stop())
}

fn main() -> Result<(), ScopeError> {
    let mut roots = Roots::default();
    if let Some(folder) = std::env::args_os().nth(1) {
        roots.sysfs = folder.into();
    }
    let measurement = measure(&roots, || {
        let sum: f64 = (1..30_000_000).map(f64::from).map(f64::sqrt).sum();
        println!("the sum of the square roots is {sum:.0}");
    })?;
    for sensor in &measurement.sensors {
        let joules = measurement.balance[&sensor.component].attributed_j;
        println!("{}: {joules:.3} J, {}", sensor.component, sensor.method);
    }
    match measurement.energy() {
        Some(energy) => println!("{:.3} J in {:?}", energy.joules(), measurement.duration),
        None => println!("no sensor was found; `impact doctor` says what can be done"),
    }
    Ok(())
}
