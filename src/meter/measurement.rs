use std::collections::BTreeMap;
use std::time::Duration;

use crate::model::info::{Balance, GpuCard, SensorNote};
use crate::model::{Component, EnergyClass, Sample};
use crate::units::Energy;

/// The result of a session.
#[derive(Debug, Clone)]
#[non_exhaustive]
#[must_use]
pub struct Measurement {
    /// From the start to the stop, without the time in which the machine was suspended.
    pub duration: Duration,
    /// The sensors that were read, and how good their figures are.
    pub sensors: Vec<SensorNote>,
    /// The energy of each component: of the run, of other processes, and idle.
    ///
    /// Some components contain others, so do not add these up: use [`energy`](Self::energy).
    pub balance: BTreeMap<Component, Balance>,
    /// What could not be read or counted, in the order it happened.
    pub notes: Vec<String>,
    /// The sample at the end.
    pub last: Sample,
    pub(crate) gpus: Vec<GpuCard>,
    pub(crate) gpu_driver: Option<String>,
}

impl Measurement {
    /// The energy attributed to the run, without cooling and other overhead of the building.
    ///
    /// None where there is no sensor and no estimate.
    #[must_use]
    pub fn energy(&self) -> Option<Energy> {
        self.sum(|class| class.is_some())
    }

    /// The energy attributed to the run of processors, memory or GPUs.
    #[must_use]
    pub fn energy_of(&self, class: EnergyClass) -> Option<Energy> {
        self.sum(|counted| counted == Some(class))
    }

    /// The class that a component's energy is added to; none where another component contains it.
    #[must_use]
    pub fn counted_as(&self, component: &Component) -> Option<EnergyClass> {
        component.counted_as(&self.balance.keys().collect())
    }

    fn sum(&self, is_wanted: impl Fn(Option<EnergyClass>) -> bool) -> Option<Energy> {
        self.balance
            .iter()
            .filter(|(component, _)| is_wanted(self.counted_as(component)))
            .filter_map(|(_, balance)| Energy::from_joules(balance.attributed_j).ok())
            .reduce(|all, more| all + more)
    }
}
