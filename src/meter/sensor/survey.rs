use std::fmt;
use std::io;
use std::path::PathBuf;

use super::{MachineCpuTime, Processor, Roots, Sensor, memory, mirrored_dies, perf, rapl, tdp};
use crate::model::{Component, CpuSocket, EnergyClass, Method, Present};

/// The sensors of processors and memory, and every place where they were looked for.
#[derive(Debug)]
pub(crate) struct Survey {
    pub(crate) sensors: Vec<Sensor>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) processor: Processor,
    /// Where the machine's CPU time is read.
    pub(crate) clock: Option<MachineCpuTime>,
    /// What the log should say about counters that are shown twice.
    pub(crate) notes: Vec<String>,
}

/// One place where a sensor was looked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Finding {
    pub(crate) interface: Interface,
    /// The file or folder.
    pub(crate) place: String,
    pub(crate) state: State,
}

/// How processors and memory can be metered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Interface {
    /// A powercap zone; without a component, powercap as a whole.
    Powercap(Option<Component>),
    /// The `power` performance-monitoring unit.
    Perf,
    /// The estimate from the CPU load.
    LoadModel,
    /// The estimate of the memory from its modules or size.
    MemoryModel,
}

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Powercap(Some(component)) => component.fmt(f),
            Self::Powercap(None) => f.write_str("RAPL through powercap"),
            Self::Perf => f.write_str("RAPL through perf"),
            Self::LoadModel => Component::Cpu.fmt(f),
            Self::MemoryModel => ALL_MEMORY.fmt(f),
        }
    }
}

/// As the estimate names it.
const ALL_MEMORY: Component = Component::Dram(CpuSocket {
    socket: 0,
    die: None,
});

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum State {
    Read(Method),
    /// Readable, but this other zone meters the same hardware.
    TwinOf(PathBuf),
    /// Present, but access is denied.
    Refused(String),
    Missing(String),
}

impl Survey {
    /// Tries powercap, then the perf unit, and estimates if neither meters a processor.
    pub(crate) fn of(roots: &Roots) -> Self {
        let clock = MachineCpuTime::open(roots);
        let mut survey = Self {
            sensors: Vec::new(),
            findings: Vec::new(),
            processor: Processor::of(roots),
            clock: clock.as_ref().ok().cloned(),
            notes: Vec::new(),
        };
        survey.powercap(roots);
        if !survey.meters_a_processor() {
            survey.perf(roots);
        }
        if !survey.meters_a_processor() {
            survey.estimate(roots, clock);
        }
        if survey.lacks_memory_only() {
            survey.estimate_memory(roots);
        }
        survey
    }

    /// Whether the energy of a processor is measured and not only estimated.
    pub(crate) fn meters_a_processor(&self) -> bool {
        self.sensors.iter().any(|sensor| {
            sensor.method.is_measured()
                && matches!(
                    sensor.component,
                    Component::Package(_) | Component::Core(_) | Component::Psys
                )
        })
    }

    /// Whether the processors are metered or estimated, and the memory is not, nor is it a part of a meter.
    ///
    /// Memory alone would look like the energy of the machine.
    fn lacks_memory_only(&self) -> bool {
        let components = self.sensors.iter().map(|sensor| &sensor.component);
        let present: Present = components.clone().chain([&ALL_MEMORY]).collect();
        let mut counted = components.filter_map(|component| component.counted_as(&present));
        let has_processors = counted.clone().any(|class| class == EnergyClass::Cpu);
        let has_memory = counted.any(|class| class == EnergyClass::Dram);
        has_processors && !has_memory && ALL_MEMORY.counted_as(&present).is_some()
    }

    /// The note for the log about sensors that are not read; none where all are.
    pub(crate) fn what_is_not_read(&self) -> Option<String> {
        let unread: Vec<String> = self
            .findings
            .iter()
            .filter_map(|finding| match &finding.state {
                State::Refused(why) | State::Missing(why) => {
                    Some(format!("{} ({why})", finding.interface))
                }
                State::Read(_) | State::TwinOf(_) => None,
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
                interface: Interface::Powercap(None),
                place: roots.sys("class/powercap").display().to_string(),
                state: State::Missing("no domain with an energy counter".to_owned()),
            });
        }
        for domain in domains {
            if let Some(original) = &domain.mirrors {
                let die = &domain.component;
                self.notes.push(mirrored_dies::note(die, original));
            }
            let state = match (&domain.twin_of, &domain.counter) {
                (Some(twin), _) => State::TwinOf(twin.clone()),
                (None, Ok(_)) => State::Read(Method::Measured),
                (None, Err(error)) => refused_or_missing(error),
            };
            self.findings.push(Finding {
                interface: Interface::Powercap(Some(domain.component.clone())),
                place: domain.path.join("energy_uj").display().to_string(),
                state,
            });
            self.sensors.extend(domain.into_sensor());
        }
    }

    fn perf(&mut self, roots: &Roots) {
        let place = roots.sys("bus/event_source/devices/power");
        let state = match perf::sensors(roots) {
            Ok((found, _)) if found.is_empty() => State::Missing("no energy events".to_owned()),
            Ok((found, notes)) => {
                self.notes.extend(notes);
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
            interface: Interface::Perf,
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
            interface: Interface::LoadModel,
            place: place.display().to_string(),
            state,
        });
    }

    fn estimate_memory(&mut self, roots: &Roots) {
        let state = match memory::sensor(roots, &self.processor) {
            Some(sensor) => {
                let method = sensor.method.clone();
                self.sensors.push(sensor);
                State::Read(method)
            }
            None => State::Missing("the size of the memory cannot be read".to_owned()),
        };
        self.findings.push(Finding {
            interface: Interface::MemoryModel,
            place: roots.proc("meminfo").display().to_string(),
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
