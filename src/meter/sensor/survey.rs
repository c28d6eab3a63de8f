use std::io;

use super::{MachineCpuTime, Processor, Roots, Sensor, perf, rapl, tdp};
use crate::model::{Component, Method};

/// Everything on this machine that meters a processor, and what stands in where nothing does.
#[derive(Debug)]
pub struct Survey {
    pub sensors: Vec<Sensor>,
    pub findings: Vec<Finding>,
    pub processor: Processor,
    /// Where the machine says how busy it is.
    pub clock: Option<MachineCpuTime>,
}

/// One place where a meter was looked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub what: String,
    pub place: String,
    pub state: State,
}

/// What came of looking.
#[derive(Debug, Clone, PartialEq)]
pub enum State {
    Read(Method),
    /// Readable, but something else already meters the same.
    NotCounted(String),
    /// It is there, but may not be read.
    Refused(String),
    Missing(String),
}

impl Survey {
    /// Looks at powercap, then at the perf unit, and estimates if neither meters a processor.
    #[must_use]
    pub fn of(roots: &Roots) -> Self {
        let clock = MachineCpuTime::open(roots);
        let mut survey = Self {
            sensors: Vec::new(),
            findings: Vec::new(),
            processor: Processor::of(roots),
            clock: clock.as_ref().ok().cloned(),
        };
        survey.powercap(roots);
        if !survey.meters_a_processor() {
            survey.perf(roots);
        }
        if !survey.meters_a_processor() {
            survey.estimate(roots, clock);
        }
        survey
    }

    /// Whether the energy of a processor is measured and not only estimated.
    #[must_use]
    pub fn meters_a_processor(&self) -> bool {
        self.sensors.iter().any(|sensor| {
            sensor.method.is_measured()
                && matches!(
                    sensor.component,
                    Component::Package(_) | Component::Core(_) | Component::Psys
                )
        })
    }

    /// What was looked for in vain, in a sentence; none where every meter is read.
    #[must_use]
    pub fn what_is_not_read(&self) -> Option<String> {
        let unread: Vec<String> = self
            .findings
            .iter()
            .filter_map(|finding| match &finding.state {
                State::Refused(why) | State::Missing(why) => {
                    Some(format!("{} ({why})", finding.what))
                }
                State::Read(_) | State::NotCounted(_) => None,
            })
            .collect();
        (!unread.is_empty()).then(|| {
            let unread = unread.join(", ");
            format!("not read: {unread}; impact doctor says what can be done")
        })
    }

    fn powercap(&mut self, roots: &Roots) {
        let domains = rapl::domains(roots);
        if domains.is_empty() {
            self.findings.push(Finding {
                what: "RAPL through powercap".to_owned(),
                place: roots.sys("class/powercap").display().to_string(),
                state: State::Missing("no domain with an energy counter".to_owned()),
            });
        }
        for domain in domains {
            let state = match (&domain.twin_of, &domain.counter) {
                (Some(twin), _) => {
                    State::NotCounted(format!("the same meter as {}", twin.display()))
                }
                (None, Ok(_)) => State::Read(Method::Measured),
                (None, Err(error)) => refused_or_missing(error),
            };
            self.findings.push(Finding {
                what: domain.component.to_string(),
                place: domain.path.join("energy_uj").display().to_string(),
                state,
            });
            self.sensors.extend(domain.into_sensor());
        }
    }

    fn perf(&mut self, roots: &Roots) {
        let place = roots.sys("bus/event_source/devices/power");
        let state = match perf::sensors(roots) {
            Ok(found) if found.is_empty() => State::Missing("no energy events".to_owned()),
            Ok(found) => {
                for sensor in found {
                    if self.sensors.iter().all(|s| s.component != sensor.component) {
                        self.sensors.push(sensor);
                    }
                }
                State::Read(Method::Measured)
            }
            Err(error) => refused_or_missing(&error),
        };
        self.findings.push(Finding {
            what: "RAPL through perf".to_owned(),
            place: place.display().to_string(),
            state,
        });
    }

    fn estimate(&mut self, roots: &Roots, clock: io::Result<MachineCpuTime>) {
        let place = clock
            .as_ref()
            .map_or_else(|_| roots.proc("stat"), |clock| clock.path().to_owned());
        let sensor = clock.and_then(|clock| tdp::sensor(&self.processor, clock));
        let state = match sensor {
            Ok(sensor) => {
                let method = sensor.method.clone();
                self.sensors.push(sensor);
                State::Read(method)
            }
            Err(error) => refused_or_missing(&error),
        };
        self.findings.push(Finding {
            what: Component::Cpu.to_string(),
            place: place.display().to_string(),
            state,
        });
    }
}

fn refused_or_missing(error: &io::Error) -> State {
    match error.kind() {
        io::ErrorKind::PermissionDenied => State::Refused(error.to_string()),
        _ => State::Missing(error.to_string()),
    }
}
