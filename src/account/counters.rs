//! Energy from our own logs: running totals, so the last one seen is the run's.

use std::collections::BTreeMap;

use super::Part;
use super::phases::{Phases, Repetitions};
use super::series::CarbonSeries;
use crate::log::{Mark, Meter, Row};
use crate::sensor::{Component, Method};
use crate::units::{JOULES_PER_KWH, Joules, OutOfRange, SECONDS_PER_HOUR};

/// Follows the running totals of every component through a log.
#[derive(Debug, Default)]
pub(super) struct Counters {
    parts: BTreeMap<Component, Running>,
    /// Components that could not be read, or no longer, and why.
    pub(super) lost: BTreeMap<Component, String>,
    pub(super) seconds: f64,
    counted_j: f64,
    gpu_hours: Option<f64>,
    pub(super) carbon: CarbonSeries,
    phases: Phases,
    pub(super) fell_back: bool,
}

#[derive(Debug)]
struct Running {
    attributed_j: f64,
    total_j: Option<f64>,
    method: Method,
}

impl Counters {
    pub(super) fn add(&mut self, row: &Row, gpus: usize) -> Result<(), String> {
        for (component, meter) in row.meters()? {
            self.follow(component, meter)?;
        }
        let elapsed = row.elapsed.unwrap_or(self.seconds).max(self.seconds);
        let hours = (elapsed - self.seconds) / SECONDS_PER_HOUR;
        self.seconds = elapsed;
        if let Some(utilization) = row.gpu_utilization.filter(|share| *share >= 0.0) {
            *self.gpu_hours.get_or_insert(0.0) += hours * utilization * gpus as f64;
        }
        let counted = self.counted_joules();
        let kwh = (counted - self.counted_j) / JOULES_PER_KWH;
        self.counted_j = counted;
        self.carbon.add(kwh, row.carbon_intensity);
        if let Some(text) = row.mark {
            let mark: Mark = serde_json::from_slice(text).map_err(|error| error.to_string())?;
            self.phases.mark(mark, counted, elapsed);
        }
        Ok(())
    }

    fn follow(&mut self, component: Component, meter: Meter) -> Result<(), String> {
        if let Method::Absent { why } = meter.method {
            self.lost.insert(component, why);
            return Ok(());
        }
        if matches!(component, Component::Other(_)) {
            return Ok(());
        }
        let Some(attributed_j) = meter.attributed_j else {
            return Err(format!("{component} has a method but no attributed_j"));
        };
        let figures = [Some(attributed_j), meter.total_j];
        if figures
            .into_iter()
            .flatten()
            .any(|joules| !joules.is_finite() || joules < 0.0)
        {
            return Err(format!("the energy of {component} is negative"));
        }
        let known = self.parts.entry(component).or_insert(Running {
            attributed_j,
            total_j: meter.total_j,
            method: meter.method.clone(),
        });
        if attributed_j < known.attributed_j {
            self.fell_back = true;
            return Ok(());
        }
        known.attributed_j = attributed_j;
        known.total_j = meter.total_j.or(known.total_j);
        // What was once estimated stays estimated.
        if known.method.is_measured() {
            known.method = meter.method;
        }
        Ok(())
    }

    fn counted_joules(&self) -> f64 {
        let present = self.parts.keys().collect();
        self.parts
            .iter()
            .filter(|(component, _)| component.counted_as(&present).is_some())
            .map(|(_, part)| part.attributed_j)
            .sum()
    }

    /// What marked phases took, and whether some had to be left out.
    pub(super) fn phases(&mut self) -> (BTreeMap<String, Repetitions>, bool) {
        let phases = self.phases.finish(self.counted_j, self.seconds);
        (phases, self.phases.too_many)
    }

    pub(super) fn gpu_hours(&self) -> Option<f64> {
        self.gpu_hours
    }

    pub(super) fn parts(&self) -> Result<BTreeMap<Component, Part>, OutOfRange> {
        self.parts
            .iter()
            .map(|(component, running)| {
                let part = Part {
                    attributed: Joules::from_joules(running.attributed_j)?,
                    machine: running.total_j.map(Joules::from_joules).transpose()?,
                    method: running.method.clone(),
                };
                Ok((component.clone(), part))
            })
            .collect()
    }
}
