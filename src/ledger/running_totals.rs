//! Energy from logs of impact: they hold running totals, so the last one is the run's.

use std::collections::BTreeMap;

use super::Part;
use super::clip::Clip;
use super::footprint::RecordedSeries;
use super::phases::{Counts, Occurrence, Phase, Phases, Reading, RecentReadings, place};
use super::plausible_totals::PlausibleTotals;
use crate::log::{ImplausibleSample, Row, check_component_count};
use crate::model::{Component, EnergyClass, Info, Meter, Method, Present};
use crate::units::{Energy, JOULES_PER_KWH, OutOfRange, SECONDS_PER_HOUR};

/// Follows the running totals of every component through a log.
#[derive(Debug, Default)]
pub(super) struct RunningTotals {
    pub(super) plausible: PlausibleTotals,
    clip: Option<Clip>,
    parts: BTreeMap<Component, Running>,
    /// Components that could not be read, or no longer, and why.
    pub(super) lost: BTreeMap<Component, String>,
    pub(super) seconds: f64,
    present: Present,
    /// The sum over the counted components; kept between rows, as a row may name only some components.
    counted_j: f64,
    /// The same by class.
    class_j: [Option<f64>; 3],
    gpu_hours: Option<f64>,
    pub(super) carbon: RecordedSeries,
    recent: RecentReadings,
    phases: Phases,
    pub(super) fell_back: bool,
}

#[derive(Debug)]
struct Running {
    attributed_j: f64,
    total_j: Option<f64>,
    method: Method,
    class: Option<EnergyClass>,
}

impl RunningTotals {
    /// The totals of a log without what the clip takes out; keeps so many occurrences of phases.
    pub(super) fn new(info: &Info, clip: Option<Clip>, most_occurrences: usize) -> Self {
        Self {
            plausible: PlausibleTotals::new(info),
            clip,
            phases: Phases::keeping(most_occurrences),
            ..Self::default()
        }
    }

    pub(super) fn add(&mut self, row: &Row, gpus: usize) -> Result<(), ImplausibleSample> {
        let before = self.counted_j;
        let mut meters = row.meters()?;
        let Some(elapsed) = self.plausible.correct(row, &mut meters)? else {
            return Ok(());
        };
        let elapsed = match &mut self.clip {
            Some(clip) => clip.apply(elapsed, &mut meters)?,
            None => elapsed,
        };
        let elapsed = elapsed.max(self.seconds);
        for (component, meter) in meters {
            self.follow(component, meter)?;
        }
        let hours = (elapsed - self.seconds) / SECONDS_PER_HOUR;
        self.seconds = elapsed;
        if let Some(utilization) = row.gpu_utilization.filter(|share| *share >= 0.0) {
            *self.gpu_hours.get_or_insert(0.0) += hours * utilization * gpus as f64;
        }
        let kwh = (self.counted_j - before) / JOULES_PER_KWH;
        self.carbon.add(kwh, row.carbon_intensity);
        self.carbon.see_source(row);
        self.see_marks(row);
        Ok(())
    }

    fn see_marks(&mut self, row: &Row) {
        let (waiting_kwh, grams) = self.carbon.so_far();
        self.recent.push(Reading {
            recorded_s: row.elapsed.unwrap_or(self.seconds),
            seconds: self.seconds,
            joules: self.class_j,
            waiting_kwh,
            grams,
        });
        if row.mark.is_some() || row.marks.is_some() {
            let first = self.carbon.first();
            self.phases.see(row.mark, row.marks, &self.recent, first);
        }
    }

    fn follow(&mut self, component: Component, meter: Meter) -> Result<(), ImplausibleSample> {
        if let Method::Absent { why } = meter.method {
            if !self.lost.contains_key(&component) {
                check_component_count(self.lost.len())?;
            }
            self.lost.insert(component, why);
            return Ok(());
        }
        self.lost.remove(&component);
        if matches!(component, Component::Other(_)) {
            return Ok(());
        }
        let Some(attributed_j) = meter.attributed_j else {
            return Err(ImplausibleSample::NoEnergy(component));
        };
        let figures = [Some(attributed_j), meter.total_j];
        if figures
            .into_iter()
            .flatten()
            .any(|joules| !joules.is_finite() || joules < 0.0)
        {
            return Err(ImplausibleSample::NegativeEnergy(component));
        }
        let Some(known) = self.parts.get_mut(&component) else {
            return self.begin(component, attributed_j, meter);
        };
        if attributed_j < known.attributed_j {
            self.fell_back = true;
            return Ok(());
        }
        let (class, step) = (known.class, attributed_j - known.attributed_j);
        known.attributed_j = attributed_j;
        known.total_j = meter.total_j.or(known.total_j);
        // What was once estimated stays estimated.
        if known.method.is_measured() {
            known.method = meter.method;
        }
        self.count(class, step);
        Ok(())
    }

