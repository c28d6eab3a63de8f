use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::child::Ending;
use super::csv_series;
use crate::model::info::{Balance, Region, SensorNote};
use crate::model::{Component, EnergyClass, Meter, Sample};
use crate::units::{Energy, GramsPerKwh, Watts};

/// What a run came to, as the tracker has it in memory.
#[derive(Debug)]
pub struct Summary {
    pub ending: Ending,
    pub elapsed: Duration,
    /// The run's folder, if the log could be written.
    pub run: Option<PathBuf>,
    pub sensors: Vec<SensorNote>,
    pub balance: BTreeMap<Component, Balance>,
    pub notes: Vec<String>,
    pub region: Option<Region>,
    /// CPU time of the tracker itself.
    pub overhead: Duration,
}

impl Summary {
    /// The group a component is added to, or none where something larger contains it.
    #[must_use]
    pub fn counted_as(&self, component: &Component) -> Option<EnergyClass> {
        component.counted_as(&self.balance.keys().collect())
    }

    /// The run's energy, without the building's overhead; none where nothing has a meter.
    #[must_use]
    pub fn energy(&self) -> Option<Energy> {
        let counted = self
            .balance
            .iter()
            .filter(|(component, _)| self.counted_as(component).is_some());
        counted
            .filter_map(|(_, balance)| Energy::from_joules(balance.attributed_j).ok())
            .reduce(|all, more| all + more)
    }
}

/// What the live line shows.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveStatus {
    pub elapsed: Duration,
    /// The run's mean power since the last sample.
    pub power: Option<Watts>,
    /// The run's energy so far.
    pub energy: Option<Energy>,
    /// The carbon intensity recorded with the sample.
    pub intensity: Option<GramsPerKwh>,
    /// The part of the energy that a sensor stands behind; of the meters, before any has moved.
    pub measured: Option<f64>,
}

impl LiveStatus {
    pub(crate) fn of(sample: &Sample) -> Self {
        let attributed = |meter: &Meter| meter.attributed_j;
        let energy = csv_series::sum(&sample.energy, None, attributed)
            .and_then(|joules| Energy::from_joules(joules).ok());
        let measured = |weight: fn(&Meter) -> Option<f64>| {
            let sensed = |meter: &Meter| weight(meter).filter(|_| meter.method.is_measured());
            let all = csv_series::sum(&sample.energy, None, weight).filter(|all| *all > 0.0)?;
            Some(csv_series::sum(&sample.energy, None, sensed).unwrap_or(0.0) / all)
        };
        let observed = &sample.observed;
        let watts = [
            observed.rapl_estimated_attributable_power_draw,
            observed.nvidia_estimated_attributable_power_draw,
        ];
        Self {
            elapsed: Duration::from_secs_f64(sample.elapsed),
            power: watts
                .into_iter()
                .flatten()
                .reduce(|a, b| a + b)
                .and_then(|watts| Watts::new(watts).ok()),
            energy,
            intensity: observed
                .realtime_carbon_intensity
                .and_then(|grams| GramsPerKwh::new(grams).ok()),
            measured: measured(|meter| meter.total_j).or_else(|| measured(|_| Some(1.0))),
        }
    }
}

/// Where the tracker shows what it sees while the run goes on.
pub trait Display {
    fn show(&mut self, status: &LiveStatus);
    /// Leaves no trace of what was shown.
    fn clear(&mut self);
}
