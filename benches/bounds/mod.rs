//! Figures beside their bounds. A benchmark that misses one ends with an error.

use std::process::ExitCode;

/// The bounds that were checked so far, and which were missed.
#[derive(Debug, Default)]
pub struct Bounds {
    missed: Vec<String>,
}

#[allow(dead_code, reason = "each benchmark uses a part of it")]
impl Bounds {
    /// Prints a figure that must not be larger than its bound.
    pub fn at_most(&mut self, what: &str, measured: f64, bound: f64, unit: &str) {
        self.row(what, measured, ("at most", bound), unit, measured <= bound);
    }

    /// Prints a figure that must not be smaller than its bound.
    pub fn at_least(&mut self, what: &str, measured: f64, bound: f64, unit: &str) {
        self.row(what, measured, ("at least", bound), unit, measured >= bound);
    }

    fn row(&mut self, what: &str, measured: f64, bound: (&str, f64), unit: &str, is_met: bool) {
        let verdict = if is_met { "met" } else { "MISSED" };
        let (sign, bound) = bound;
        println!("{what:<44} {measured:>10.3} {unit:<4} {sign:<8} {bound:>8.2}  {verdict}");
        if !is_met {
            self.missed.push(what.to_owned());
        }
    }

    /// The exit code of the benchmark.
    pub fn end(self) -> ExitCode {
        if self.missed.is_empty() {
            return ExitCode::SUCCESS;
        }
        eprintln!("missed: {}", self.missed.join("; "));
        ExitCode::FAILURE
    }
}
