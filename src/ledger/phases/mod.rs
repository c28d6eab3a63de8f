//! What phases took, from the marks in a log; `docs/log-format.md` has the rules.

mod matching;
mod of_run;
mod readings;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::EnergyClass;
use crate::units::JOULES_PER_KWH;

pub(super) use matching::Phases;
pub(super) use readings::{Reading, RecentReadings};

/// All occurrences of one phase in a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Phase {
    /// As marked.
    pub name: Arc<str>,
    /// When it began first, in seconds since the start of the run.
    pub first_s: f64,
    /// How often it occurred.
    pub occurrences: u64,
    /// How many of them have energies that are interpolated between samples.
    pub interpolated: u64,
    /// What all of them took.
    pub total: Taken,
    /// Work that was counted in them, by unit.
    pub counts: Counts,
    order: u64,
    /// Mean and sum of squared distances from it, of the energies in J.
    mean_j: f64,
    spread: f64,
}

/// One occurrence of a phase.
#[derive(Debug, Clone, PartialEq)]
pub struct Occurrence {
    /// The name of the phase.
    pub name: Arc<str>,
    /// In seconds since the start of the run.
    pub from_s: f64,
    /// In seconds since the start of the run.
    pub to_s: f64,
    /// What it took.
    pub taken: Taken,
    /// Work that was counted in it, by unit.
    pub counts: Counts,
    /// Whether its energies are interpolated between samples.
    pub interpolated: bool,
    order: u64,
}

/// Amounts of work by unit.
pub type Counts = BTreeMap<Arc<str>, f64>;

/// Time, energy without PUE, and CO2eq by recorded intensities.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Taken {
    /// In s.
    pub seconds: f64,
    /// In J, of the CPUs, GPUs and memory; none without a figure.
    joules: [Option<f64>; 3],
    /// In g, without PUE; none if no intensity was recorded.
    grams: Option<f64>,
}

impl Taken {
    /// The energy of one class in J, or none without a figure.
    #[must_use]
    pub fn joules_of(&self, class: EnergyClass) -> Option<f64> {
        self.joules[place(class)]
    }

    /// The energy of all classes, in J.
    #[must_use]
    pub fn joules(&self) -> f64 {
        self.joules
            .iter()
            .flatten()
            .fold(0.0, |sum, joules| sum + joules)
    }

    fn add(&mut self, other: &Self) {
        self.seconds += other.seconds;
        for (sum, joules) in self.joules.iter_mut().zip(other.joules) {
            *sum = sum_of(*sum, joules);
        }
        self.grams = sum_of(self.grams, other.grams);
    }
}

fn sum_of(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    [a, b].into_iter().flatten().reduce(|a, b| a + b)
}

/// The place of a class among the energies of a [`Taken`] and a [`Reading`].
pub(super) fn place(class: EnergyClass) -> usize {
    match class {
        EnergyClass::Cpu => 0,
        EnergyClass::Gpu => 1,
        EnergyClass::Dram => 2,
    }
}

/// Energy for a unit of work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Efficiency {
    /// J for one unit.
    pub joules_per_unit: f64,
    /// Units for one kWh; none without energy.
    pub units_per_kwh: Option<f64>,
}

impl Efficiency {
    /// That of so much work with so much energy; none without work.
    #[must_use]
    pub fn of(joules: f64, count: f64) -> Option<Self> {
        (count > 0.0).then(|| Self {
            joules_per_unit: joules / count,
            units_per_kwh: (joules > 0.0).then(|| count / joules * JOULES_PER_KWH),
        })
    }
}

impl Phase {
    fn first(name: Arc<str>) -> Self {
        Self {
            name,
            first_s: f64::INFINITY,
            occurrences: 0,
            interpolated: 0,
            total: Taken::default(),
            counts: Counts::new(),
            order: u64::MAX,
            mean_j: 0.0,
            spread: 0.0,
        }
    }

    fn add(&mut self, occurrence: &Occurrence) {
        self.occurrences += 1;
        self.interpolated += u64::from(occurrence.interpolated);
        self.first_s = self.first_s.min(occurrence.from_s);
        self.order = self.order.min(occurrence.order);
        self.total.add(&occurrence.taken);
        for (unit, count) in &occurrence.counts {
            *self.counts.entry(Arc::clone(unit)).or_default() += count;
        }
        let joules = occurrence.taken.joules();
        let before = joules - self.mean_j;
        self.mean_j += before / self.occurrences as f64;
        self.spread += before * (joules - self.mean_j);
    }

    /// Mean energy of an occurrence, in J.
    #[must_use]
    pub fn mean_j(&self) -> f64 {
        self.mean_j
    }

    /// Mean time of an occurrence, in s.
    #[must_use]
    pub fn mean_s(&self) -> f64 {
        self.total.seconds / self.occurrences as f64
    }

    /// Standard error of the mean energy; none for a single occurrence.
    #[must_use]
    pub fn standard_error_j(&self) -> Option<f64> {
        let count = self.occurrences as f64;
        (self.occurrences > 1).then(|| (self.spread / (count - 1.0) / count).sqrt())
    }
}
