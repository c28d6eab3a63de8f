use std::collections::{BTreeMap, BTreeSet};

use super::power_curve::PowerCurve;
use super::profile::Place;
use crate::model::{EnergyClass, Info, Method};

/// A part of the machine whose energy is divided among the spans that ran on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Device {
    /// Such as `CPU and memory` or `GPU 0`.
    pub name: String,
    /// The components of the run that it stands for; none if the run has no figure for it.
    pub components: Vec<String>,
    /// How the energies of the components were obtained.
    pub methods: Vec<Method>,
    /// Their places in the power curve.
    pub(super) parts: Vec<usize>,
}

/// The devices of a run, and which of them the threads of a profile ran on.
#[derive(Debug)]
pub(super) struct Devices {
    pub(super) all: Vec<Device>,
    places: BTreeMap<Place, usize>,
    pub(super) notes: Vec<String>,
}

impl Devices {
    /// The whole run as one device.
    pub(super) fn together(curve: &PowerCurve) -> Self {
        Self {
            all: vec![Device::of(
                curve,
                "the run",
                (0..curve.parts.len()).collect(),
            )],
            places: BTreeMap::new(),
            notes: Vec::new(),
        }
    }

    /// A GPU has its own energy if the profile has spans on it; all other energy is that of the CPU's spans.
    pub(super) fn of(curve: &PowerCurve, info: &Info, places: &BTreeSet<Place>) -> Self {
        let gpus = curve.gpus(info);
        let numbers: Vec<u32> = places
            .iter()
            .filter_map(|place| match place {
                Place::Gpu(number) => Some(*number),
                Place::Host => None,
            })
            .collect();
        let mut notes = Vec::new();
        let mut devices = Vec::new();
        let mut of_place = BTreeMap::new();
        let mut taken = BTreeSet::new();
        for number in &numbers {
            // All boards together, or the only one on both sides, whatever their numbers are.
            let is_only = gpus.len() == 1 && numbers.len() == 1;
            let part = if is_only {
                gpus.first()
            } else {
                gpus.get(*number as usize)
            };
            let part = part.copied().filter(|part| taken.insert(*part));
            let device = Device::of(curve, &format!("GPU {number}"), part.into_iter().collect());
            if device.components.is_empty() {
                notes.push(format!(
                    "GPU {number} of the profile has no energy: the run has figures for {} of them",
                    gpus.len()
                ));
            }
            of_place.insert(Place::Gpu(*number), devices.len());
            devices.push(device);
        }
        let rest: Vec<usize> = (0..curve.parts.len())
            .filter(|part| !taken.contains(part))
            .collect();
        let has_gpu = rest
            .iter()
            .any(|part| curve.parts[*part].class == EnergyClass::Gpu);
        let name = match (has_gpu, devices.is_empty()) {
            (true, true) => "the run",
            (true, false) => "CPU, memory and other GPUs",
            (false, _) => "CPU and memory",
        };
        if has_gpu {
            notes.push(
                "GPUs on which the profile has no span: their energy is divided among the spans of the CPU"
                    .to_owned(),
            );
        }
        of_place.insert(Place::Host, devices.len());
        devices.push(Device::of(curve, name, rest));
        Self {
            all: devices,
            places: of_place,
            notes,
        }
    }

    pub(super) fn at(&self, place: Place) -> usize {
        self.places.get(&place).copied().unwrap_or(0)
    }
}

impl Device {
    fn of(curve: &PowerCurve, name: &str, parts: Vec<usize>) -> Self {
        let mut methods: Vec<Method> = Vec::new();
        let mut components = Vec::new();
        for part in parts.iter().map(|part| &curve.parts[*part]) {
            components.push(part.component.to_string());
            if !methods.contains(&part.method) {
                methods.push(part.method.clone());
            }
        }
        Self {
            name: name.to_owned(),
            components,
            methods,
            parts,
        }
    }
}
