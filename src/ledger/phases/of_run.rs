use std::collections::BTreeMap;

use super::{Phase, Taken};
use crate::ledger::{Part, RecordedCarbon, RunSummary};
use crate::model::{Component, CpuSocket, EnergyClass, Method};
use crate::units::{Energy, GramsCo2e, Hours, OutOfRange};

impl RunSummary {
    /// A phase of the run as a run of its own, with a part for each class of devices; none if it has no such phase.
    ///
    /// # Errors
    ///
    /// If a figure is out of range.
    pub fn of_phase(&self, name: &str) -> Result<Option<Self>, OutOfRange> {
        let Some(phase) = self.phases.iter().find(|phase| &*phase.name == name) else {
            return Ok(None);
        };
        let carbon = match (&self.carbon, phase.total.grams) {
            (Some(carbon), Some(grams)) => Some(RecordedCarbon {
                mass: GramsCo2e::from_grams(grams)?,
                ..carbon.clone()
            }),
            _ => None,
        };
        Ok(Some(Self {
            parts: self.parts_of(&phase.total)?,
            duration: Hours::from_seconds(phase.total.seconds)?,
            counts: phase.counts.clone(),
            carbon,
            cpu_time: None,
            gpu_time: None,
            phases: vec![Phase::clone(phase)],
            implausible: Energy::ZERO,
            ..self.clone()
        }))
    }

    fn parts_of(&self, taken: &Taken) -> Result<BTreeMap<Component, Part>, OutOfRange> {
        let classes = [
            (EnergyClass::Cpu, Component::Cpu),
            (EnergyClass::Gpu, Component::AllGpus),
            (EnergyClass::Dram, Component::Dram(CpuSocket::socket(0))),
        ];
        let mut parts = BTreeMap::new();
        for (class, component) in classes {
            if let (Some(joules), Some(method)) = (taken.joules_of(class), self.method_of(class)) {
                let part = Part {
                    attributed: Energy::from_joules(joules)?,
                    machine: None,
                    method,
                };
                parts.insert(component, part);
            }
        }
        Ok(parts)
    }

    /// How the energy of a class is known: estimated if that of one of its devices is.
    fn method_of(&self, class: EnergyClass) -> Option<Method> {
        let methods = self
            .counted()
            .filter(|(of, ..)| *of == class)
            .map(|(.., part)| &part.method);
        let all: Vec<&Method> = methods.collect();
        let estimated = all.iter().find(|method| !method.is_measured());
        estimated.or(all.first()).map(|method| (*method).clone())
    }
}
