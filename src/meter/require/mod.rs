//! Checks that a machine has the hardware that an experiment requires.

mod expectation;
mod found;

pub use expectation::{BadExpectation, Expectation};
pub use found::Found;

use serde::Serialize;

use crate::grid::data::device::Kind;

/// What a machine must have; what is `None` may be anything.
#[derive(Debug, Clone, Default)]
pub struct Requirements {
    /// The name of every GPU.
    pub gpu_name: Option<Expectation>,
    /// How many GPUs there are.
    pub gpu_count: Option<Expectation>,
    /// The version of the GPU driver.
    pub driver: Option<Expectation>,
    /// The name of the processors.
    pub cpu_brand: Option<Expectation>,
    /// How many cores there are.
    pub cores: Option<Expectation>,
    /// The version of the kernel.
    pub kernel: Option<Expectation>,
}

/// One requirement and what the machine has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Line {
    /// Such as `GPU name`.
    pub what: &'static str,
    /// The requirement as it was typed.
    pub expected: String,
    /// What the machine has; several values for several GPUs.
    pub found: Vec<String>,
    /// Whether the requirement is met.
    pub met: bool,
}

impl Requirements {
    /// Whether nothing is required.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.check(&Found::default()).is_empty()
    }

    /// Compares every requirement with a machine; of several GPUs each must meet it.
    #[must_use]
    pub fn check(&self, machine: &Found) -> Vec<Line> {
        let number = |number: &dyn ToString| number.to_string();
        let lines = [
            line(
                "GPU name",
                self.gpu_name.as_ref(),
                Some(Kind::Gpu),
                machine.gpus.clone(),
            ),
            line(
                "GPU count",
                self.gpu_count.as_ref(),
                None,
                [number(&machine.gpus.len())],
            ),
            line(
                "GPU driver",
                self.driver.as_ref(),
                None,
                machine.driver.clone(),
            ),
            line(
                "CPU brand",
                self.cpu_brand.as_ref(),
                Some(Kind::Cpu),
                machine.cpu_brand.clone(),
            ),
            line(
                "CPU cores",
                self.cores.as_ref(),
                None,
                machine.cores.as_ref().map(|n| number(n)),
            ),
            line("kernel", self.kernel.as_ref(), None, machine.kernel.clone()),
        ];
        lines.into_iter().flatten().collect()
    }
}

fn line(
    what: &'static str,
    expectation: Option<&Expectation>,
    device: Option<Kind>,
    found: impl IntoIterator<Item = String>,
) -> Option<Line> {
    let expectation = expectation?;
    let found: Vec<String> = found.into_iter().collect();
    let is_met = |value: &String| match device {
        Some(kind) => expectation.is_met_by_device(kind, value),
        None => expectation.is_met_by(value),
    };
    Some(Line {
        what,
        expected: expectation.to_string(),
        met: !found.is_empty() && found.iter().all(is_met),
        found,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Found {
        Found {
            gpus: vec!["TITAN V".into(), "TITAN V".into()],
            driver: Some("535.104.05".into()),
            cpu_brand: Some("Intel(R) Xeon(R) CPU E5-2630 v4 @ 2.20GHz".into()),
            cores: Some(20),
            kernel: None,
        }
    }

    #[test]
    fn every_requirement_is_checked() {
        let requirements = Requirements {
            gpu_name: Some("TITAN V".parse().unwrap()),
            gpu_count: Some(">=2".parse().unwrap()),
            cpu_brand: Some("~Xeon.*2630".parse().unwrap()),
            driver: Some(">=535".parse().unwrap()),
            cores: Some("16".parse().unwrap()),
            kernel: Some("6.*".parse().unwrap()),
        };
        let met: Vec<(&str, bool)> = requirements
            .check(&machine())
            .iter()
            .map(|line| (line.what, line.met))
            .collect();
        let wanted = [
            ("GPU name", true),
            ("GPU count", true),
            ("GPU driver", true),
            ("CPU brand", true),
            ("CPU cores", false),
            ("kernel", false),
        ];
        assert_eq!(met, wanted);
    }

    #[test]
    fn one_gpu_of_another_kind_is_enough_to_fail() {
        let requirements = Requirements {
            gpu_name: Some("TITAN V".parse().unwrap()),
            ..Requirements::default()
        };
        let mut mixed = machine();
        mixed.gpus.push("A100".into());
        assert!(!requirements.check(&mixed)[0].met);
        assert!(Requirements::default().check(&mixed).is_empty());
    }

    #[test]
    fn a_device_may_be_required_by_any_of_its_names() {
        let met = |gpu_name: &str, cpu_brand: &str| {
            let requirements = Requirements {
                gpu_name: Some(gpu_name.parse().unwrap()),
                cpu_brand: Some(cpu_brand.parse().unwrap()),
                ..Requirements::default()
            };
            let lines = requirements.check(&machine());
            (lines[0].met, lines[1].met)
        };
        assert_eq!(met("NVIDIA TITAN V", "Xeon E5-2630 v4"), (true, true));
        assert_eq!(met("TITAN Xp", "Xeon E5-2630 v3"), (false, false));
    }
}
