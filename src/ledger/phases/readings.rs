use std::collections::VecDeque;

use super::Taken;

/// A mark this close to a sample has its energies: counters are updated about this often.
const NEAR_S: f64 = 1e-3;
/// Marks arrive at most a few samples late.
const KEPT: usize = 64;

/// Time, energy and CO2eq of the run up to an instant.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(in crate::ledger) struct Reading {
    /// Seconds since the start, as the log says.
    pub(in crate::ledger) recorded_s: f64,
    /// The same after corrections.
    pub(in crate::ledger) seconds: f64,
    /// In J by class.
    pub(in crate::ledger) joules: [Option<f64>; 3],
    /// kWh from before the first recorded intensity.
    pub(in crate::ledger) waiting_kwh: f64,
    /// CO2eq in g since the first recorded intensity.
    pub(in crate::ledger) grams: f64,
}

impl Reading {
    /// What was taken since another reading; `first` is the first recorded intensity in g/kWh.
    pub(super) fn since(&self, began: &Self, first: Option<f64>) -> Taken {
        let mut taken = Taken {
            seconds: (self.seconds - began.seconds).max(0.0),
            grams: first.map(|first| {
                let early = (self.waiting_kwh - began.waiting_kwh) * first;
                (self.grams - began.grams + early).max(0.0)
            }),
            ..Taken::default()
        };
        for (place, now) in self.joules.into_iter().enumerate() {
            taken.joules[place] =
                now.map(|now| (now - began.joules[place].unwrap_or(0.0)).max(0.0));
        }
        taken
    }

    /// The reading at this part of the way to a later one.
    fn towards(&self, later: &Self, part: f64) -> Self {
        let between = |a: f64, b: f64| a + part * (b - a);
        let mut reading = *later;
        reading.recorded_s = between(self.recorded_s, later.recorded_s);
        reading.seconds = between(self.seconds, later.seconds);
        reading.waiting_kwh = between(self.waiting_kwh, later.waiting_kwh);
        reading.grams = between(self.grams, later.grams);
        for (place, joules) in reading.joules.iter_mut().enumerate() {
            *joules = joules.map(|joules| between(self.joules[place].unwrap_or(0.0), joules));
        }
        reading
    }
}

/// The readings of the last samples.
#[derive(Debug, Default)]
pub(in crate::ledger) struct RecentReadings {
    last: VecDeque<Reading>,
}

impl RecentReadings {
    pub(in crate::ledger) fn push(&mut self, reading: Reading) {
        let starts_again = self
            .last
            .back()
            .is_some_and(|last| reading.recorded_s < last.recorded_s);
        if starts_again {
            self.last.clear();
        } else if self.last.len() == KEPT {
            self.last.pop_front();
        }
        self.last.push_back(reading);
    }

    /// The reading at a time of the log, and whether it is interpolated. Without a time, that of the last sample.
    pub(super) fn at(&self, recorded_s: Option<f64>) -> (Reading, bool) {
        let newest = self.last.back().copied().unwrap_or_default();
        let Some(time) = recorded_s.filter(|time| *time < newest.recorded_s) else {
            return (newest, false);
        };
        let later = self
            .last
            .partition_point(|reading| reading.recorded_s <= time);
        let after = self.last.get(later).copied().unwrap_or(newest);
        let before = later.checked_sub(1).and_then(|place| self.last.get(place));
        let Some(before) = before else {
            let seconds = after.seconds - (after.recorded_s - time);
            let reading = Reading {
                recorded_s: time,
                seconds: seconds.max(0.0),
                ..after
            };
            return (reading, true);
        };
        let (since, until) = (time - before.recorded_s, after.recorded_s - time);
        let between = before.towards(&after, since / (since + until));
        let nearest = if since < until { before } else { &after };
        if since.min(until) > NEAR_S {
            return (between, true);
        }
        let reading = Reading {
            recorded_s: time,
            seconds: between.seconds,
            ..*nearest
        };
        (reading, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(recorded_s: f64, joules: f64) -> Reading {
        Reading {
            recorded_s,
            seconds: recorded_s,
            joules: [Some(joules), None, None],
            ..Reading::default()
        }
    }

    #[test]
    fn a_mark_has_the_energies_of_a_sample_close_to_it_and_else_those_between_two() {
        let mut recent = RecentReadings::default();
        for (seconds, joules) in [(0.0, 0.0), (1.0, 10.0), (2.0, 30.0)] {
            recent.push(reading(seconds, joules));
        }
        let at = |time| {
            let (reading, is_interpolated) = recent.at(time);
            (reading.seconds, reading.joules[0].unwrap(), is_interpolated)
        };
        assert_eq!(at(None), (2.0, 30.0, false));
        assert_eq!(at(Some(1.0)), (1.0, 10.0, false));
        assert_eq!(at(Some(1.5)), (1.5, 20.0, true));
        assert_eq!(at(Some(0.25)), (0.25, 2.5, true));
        assert_eq!(at(Some(1.9995)), (1.9995, 30.0, false));
        assert_eq!(at(Some(1.0005)), (1.0005, 10.0, false));
        assert_eq!(at(Some(7.0)), (2.0, 30.0, false));
    }

    #[test]
    fn a_mark_from_before_all_known_samples_has_their_first_energy_and_its_own_time() {
        let mut recent = RecentReadings::default();
        for second in 0..100 {
            recent.push(reading(f64::from(second), f64::from(second)));
        }
        let (reading, is_interpolated) = recent.at(Some(30.5));
        assert_eq!((reading.seconds, reading.joules[0]), (30.5, Some(36.0)));
        assert!(is_interpolated);
    }
}
