//! Energy from our own logs: running totals, so the last one seen is the run's.

use std::collections::BTreeMap;

use super::Part;
use super::footprint::RecordedSeries;
use super::phases::{Phases, Repetitions};
use crate::log::{Row, check_component_count};
use crate::model::{Component, Mark, Meter, Method, Present};
use crate::units::{Energy, JOULES_PER_KWH, OutOfRange, SECONDS_PER_HOUR};

/// Follows the running totals of every component through a log.
#[derive(Debug, Default)]
pub(super) struct RunningTotals {
    parts: BTreeMap<Component, Running>,
    /// Components that could not be read, or no longer, and why.
    pub(super) lost: BTreeMap<Component, String>,
    pub(super) seconds: f64,
    present: Present,
    /// The sum over the counted components; kept between rows, as a row may name only some components.
    counted_j: f64,
    gpu_hours: Option<f64>,
    pub(super) carbon: RecordedSeries,
    phases: Phases,
    pub(super) fell_back: bool,
}

#[derive(Debug)]
struct Running {
    attributed_j: f64,
    total_j: Option<f64>,
    method: Method,
    is_counted: bool,
}

impl RunningTotals {
    pub(super) fn add(&mut self, row: &Row, gpus: usize) -> Result<(), String> {
        let before = self.counted_j;
        for (component, meter) in row.meters()? {
            self.follow(component, meter)?;
        }
        let elapsed = row.elapsed.unwrap_or(self.seconds).max(self.seconds);
        let hours = (elapsed - self.seconds) / SECONDS_PER_HOUR;
        self.seconds = elapsed;
        if let Some(utilization) = row.gpu_utilization.filter(|share| *share >= 0.0) {
            *self.gpu_hours.get_or_insert(0.0) += hours * utilization * gpus as f64;
        }
        let kwh = (self.counted_j - before) / JOULES_PER_KWH;
        self.carbon.add(kwh, row.carbon_intensity);
        if let Some(text) = row.mark {
            let mark: Mark = serde_json::from_slice(text).map_err(|error| error.to_string())?;
            self.phases.mark(mark, self.counted_j, elapsed);
        }
        Ok(())
    }

    fn follow(&mut self, component: Component, meter: Meter) -> Result<(), String> {
        if let Method::Absent { why } = meter.method {
            if !self.lost.contains_key(&component) {
                check_component_count(self.lost.len())?;
            }
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
        let Some(known) = self.parts.get_mut(&component) else {
            return self.begin(component, attributed_j, meter);
        };
        if attributed_j < known.attributed_j {
            self.fell_back = true;
            return Ok(());
        }
        if known.is_counted {
            self.counted_j += attributed_j - known.attributed_j;
        }
        known.attributed_j = attributed_j;
        known.total_j = meter.total_j.or(known.total_j);
        // What was once estimated stays estimated.
        if known.method.is_measured() {
            known.method = meter.method;
        }
        Ok(())
    }

    fn begin(
        &mut self,
        component: Component,
        attributed_j: f64,
        meter: Meter,
    ) -> Result<(), String> {
        check_component_count(self.parts.len())?;
        let regroups = self.present.add(&component);
        let is_counted = component.counted_as(&self.present).is_some();
        if is_counted {
            self.counted_j += attributed_j;
        }
        let part = Running {
            attributed_j,
            total_j: meter.total_j,
            method: meter.method,
            is_counted,
        };
        self.parts.insert(component, part);
        if regroups {
            self.regroup();
        }
        Ok(())
    }

    /// Counts again after a component appeared that contains others.
    fn regroup(&mut self) {
        self.counted_j = 0.0;
        for (component, part) in &mut self.parts {
            part.is_counted = component.counted_as(&self.present).is_some();
            if part.is_counted {
                self.counted_j += part.attributed_j;
            }
        }
    }

    /// What marked phases took, and what is to be said of the marks.
    pub(super) fn phases(&mut self) -> (BTreeMap<String, Repetitions>, Vec<String>) {
        let phases = self.phases.finish(self.counted_j, self.seconds);
        (phases, self.phases.notes())
    }

    pub(super) fn gpu_hours(&self) -> Option<f64> {
        self.gpu_hours
    }

    pub(super) fn parts(&self) -> Result<BTreeMap<Component, Part>, OutOfRange> {
        self.parts
            .iter()
            .map(|(component, running)| {
                let part = Part {
                    attributed: Energy::from_joules(running.attributed_j)?,
                    machine: running.total_j.map(Energy::from_joules).transpose()?,
                    method: running.method.clone(),
                };
                Ok((component.clone(), part))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(elapsed: f64, energy: &str) -> Row<'_> {
        Row {
            elapsed: Some(elapsed),
            energy: Some(energy.as_bytes()),
            ..Row::default()
        }
    }

    #[test]
    fn what_comes_late_and_contains_others_is_counted_in_their_place() {
        let mut counters = RunningTotals::default();
        let mut counted = |energy: &str| {
            counters.add(&row(1.0, energy), 0).unwrap();
            counters.counted_j
        };
        let of = |name: &str, joules: u32| {
            format!(r#"{{"{name}":{{"attributed_j":{joules},"method":"measured"}}}}"#)
        };
        assert_eq!(counted(&of("psys", 50)), 50.0);
        assert_eq!(counted(&of("core-0", 10)), 10.0);
        assert_eq!(counted(&of("psys", 60)), 10.0);
        assert_eq!(counted(&of("package-0", 20)), 20.0);
        assert_eq!(counted(&of("core-0", 12)), 20.0);
        assert_eq!(counted(&of("gpu:a", 5)), 25.0);
        assert_eq!(counted(&of("gpu", 8)), 28.0);
        assert_eq!(counted(&of("package-0", 21)), 29.0);
        assert_eq!(counted(&of("package-0", 3)), 29.0);
    }

    #[test]
    fn a_log_that_numbers_its_components_without_end_is_refused() {
        for meter in [
            r#"{"attributed_j":1,"method":"measured"}"#,
            r#"{"method":"absent","why":"lost"}"#,
        ] {
            let named = |numbers: std::ops::Range<u32>| {
                let meters: Vec<String> = numbers.map(|n| format!("\"gpu:{n}\":{meter}")).collect();
                format!("{{{}}}", meters.join(","))
            };
            let mut counters = RunningTotals::default();
            let first = named(0..1 << 16);
            counters.add(&row(1.0, &first), 0).unwrap();
            counters.add(&row(2.0, &first), 0).unwrap();
            let refused = counters.add(&row(3.0, &named(1 << 16..(1 << 16) + 1)), 0);
            assert!(refused.unwrap_err().contains("65536 components"));
        }
    }
}
