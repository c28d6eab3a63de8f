use std::collections::BTreeMap;

use crate::model::{Edge, Mark};
use crate::text::number::counted;

/// Further names are left out, and a note says so: some script puts a counter into the name.
const MOST_NAMES: usize = 1000;

/// The phases of one run, from the marks in its log.
///
/// A phase goes from its start mark to its end mark; a mark without an edge opens a phase that ends
/// with the next such mark. A phase that is still open at the end of the log ends there.
#[derive(Debug, Default)]
pub(super) struct Phases {
    open: BTreeMap<String, Reading>,
    section: Option<(String, Reading)>,
    repetitions: BTreeMap<String, Repetitions>,
    too_many: bool,
    /// Ends of phases that were not open, and starts of phases that were.
    unmatched: usize,
}

/// Energy and time of the run so far.
#[derive(Debug, Clone, Copy)]
struct Reading {
    joules: f64,
    seconds: f64,
}

/// How often a phase was gone through, and what it took each time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Repetitions {
    /// How often.
    pub count: u64,
    /// Mean energy, in J.
    pub mean_j: f64,
    /// Mean time, in s.
    pub mean_s: f64,
    /// Sum of squared distances from the mean.
    spread: f64,
}

impl Repetitions {
    fn add(&mut self, joules: f64, seconds: f64) {
        self.count += 1;
        let count = self.count as f64;
        let before = joules - self.mean_j;
        self.mean_j += before / count;
        self.mean_s += (seconds - self.mean_s) / count;
        self.spread += before * (joules - self.mean_j);
    }

    /// Energy of all repetitions, in J.
    #[must_use]
    pub fn total_j(&self) -> f64 {
        self.mean_j * self.count as f64
    }

    /// Standard error of the mean energy; none for a single repetition.
    #[must_use]
    pub fn standard_error_j(&self) -> Option<f64> {
        let count = self.count as f64;
        (self.count > 1).then(|| (self.spread / (count - 1.0) / count).sqrt())
    }
}

impl Phases {
    pub(super) fn mark(&mut self, mark: Mark, joules: f64, seconds: f64) {
        let now = Reading { joules, seconds };
        match mark.edge {
            Edge::Start => {
                if self.open.len() < MOST_NAMES {
                    let is_open = self.open.insert(mark.name, now).is_some();
                    self.unmatched += usize::from(is_open);
                } else {
                    self.too_many = true;
                }
            }
            Edge::End => match self.open.remove(&mark.name) {
                Some(began) => self.close(mark.name, began, now),
                None => self.unmatched += 1,
            },
            Edge::Point => {
                if let Some((name, began)) = self.section.replace((mark.name, now)) {
                    self.close(name, began, now);
                }
            }
        }
    }

    fn close(&mut self, name: String, began: Reading, ended: Reading) {
        if self.repetitions.len() >= MOST_NAMES && !self.repetitions.contains_key(&name) {
            self.too_many = true;
            return;
        }
        self.repetitions
            .entry(name)
            .or_default()
            .add(ended.joules - began.joules, ended.seconds - began.seconds);
    }

    /// What of the marks is no part of any phase.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.too_many {
            notes.push("too many different phases were marked; some are left out".to_owned());
        }
        if self.unmatched > 0 {
            notes.push(format!(
                "{} without a match, as a phase that ends without having begun or begins twice; \
                 no energy is given for that",
                counted(self.unmatched, "mark")
            ));
        }
        notes
    }

    /// The phases by name, once the log ends with this much energy and time.
    pub(super) fn finish(&mut self, joules: f64, seconds: f64) -> BTreeMap<String, Repetitions> {
        let now = Reading { joules, seconds };
        let left = std::mem::take(&mut self.open)
            .into_iter()
            .chain(self.section.take());
        for (name, began) in left {
            self.close(name, began, now);
        }
        std::mem::take(&mut self.repetitions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(name: &str, edge: Edge) -> Mark {
        Mark {
            name: name.to_owned(),
            edge,
        }
    }

    #[test]
    fn repetitions_have_a_mean_and_a_standard_error() {
        let mut phases = Phases::default();
        for (edge, joules, seconds) in [
            (Edge::Start, 0.0, 0.0),
            (Edge::End, 10.0, 1.0),
            (Edge::Start, 11.0, 2.0),
            (Edge::End, 31.0, 5.0),
        ] {
            phases.mark(mark("train", edge), joules, seconds);
        }
        let train = phases.finish(40.0, 6.0)["train"];
        assert_eq!((train.count, train.mean_j, train.mean_s), (2, 15.0, 2.0));
        assert_eq!(train.standard_error_j(), Some(5.0));
        assert_eq!(train.total_j(), 30.0);
    }

    #[test]
    fn marks_that_match_nothing_are_told() {
        let mut phases = Phases::default();
        phases.mark(mark("train", Edge::End), 1.0, 1.0);
        phases.mark(mark("train", Edge::Start), 2.0, 2.0);
        assert!(phases.notes()[0].starts_with("1 mark without"));
        phases.mark(mark("train", Edge::Start), 3.0, 3.0);
        phases.mark(mark("train", Edge::End), 5.0, 4.0);
        assert!(phases.notes()[0].starts_with("2 marks without"));
        assert_eq!(phases.finish(9.0, 9.0)["train"].mean_j, 2.0);
    }

    #[test]
    fn a_plain_mark_lasts_until_the_next_and_the_last_until_the_end() {
        let mut phases = Phases::default();
        phases.mark(mark("epoch 1", Edge::Point), 5.0, 1.0);
        phases.mark(mark("epoch 2", Edge::Point), 7.0, 2.0);
        let found = phases.finish(10.0, 4.0);
        assert_eq!(
            (found["epoch 1"].mean_j, found["epoch 2"].mean_j),
            (2.0, 3.0)
        );
        assert_eq!(found["epoch 1"].standard_error_j(), None);
    }
}
