//! Corrects running totals and times that contradict each other or cannot be, before they are added up.

use std::collections::BTreeMap;

use crate::log::{ImplausibleSample, Row, check_component_count};
use crate::model::{Component, Info, MOST_DEVICE_WATTS, Meter};
use crate::text::number::counted;
use crate::text::quantity::Quantity;
use crate::units::SECONDS_PER_HOUR;

/// A counter may be updated this late, and then shows all of the delayed energy at once.
const MOST_DELAY: f64 = 1.0;
/// Seconds by which `elapsed` and the clock may differ in a step before it is reported: clocks are set.
const CLOCK_TOLERANCE: f64 = 60.0;
/// A step of `elapsed` that is longer than the clock's by this many seconds, and twice as long, is not believed.
const LONGEST_SETTING: f64 = 3600.0;
/// The part by which rounding may lift what is attributed above the total, and joules.
const ROUNDING: (f64, f64) = (1e-6, 1e-3);

/// Follows a log and leaves out what cannot be; a log without such samples passes unchanged.
#[derive(Debug, Default)]
pub(super) struct PlausibleTotals {
    devices: Devices,
    last: Option<Times>,
    /// Corrected seconds since the start.
    elapsed: f64,
    /// Seconds in which energy can have been drawn: those of the longer of the two clocks.
    longest: f64,
    /// `elapsed` before a step that was not believed.
    before_jump: Option<f64>,
    is_corrected: bool,
    disagreement: f64,
    restarts: u64,
    repeated: u64,
    meters: BTreeMap<Component, Followed>,
}

/// How many devices the components that sum up several can have.
#[derive(Debug, Clone, Copy, Default)]
struct Devices {
    sockets: usize,
    gpus: usize,
    /// The runs that were merged into this one, of which each may have been on a machine of its own.
    runs: usize,
}

#[derive(Debug, Clone, Copy)]
struct Times {
    elapsed: f64,
    timestamp: f64,
}

#[derive(Debug, Default)]
struct Followed {
    attributed: Total,
    machine: Total,
    /// Joules of the latest sample that are attributed beyond the machine's total.
    above_machine: f64,
}

/// One running total.
#[derive(Debug, Default)]
struct Total {
    recorded: f64,
    at: f64,
    /// What is taken off the recorded total.
    taken_off: f64,
    /// Joules of jumps that did not come back.
    jumps: f64,
    /// The total, what was taken off it and the jumps, before it jumped.
    before_jump: Option<(f64, f64, f64)>,
    spikes: u64,
    /// The first and the highest total since it fell and did not come back.
    fallen: Option<(f64, f64)>,
}

impl Total {
    fn advance(&mut self, recorded: f64, at: f64, most_watts: f64) -> f64 {
        if recorded < self.recorded {
            match self.before_jump {
                Some((before, taken_off, jumps)) if recorded >= before => {
                    (self.taken_off, self.jumps) = (taken_off, jumps);
                    self.before_jump = None;
                    self.spikes += 1;
                }
                _ => {
                    let (first, highest) = self.fallen.unwrap_or((recorded, recorded));
                    self.fallen = Some((first.min(recorded), highest.max(recorded)));
                    return (recorded - self.taken_off).max(0.0);
                }
            }
        } else {
            let step = recorded - self.recorded;
            if step > most_watts * (at - self.at + MOST_DELAY) {
                let before = (self.recorded, self.taken_off, self.jumps);
                self.before_jump.get_or_insert(before);
                self.taken_off += step;
                self.jumps += step;
            }
        }
        self.fallen = None;
        (self.recorded, self.at) = (recorded, at);
        recorded - self.taken_off
    }

    /// The log goes on with the totals of another run, which start at 0.
    fn restart(&mut self, at: f64) {
        *self = Self {
            taken_off: self.taken_off - self.recorded,
            at,
            jumps: self.jumps,
            spikes: self.spikes,
            ..Self::default()
        };
    }
}

impl PlausibleTotals {
    pub(super) fn new(info: &Info) -> Self {
        let sockets = info.host.cpu.as_ref().and_then(|cpu| cpu.sockets);
        Self {
            devices: Devices {
                sockets: sockets.unwrap_or(1) as usize,
                gpus: info.host.gpus.len(),
                runs: info.merged_from.len(),
            },
            ..Self::default()
        }
    }

