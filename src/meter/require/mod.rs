//! Whether the hardware is the one an experiment asks for.

mod expectation;
mod found;

pub use expectation::{BadExpectation, Expectation};
pub use found::Found;

/// What is asked of a machine; what is not asked does not matter.
#[derive(Debug, Clone, Default)]
pub struct Requirements {
    pub gpu_name: Option<Expectation>,
    pub gpu_count: Option<Expectation>,
    pub driver: Option<Expectation>,
    pub cpu_brand: Option<Expectation>,
    pub cores: Option<Expectation>,
    pub kernel: Option<Expectation>,
}

/// One thing asked, and what was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub what: &'static str,
    pub expected: String,
    pub found: String,
    pub met: bool,
}

/// What stands for something a machine does not have.
const NONE: &str = "none";

impl Requirements {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fields()
            .into_iter()
            .all(|(_, expectation)| expectation.is_none())
    }

    fn fields(&self) -> [(&'static str, Option<&Expectation>); 6] {
        [
            ("GPU name", self.gpu_name.as_ref()),
            ("GPU count", self.gpu_count.as_ref()),
            ("GPU driver", self.driver.as_ref()),
            ("CPU brand", self.cpu_brand.as_ref()),
            ("CPU cores", self.cores.as_ref()),
            ("kernel", self.kernel.as_ref()),
        ]
    }

    /// Holds every requirement against a machine; of several GPUs each must be as asked.
    #[must_use]
    pub fn check(&self, machine: &Found) -> Vec<Line> {
        let found = [
            machine.gpus.clone(),
            vec![machine.gpus.len().to_string()],
            machine.driver.iter().cloned().collect(),
            machine.cpu_brand.iter().cloned().collect(),
            machine.cores.iter().map(ToString::to_string).collect(),
            machine.kernel.iter().cloned().collect(),
        ];
        self.fields()
            .into_iter()
            .zip(found)
            .filter_map(|((what, expectation), values)| {
                let expectation = expectation?;
                let met =
                    !values.is_empty() && values.iter().all(|value| expectation.is_met_by(value));
                Some(Line {
                    what,
                    expected: expectation.to_string(),
                    found: if values.is_empty() {
                        NONE.to_owned()
                    } else {
                        values.join(", ")
                    },
                    met,
                })
            })
            .collect()
    }
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
    fn everything_asked_is_held_against_the_machine() {
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
    fn one_board_of_another_kind_is_one_too_many() {
        let requirements = Requirements {
            gpu_name: Some("TITAN V".parse().unwrap()),
            ..Requirements::default()
        };
        let mut mixed = machine();
        mixed.gpus.push("A100".into());
        assert!(!requirements.check(&mixed)[0].met);
        assert!(Requirements::default().check(&mixed).is_empty());
    }
}
