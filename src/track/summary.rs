use std::path::PathBuf;
use std::time::Duration;

use super::child::Ending;
use super::csv_series;
use super::plan::Plan;
use crate::meter::Measurement;
use crate::model::info::Region;
use crate::model::{Meter, Sample};
use crate::units::{Energy, GramsPerKwh, Watts};

/// The outcome of a tracked run.
#[derive(Debug)]
#[non_exhaustive]
pub struct Summary {
    /// How the command ended.
    pub ending: Ending,
    /// The run's folder, if the log could be written.
    pub run: Option<PathBuf>,
    /// What was measured; none where the sensors did not answer.
    pub measurement: Option<Measurement>,
    /// All notes of the run, as in the log.
    pub notes: Vec<String>,
    /// Those of the notes that say what the log lacks.
    pub not_in_log: Vec<String>,
    /// Where the electricity came from, if that is known.
    pub region: Option<Region>,
    /// CPU time of the tracker itself.
    pub overhead: Duration,
}

impl Summary {
    /// That of a run of which nothing is known but its end.
    pub(crate) fn of_nothing(plan: &Plan, ending: Ending) -> Self {
        Self {
            ending,
            run: None,
            measurement: None,
            notes: Vec::new(),
            not_in_log: Vec::new(),
            region: plan.region.clone(),
            overhead: Duration::ZERO,
        }
    }
}

/// What the live line shows.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveStatus {
    /// Time since the start.
    pub elapsed: Duration,
    /// The run's mean power since the last sample.
    pub power: Option<Watts>,
    /// The run's energy so far.
    pub energy: Option<Energy>,
    /// The carbon intensity recorded with the sample.
    pub intensity: Option<GramsPerKwh>,
    /// The part of the energy that was measured by sensors; of the number of sensors while the energy
    /// is 0.
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

/// Shows the state of a run while it goes on.
pub trait Display {
    /// Shows the latest state.
    fn show(&mut self, status: &LiveStatus);
    /// Removes what was shown.
    fn clear(&mut self);
}