    /// Corrects the totals of a sample and gives its time since the start; none if the sample was there before.
    pub(super) fn correct(
        &mut self,
        row: &Row,
        meters: &mut BTreeMap<Component, Meter>,
    ) -> Result<Option<f64>, ImplausibleSample> {
        let restarts = self.restarts_with(meters);
        if !self.pass_time(row, restarts) {
            self.repeated += 1;
            return Ok(None);
        }
        let has_time = row.elapsed.is_some();
        for (component, meter) in meters {
            if !self.meters.contains_key(component) {
                check_component_count(self.meters.len())?;
                self.meters.insert(component.clone(), Followed::default());
            }
            let Some(followed) = self.meters.get_mut(component) else {
                continue;
            };
            let is_sound = |joules: &f64| joules.is_finite() && *joules >= 0.0;
            let figures = [meter.attributed_j, meter.total_j];
            if !has_time || !figures.iter().flatten().all(is_sound) {
                continue;
            }
            let most = self.devices.most_watts(component);
            let at = self.longest;
            meter.attributed_j = figures[0].map(|j| followed.attributed.advance(j, at, most));
            meter.total_j = figures[1].map(|j| followed.machine.advance(j, at, most));
            if let (Some(attributed), Some(machine)) = (meter.attributed_j, meter.total_j) {
                let is_above = attributed > machine * (1.0 + ROUNDING.0) + ROUNDING.1;
                followed.above_machine = if is_above { attributed - machine } else { 0.0 };
                if is_above {
                    meter.attributed_j = Some(machine);
                }
            }
        }
        Ok(Some(self.elapsed))
    }

    /// Whether the totals are those of another run, if the time since the start falls: they begin again as well.
    fn restarts_with(&self, meters: &BTreeMap<Component, Meter>) -> bool {
        let had_energy = self.meters.values().any(|f| f.attributed.recorded > 0.0);
        let falls = |(component, meter): (&Component, &Meter)| {
            let before = self.meters.get(component).map(|f| f.attributed.recorded);
            matches!((before, meter.attributed_j), (Some(before), Some(now)) if now < before)
        };
        !had_energy || meters.iter().any(falls)
    }

    /// Moves on to the time of a sample; whether it is a later one.
    fn pass_time(&mut self, row: &Row, restarts: bool) -> bool {
        let Some(elapsed) = row.elapsed else {
            return true;
        };
        let timestamp = row.timestamp;
        let mut now = Times { elapsed, timestamp };
        let Some(last) = self.last else {
            self.elapsed = elapsed.max(0.0);
            self.longest = self.elapsed;
            self.last = Some(now);
            return true;
        };
        let by_clock = timestamp - last.timestamp;
        let recorded = elapsed - last.elapsed;
        let step = if recorded >= 0.0 {
            let differ = (recorded - by_clock).abs();
            if differ > CLOCK_TOLERANCE.max(0.1 * recorded) {
                self.disagreement += differ;
            }
            if by_clock >= 0.0 && recorded > 2.0 * by_clock + LONGEST_SETTING {
                self.before_jump.get_or_insert(last.elapsed);
                by_clock
            } else {
                recorded
            }
        } else if self.before_jump.is_some_and(|before| elapsed >= before) {
            self.before_jump = None;
            by_clock.max(0.0)
        } else if by_clock > 0.0 && !restarts {
            // Only the time of this sample is wrong.
            self.disagreement += by_clock - recorded;
            now.elapsed = last.elapsed + by_clock;
            by_clock
        } else if by_clock > 0.0 {
            self.restarts += 1;
            for followed in self.meters.values_mut() {
                followed.attributed.restart(self.longest);
                followed.machine.restart(self.longest);
            }
            elapsed.max(0.0)
        } else {
            return false;
        };
        self.elapsed += step;
        self.longest += step.max(by_clock);
        self.is_corrected |= step != recorded;
        if !self.is_corrected {
            // Without a sum of steps there is no rounding.
            self.elapsed = elapsed.max(0.0);
        }
        self.last = Some(now);
        true
    }

