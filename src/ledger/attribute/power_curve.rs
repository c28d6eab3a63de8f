use std::collections::BTreeMap;

use super::portion::Rise;
use crate::ledger::RunSummary;
use crate::ledger::summarise::Progress;
use crate::model::{Component, EnergyClass, Info, Method};
use crate::units::{Energy, OutOfRange};

/// So many readings are kept, of all components together; a longer log is thinned out.
const MOST_READINGS: usize = 1 << 21;
/// Longer times are no times of a run.
const LONGEST_S: f64 = 1e9;

/// The energy of each counted component of a run over time.
#[derive(Debug)]
pub(in crate::ledger) struct PowerCurve {
    /// In ns since the start of the run, ascending; the first is 0.
    pub(super) times: Vec<i64>,
    pub(super) parts: Vec<CurvePart>,
    /// The clock at the start of the run, in ns since 1970.
    pub(super) started: Option<i64>,
}

/// One counted component.
#[derive(Debug)]
pub(super) struct CurvePart {
    pub(super) component: Component,
    pub(super) class: EnergyClass,
    pub(super) method: Method,
    /// Energy since the start of the run at each of the times.
    pub(super) energy: Vec<Energy>,
}

/// Collects the readings of a log.
#[derive(Debug, Default)]
pub(super) struct CurveBuilder {
    seconds: Vec<f64>,
    kwh: BTreeMap<Component, Vec<f64>>,
    started: Option<f64>,
    /// After a kept sample so many are passed over.
    passed_over: u64,
    since_kept: u64,
}

impl CurveBuilder {
    pub(super) fn add(&mut self, progress: Progress, timestamp: Option<f64>) {
        let seconds = progress.seconds();
        if self.started.is_none() {
            self.started = timestamp.map(|timestamp| timestamp - seconds);
        }
        // The latest sample stays until the next, for its totals.
        if self.since_kept > 0 {
            self.pop();
        }
        self.since_kept = if self.since_kept == self.passed_over {
            0
        } else {
            self.since_kept + 1
        };
        let rows = self.seconds.len();
        progress.kwh(|component, kwh| {
            if !self.kwh.contains_key(component) {
                self.kwh.insert(component.clone(), Vec::new());
            }
            if let Some(column) = self.kwh.get_mut(component) {
                column.resize(rows, 0.0);
                column.push(kwh);
            }
        });
        self.seconds.push(seconds);
        if self.seconds.len() * self.kwh.len() > MOST_READINGS && self.seconds.len() > 2 {
            self.thin_out();
        }
    }

    fn pop(&mut self) {
        self.seconds.pop();
        for column in self.kwh.values_mut() {
            column.truncate(self.seconds.len());
        }
    }

    /// Keeps every second reading, and the last.
    fn thin_out(&mut self) {
        let rows = self.seconds.len();
        let halve = |column: &mut Vec<f64>| {
            let mut place = 0;
            column.retain(|_| {
                place += 1;
                place % 2 == 1 || place == rows
            });
        };
        halve(&mut self.seconds);
        self.kwh.values_mut().for_each(halve);
        self.passed_over = self.passed_over * 2 + 1;
        self.since_kept = 0;
    }

    /// The curve of what is counted.
    pub(super) fn finish(self, summary: &RunSummary) -> Result<PowerCurve, OutOfRange> {
        let mut parts = Vec::new();
        // Time stands still between samples that were taken at once; the later one has all their energy.
        let mut kept: Vec<usize> = Vec::new();
        let mut times: Vec<i64> = Vec::new();
        for (place, seconds) in self.seconds.iter().enumerate() {
            let time = nanoseconds(*seconds).max(times.last().copied().unwrap_or(0));
            if times.last() == Some(&time) {
                kept.pop();
            } else {
                times.push(time);
            }
            kept.push(place);
        }
        let begins_late = times.first() != Some(&0);
        if begins_late {
            times.insert(0, 0);
        }
        for (class, component, part) in summary.counted() {
            let column = self.kwh.get(component).map_or(&[][..], Vec::as_slice);
            let mut energy = Vec::with_capacity(times.len());
            energy.extend(begins_late.then_some(Energy::ZERO));
            let mut last = Energy::ZERO;
            for place in &kept {
                let kwh = column.get(*place).copied();
                last = last.max(kwh.map_or(Ok(last), Energy::from_kwh)?);
                energy.push(last);
            }
            // What the report of the run says is what is attributed.
            if let Some(end) = energy.last_mut() {
                *end = part.attributed;
            }
            for energy in &mut energy {
                *energy = (*energy).min(part.attributed);
            }
            parts.push(CurvePart {
                component: component.clone(),
                class,
                method: part.method.clone(),
                energy,
            });
        }
        let started = summary.started.and_then(|time| time.timestamp_nanos_opt());
        Ok(PowerCurve {
            times,
            parts,
            started: self
                .started
                .map(|seconds| (seconds * 1e9) as i64)
                .or(started),
        })
    }
}

