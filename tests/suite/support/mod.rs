//! What the tests share: how the program is started, logs, a machine made of files.
#![allow(dead_code, unused_imports, reason = "the benchmarks use a part of it")]

pub mod legacy;
pub mod machine;
pub mod pickle;
pub mod program;
pub mod receipt;
pub mod run;
pub mod simulator;
pub mod site;

pub use legacy::{LegacyRun, NOON};
pub use machine::Machine;
pub use program::{IMPACT, impact, impact_in, program};
pub use run::Run;

/// Says that a part of a test cannot run on this machine.
///
/// Not by eprintln!, which tests that pass keep to themselves.
pub fn not_run(what: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "NOT RUN: {what}");
}

/// Equal but for the rounding of the last digits.
pub fn same(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6
}
