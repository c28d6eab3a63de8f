use crate::meter::host;
use crate::meter::sensor::board_error::{DriverError, MeterError};
use crate::meter::sensor::{Boards, Finding, Roots, Survey};
use crate::model::{Component, EnergyClass, Method, Present};

use super::advice::{Advice, advice};

/// What can be measured on a machine, and what would make it better.
#[derive(Debug)]
pub(super) struct Diagnosis {
    pub(super) situation: Situation,
    /// How the energy of processors and of memory is known.
    pub(super) cpu: Quality,
    pub(super) memory: Quality,
    pub(super) boards: Vec<BoardFinding>,
    /// Why NVIDIA boards cannot be read although their driver is present.
    pub(super) nvidia_missing: Option<DriverError>,
    /// Every place where a sensor of processors or memory was looked for.
    pub(super) findings: Vec<Finding>,
    pub(super) advice: Vec<Advice>,
}

/// Where impact runs, as far as advice depends on it.
#[derive(Debug, Clone)]
pub(super) struct Situation {
    pub(super) processor: Option<String>,
    pub(super) is_virtual_machine: bool,
    /// The kind of container, if it is one.
    pub(super) container: Option<String>,
    /// The folder that is used as /sys.
    pub(super) sysfs: String,
}

/// How an energy is known.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Quality {
    Known(Method),
    /// It is contained in a meter of something larger.
    Within(&'static str),
    Unknown,
}

/// An accelerator board and its sensor.
#[derive(Debug)]
pub(super) struct BoardFinding {
    pub(super) component: String,
    pub(super) name: String,
    /// How and where it is read, or why it is not.
    pub(super) sensor: Result<(Method, String), MeterError>,
}

impl Diagnosis {
    pub(super) fn of(roots: &Roots) -> Self {
        let survey = Survey::of(roots);
        let boards = if Boards::are_likely(roots) {
            Boards::of(roots)
        } else {
            Boards::default()
        };
        let situation = Situation {
            processor: survey.processor.brand.clone(),
            is_virtual_machine: survey.processor.virtual_machine,
            container: host::container(&roots.environment, None),
            sysfs: roots.sysfs.display().to_string(),
        };
        let found = boards.found.iter().map(|board| {
            let about = board.board();
            let sensor = board.sensor();
            BoardFinding {
                component: about.component().to_string(),
                name: about.name,
                sensor: sensor.map(|sensor| (sensor.method, sensor.place)),
            }
        });
        Self {
            cpu: quality(&survey, EnergyClass::Cpu),
            memory: quality(&survey, EnergyClass::Dram),
            boards: found.collect(),
            advice: advice(&survey, &situation, boards.missing.is_some()),
            nvidia_missing: boards.missing,
            findings: survey.findings,
            situation,
        }
    }

    /// Whether the energy of the processors is measured and not only estimated.
    pub(super) fn measures_a_processor(&self) -> bool {
        matches!(&self.cpu, Quality::Known(method) if method.is_measured())
    }
}

/// How the sensors of a class know its energy; the worst, if they differ.
fn quality(survey: &Survey, class: EnergyClass) -> Quality {
    let components = || survey.sensors.iter().map(|sensor| &sensor.component);
    let present: Present = components().collect();
    let of_class = survey
        .sensors
        .iter()
        .filter(|sensor| sensor.component.counted_as(&present) == Some(class));
    let worst = of_class
        .map(|sensor| &sensor.method)
        .reduce(|worst, next| if next.is_measured() { worst } else { next });
    match worst {
        Some(method) => Quality::Known(method.clone()),
        None if class == EnergyClass::Dram && components().any(|c| is_counted_psys(c, present)) => {
            Quality::Within("psys")
        }
        None => Quality::Unknown,
    }
}

/// Whether it meters the whole platform and nothing smaller is counted in its place.
fn is_counted_psys(component: &Component, present: Present) -> bool {
    *component == Component::Psys && component.counted_as(&present).is_some()
}