/// Of a time since the start of a run.
pub(super) fn nanoseconds(seconds: f64) -> i64 {
    (seconds.clamp(0.0, LONGEST_S) * 1e9).round() as i64
}

impl PowerCurve {
    /// The end of the run, in ns since its start.
    pub(super) fn end(&self) -> i64 {
        self.times.last().copied().unwrap_or(0)
    }

    /// All the energy of a part.
    pub(super) fn total(&self, part: usize) -> Energy {
        self.parts[part].energy.last().copied().unwrap_or_default()
    }

    /// The GPUs of the run, in the order in which the log lists them.
    pub(super) fn gpus(&self, info: &Info) -> Vec<usize> {
        let rank = |place: &usize| {
            let Component::Gpu(uuid) = &self.parts[*place].component else {
                return 0;
            };
            let cards = info.host.gpus.iter();
            cards
                .into_iter()
                .position(|card| card.uuid.as_ref() == Some(uuid))
                .unwrap_or(usize::MAX)
        };
        let mut gpus: Vec<usize> = (0..self.parts.len())
            .filter(|place| self.parts[*place].class == EnergyClass::Gpu)
            .collect();
        gpus.sort_by_key(rank);
        gpus
    }

    /// The energy of some of the parts together.
    pub(super) fn sum(&self, parts: &[usize]) -> Vec<u128> {
        let at = |reading: usize| {
            parts
                .iter()
                .map(|part| self.parts[*part].energy[reading].steps())
                .sum()
        };
        (0..self.times.len()).map(at).collect()
    }
}

/// Reads energies off a curve at times that do not fall.
#[derive(Debug)]
pub(super) struct CurveCursor<'a> {
    times: &'a [i64],
    energy: Vec<u128>,
    /// The reading at or before the latest time.
    place: usize,
    /// What is drawn from that reading to the next.
    rise: Rise,
}

impl<'a> CurveCursor<'a> {
    pub(super) fn new(times: &'a [i64], energy: Vec<u128>) -> Self {
        let mut cursor = Self {
            times,
            energy,
            place: 0,
            rise: Rise::default(),
        };
        cursor.rise = cursor.next_rise();
        cursor
    }

    /// The energy from the start of the run up to a time, interpolated between readings.
    pub(super) fn at(&mut self, time: i64) -> u128 {
        let place = self.place;
        while self
            .times
            .get(self.place + 1)
            .is_some_and(|next| *next <= time)
        {
            self.place += 1;
        }
        if self.place != place {
            self.rise = self.next_rise();
        }
        let since = time
            .saturating_sub(self.times[self.place])
            .max(0)
            .unsigned_abs();
        self.energy[self.place] + self.rise.portion(since)
    }

    fn next_rise(&self) -> Rise {
        let (from, until) = (self.times.get(self.place), self.times.get(self.place + 1));
        from.zip(until).map_or_else(Rise::default, |(from, until)| {
            let energy = self.energy[self.place + 1] - self.energy[self.place];
            Rise::of(energy, until.abs_diff(*from))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn energy_between_readings_is_interpolated_and_none_is_drawn_outside_of_the_run() {
        let times = [0, 10, 20];
        let mut cursor = CurveCursor::new(&times, vec![0, 100, 400]);
        let read: Vec<u128> = [-5, 0, 5, 10, 11, 20, 99]
            .map(|time| cursor.at(time))
            .into();
        assert_eq!(read, [0, 0, 50, 100, 130, 400, 400]);
    }
}