    /// Joules that are not counted, by component.
    pub(super) fn left_out(&self) -> impl Iterator<Item = (&Component, f64)> {
        self.meters.iter().filter_map(|(component, followed)| {
            let total = &followed.attributed;
            let fallen = total.fallen.map_or(0.0, |(first, highest)| highest - first);
            let joules = total.jumps + fallen + followed.above_machine;
            (joules > 0.0).then_some((component, joules))
        })
    }

    /// What was found, for people.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.restarts > 0 {
            notes.push(format!(
                "the log starts again {}; the runs in it are added up",
                counted(self.restarts, "time")
            ));
        }
        if self.repeated > 0 {
            let samples = counted(self.repeated, "sample");
            notes.push(format!(
                "{samples} of the log are there twice and count once"
            ));
        }
        if self.disagreement > 0.0 {
            notes.push(format!(
                "the time since the start and the clock of the samples disagree by {}",
                Quantity::Time.amount(self.disagreement / SECONDS_PER_HOUR)
            ));
        }
        for (component, joules) in self.left_out() {
            let energy = Quantity::Joules.amount(joules);
            notes.push(format!(
                "{energy} of {component} cannot have been drawn and are not counted"
            ));
        }
        for (component, followed) in &self.meters {
            if followed.attributed.spikes > 0 {
                notes.push(format!(
                    "the total of {component} jumped and came back; the jump is not counted"
                ));
            }
        }
        notes
    }
}

impl Devices {
    fn most_watts(self, component: &Component) -> f64 {
        let devices = match component {
            Component::Cpu | Component::Psys => self.sockets,
            Component::AllGpus => self.gpus,
            _ => 1,
        };
        MOST_DEVICE_WATTS * (devices.max(1) * self.runs.max(1)) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_total_that_jumps_and_comes_back_counts_as_if_it_had_not() {
        let mut total = Total::default();
        let counted: Vec<f64> = [
            (0.0, 0.0),
            (50.0, 1.0),
            (1e9, 2.0),
            (1e9 + 60.0, 3.0),
            (200.0, 4.0),
        ]
        .into_iter()
        .map(|(joules, at)| total.advance(joules, at, MOST_DEVICE_WATTS))
        .collect();
        assert_eq!(counted, [0.0, 50.0, 50.0, 110.0, 200.0]);
        assert_eq!((total.taken_off, total.spikes), (0.0, 1));
    }

    /// The duration and the energy of a log of a sample a second, each with its time and its joules.
    fn followed(samples: &[(f64, f64)]) -> (f64, f64) {
        let mut totals = PlausibleTotals::default();
        let mut last = (0.0, 0.0);
        for (second, (elapsed, joules)) in samples.iter().enumerate() {
            let row = Row {
                timestamp: 1e9 + second as f64,
                elapsed: Some(*elapsed),
                ..Row::default()
            };
            let meter = Meter {
                total_j: None,
                attributed_j: Some(*joules),
                method: crate::model::Method::Measured,
            };
            let mut meters = BTreeMap::from([(Component::Cpu, meter)]);
            let elapsed = totals.correct(&row, &mut meters).unwrap().unwrap();
            last = (elapsed, meters[&Component::Cpu].attributed_j.unwrap());
        }
        last
    }

    #[test]
    fn a_log_starts_again_only_where_its_totals_do() {
        let sound = [(0.0, 0.0), (1.0, 10.0), (2.0, 20.0), (3.0, 30.0)];
        assert_eq!(followed(&sound), (3.0, 30.0));
        let one_time_is_wrong = [(0.0, 0.0), (1.0, 10.0), (-5.0, 20.0), (3.0, 30.0)];
        assert_eq!(followed(&one_time_is_wrong), (3.0, 30.0));
        let two_runs = [(0.0, 0.0), (1.0, 10.0), (0.0, 0.0), (1.0, 10.0)];
        assert_eq!(followed(&two_runs), (2.0, 20.0));
    }

    #[test]
    fn a_total_that_stays_up_after_a_jump_counts_without_the_jump() {
        let mut total = Total::default();
        for (joules, at) in [(50.0, 1.0), (50.0 + 1e7, 2.0), (80.0 + 1e7, 3.0)] {
            total.advance(joules, at, MOST_DEVICE_WATTS);
        }
        assert_eq!(total.recorded - total.taken_off, 80.0);
        assert_eq!(total.taken_off, 1e7);
    }
}