    fn begin(
        &mut self,
        component: Component,
        attributed_j: f64,
        meter: Meter,
    ) -> Result<(), ImplausibleSample> {
        check_component_count(self.parts.len())?;
        let regroups = self.present.add(&component);
        let class = component.counted_as(&self.present);
        self.count(class, attributed_j);
        let part = Running {
            attributed_j,
            total_j: meter.total_j,
            method: meter.method,
            class,
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
        self.class_j = [None; 3];
        for (component, part) in &mut self.parts {
            part.class = component.counted_as(&self.present);
            if let Some(class) = part.class {
                self.counted_j += part.attributed_j;
                *self.class_j[place(class)].get_or_insert(0.0) += part.attributed_j;
            }
        }
    }

    fn count(&mut self, class: Option<EnergyClass>, joules: f64) {
        if let Some(class) = class {
            self.counted_j += joules;
            *self.class_j[place(class)].get_or_insert(0.0) += joules;
        }
    }

    /// Energy of counted components that is left out because it cannot be.
    pub(super) fn left_out_j(&self) -> f64 {
        let left_out = self.plausible.left_out();
        let counted = left_out.filter(|(component, _)| self.counts(component));
        counted.map(|(_, joules)| joules).sum()
    }

    /// Whether a component is counted, and not contained in another.
    pub(super) fn counts(&self, component: &Component) -> bool {
        self.parts
            .get(component)
            .is_some_and(|part| part.class.is_some())
    }

    /// What marked phases took, in order of time.
    pub(super) fn phases(&mut self) -> (Vec<Phase>, Vec<Occurrence>) {
        self.phases.finish(&self.recent, self.carbon.first())
    }

    /// What is to be said of the marks.
    pub(super) fn notes_on_marks(&self) -> Vec<String> {
        self.phases.notes()
    }

    /// Work that was counted, by unit.
    pub(super) fn work(&self) -> Counts {
        self.phases.counts()
    }

    /// What each component has come to, in kWh.
    pub(super) fn attributed_kwh(&self) -> impl Iterator<Item = (&Component, f64)> {
        self.parts
            .iter()
            .map(|(component, running)| (component, running.attributed_j / JOULES_PER_KWH))
    }

    pub(super) fn gpu_hours(&self) -> Option<f64> {
        self.gpu_hours
    }

    pub(super) fn parts(&self) -> Result<BTreeMap<Component, Part>, OutOfRange> {
        // A counter that never moved shows 0 until it is known to be stuck.
        let is_known = |component: &Component, running: &Running| {
            running.attributed_j > 0.0
                || running.total_j.is_none_or(|joules| joules > 0.0)
                || !self.lost.contains_key(component)
        };
        self.parts
            .iter()
            .filter(|(component, running)| is_known(component, running))
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
    fn a_component_that_was_lost_before_it_showed_any_energy_is_unknown() {
        let mut counters = RunningTotals::default();
        let measured = |joules: u32| {
            format!(
                r#"{{"package-0":{{"total_j":{joules},"attributed_j":{joules},"method":"measured"}}}}"#
            )
        };
        let lost = r#"{"package-0":{"method":"absent","why":"it has never moved"}}"#;
        counters.add(&row(1.0, &measured(0)), 0).unwrap();
        assert_eq!(counters.parts().unwrap().len(), 1);
        counters.add(&row(2.0, lost), 0).unwrap();
        assert_eq!(counters.parts().unwrap().len(), 0);
        counters.add(&row(3.0, &measured(1)), 0).unwrap();
        assert!(counters.lost.is_empty());
        counters.add(&row(4.0, lost), 0).unwrap();
        assert_eq!(counters.parts().unwrap().len(), 1);
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
            let refused = refused.unwrap_err();
            assert!(matches!(refused, ImplausibleSample::TooManyComponents));
        }
    }
}
