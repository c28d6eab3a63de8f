use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Counts, Occurrence, Phase, Reading, RecentReadings};
use crate::model::{Edge, Mark};
use crate::text::number::counted;

/// Further names are left out, and a note says so: some script puts a counter into the name.
const MOST_NAMES: usize = 1000;
/// More phases do not go on at the same time.
const MOST_OPEN: usize = 512;
/// More units are not counted.
const MOST_UNITS: usize = 100;
/// A note names so many phases.
const MOST_NAMED: usize = 3;

/// The phases of one run, from the marks in its log.
#[derive(Debug, Default)]
pub(in crate::ledger) struct Phases {
    /// Those that go on, in the order in which they began.
    open: Vec<Open>,
    /// The phase of a mark without an edge that is in no other phase.
    section: Option<Begun>,
    ended: BTreeMap<Arc<str>, Phase>,
    units: BTreeMap<Arc<str>, usize>,
    /// Work so far, by the number of the unit.
    counted: Vec<f64>,
    occurrences: Vec<Occurrence>,
    most_occurrences: usize,
    begun: u64,
    flaws: Flaws,
}

/// A phase that goes on.
#[derive(Debug)]
struct Open {
    span: Option<u64>,
    begun: Begun,
    section: Option<Begun>,
}

#[derive(Debug)]
struct Begun {
    name: Arc<str>,
    at: Reading,
    is_interpolated: bool,
    counted: Vec<f64>,
    order: u64,
}

/// What of the marks matches nothing.
#[derive(Debug, Default)]
struct Flaws {
    ended_without_start: Names,
    begun_twice: Names,
    without_end: Names,
    unreadable: u64,
    has_too_many_phases: bool,
    has_too_many_units: bool,
}

/// How often, and some of the phases.
#[derive(Debug, Default)]
struct Names {
    times: u64,
    names: BTreeSet<String>,
}

impl Names {
    fn add(&mut self, name: &str) {
        self.times += 1;
        if self.names.len() <= MOST_NAMED {
            self.names.insert(name.to_owned());
        }
    }

    /// `2 ends without a start (a, b): fault`.
    fn note(&self, noun: &str, what: &str, fault: &str) -> Option<String> {
        let mut names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        if names.len() > MOST_NAMED {
            names.truncate(MOST_NAMED);
            names.push("...");
        }
        let (times, names) = (counted(self.times, noun), names.join(", "));
        (self.times > 0).then(|| format!("{times} {what} ({names}): {fault}"))
    }
}

impl Phases {
    /// Also keeps so many occurrences by themselves.
    pub(in crate::ledger) fn keeping(most_occurrences: usize) -> Self {
        Self {
            most_occurrences,
            ..Self::default()
        }
    }

    /// Takes the marks of a sample, whose own reading is the last one.
    pub(in crate::ledger) fn see(
        &mut self,
        mark: Option<&[u8]>,
        marks: Option<&[u8]>,
        recent: &RecentReadings,
        first_intensity: Option<f64>,
    ) {
        let is_there = |text: &&[u8]| *text != b"null";
        let mark = mark.filter(is_there);
        if let Some(mark) = mark.map(serde_json::from_slice::<Mark>) {
            self.see_parsed(mark.ok(), recent, first_intensity);
        }
        let several = marks.filter(is_there);
        match several.map(serde_json::from_slice::<Vec<Mark>>) {
            Some(Ok(marks)) => {
                for mark in marks {
                    self.see_parsed(Some(mark), recent, first_intensity);
                }
            }
            Some(Err(_)) => self.flaws.unreadable += 1,
            None => {}
        }
    }

    fn see_parsed(
        &mut self,
        mark: Option<Mark>,
        recent: &RecentReadings,
        first_intensity: Option<f64>,
    ) {
        match mark.filter(|mark| mark.check().is_ok()) {
            Some(mark) => {
                let at = Instant::of(recent, mark.elapsed, first_intensity);
                self.mark(&mark, &at);
            }
            None => self.flaws.unreadable += 1,
        }
    }

    fn mark(&mut self, mark: &Mark, at: &Instant) {
        match mark.edge {
            Edge::Start => {
                if let Some(open) = self.take(mark) {
                    self.flaws.begun_twice.add(&mark.name);
                    self.close_with_section(open, at);
                }
                let begun = self.begin(mark, at);
                if self.open.len() < MOST_OPEN {
                    self.open.push(Open {
                        span: mark.span,
                        begun,
                        section: None,
                    });
                } else {
                    self.flaws.has_too_many_phases = true;
                }
                self.count(&mark.count);
            }
            Edge::End => {
                self.count(&mark.count);
                match self.take(mark) {
                    Some(open) => self.close_with_section(open, at),
                    None => self.flaws.ended_without_start.add(&mark.name),
                }
            }
            Edge::Point => {
                let begun = self.begin(mark, at);
                let place = match self.open.last_mut() {
                    Some(open) => &mut open.section,
                    None => &mut self.section,
                };
                if let Some(before) = place.replace(begun) {
                    self.close(before, at);
                }
                self.count(&mark.count);
            }
            Edge::Count => self.count(&mark.count),
        }
    }

    fn begin(&mut self, mark: &Mark, at: &Instant) -> Begun {
        self.begun += 1;
        let known = self.ended.get_key_value(mark.name.as_str());
        Begun {
            name: known.map_or_else(|| mark.name.as_str().into(), |(name, _)| Arc::clone(name)),
            at: at.reading,
            is_interpolated: at.is_interpolated,
            counted: self.counted.clone(),
            order: self.begun,
        }
    }

    /// Takes out the open phase that a mark names.
    fn take(&mut self, mark: &Mark) -> Option<Open> {
        let is_named = |open: &Open| open.span == mark.span && *open.begun.name == *mark.name;
        let place = self.open.iter().rposition(is_named)?;
        Some(self.open.remove(place))
    }

    fn count(&mut self, counts: &BTreeMap<String, f64>) {
        for (unit, count) in counts {
            let place = match self.units.get(unit.as_str()) {
                Some(place) => *place,
                None if self.units.len() < MOST_UNITS => {
                    self.counted.push(0.0);
                    let place = self.units.len();
                    self.units.insert(unit.as_str().into(), place);
                    place
                }
                None => {
                    self.flaws.has_too_many_units = true;
                    continue;
                }
            };
            self.counted[place] += count;
        }
    }

    fn close_with_section(&mut self, open: Open, at: &Instant) {
        if let Some(section) = open.section {
            self.close(section, at);
        }
        self.close(open.begun, at);
    }

    fn close(&mut self, begun: Begun, at: &Instant) {
        if self.ended.len() >= MOST_NAMES && !self.ended.contains_key(&begun.name) {
            self.flaws.has_too_many_phases = true;
            return;
        }
        let occurrence = Occurrence {
            from_s: begun.at.seconds,
            to_s: at.reading.seconds.max(begun.at.seconds),
            taken: at.reading.since(&begun.at, at.first_intensity),
            counts: self.counts_since(&begun.counted),
            interpolated: begun.is_interpolated || at.is_interpolated,
            order: begun.order,
            name: begun.name,
        };
        self.ended
            .entry(Arc::clone(&occurrence.name))
            .or_insert_with(|| Phase::first(Arc::clone(&occurrence.name)))
            .add(&occurrence);
        if self.occurrences.len() < self.most_occurrences {
            self.occurrences.push(occurrence);
        }
    }

    /// Work since the running counts were these.
    fn counts_since(&self, before: &[f64]) -> Counts {
        let units = self.units.iter();
        units
            .filter_map(|(unit, place)| {
                let since = self.counted[*place] - before.get(*place).unwrap_or(&0.0);
                (since > 0.0).then(|| (Arc::clone(unit), since))
            })
            .collect()
    }

    /// Work counted in the whole run.
    pub(in crate::ledger) fn counts(&self) -> Counts {
        self.counts_since(&[])
    }

    /// Ends what still goes on at the end of the log; gives the phases and their occurrences in order of time.
    pub(in crate::ledger) fn finish(
        &mut self,
        recent: &RecentReadings,
        first_intensity: Option<f64>,
    ) -> (Vec<Phase>, Vec<Occurrence>) {
        let at = Instant::of(recent, None, first_intensity);
        for open in std::mem::take(&mut self.open) {
            self.flaws.without_end.add(&open.begun.name);
            self.close_with_section(open, &at);
        }
        if let Some(section) = self.section.take() {
            self.close(section, &at);
        }
        let mut phases: Vec<Phase> = std::mem::take(&mut self.ended).into_values().collect();
        phases.sort_by_key(|phase| phase.order);
        let mut occurrences = std::mem::take(&mut self.occurrences);
        occurrences.sort_by_key(|occurrence| occurrence.order);
        (phases, occurrences)
    }

    /// What of the marks is no part of any phase.
    pub(in crate::ledger) fn notes(&self) -> Vec<String> {
        let flaws = &self.flaws;
        let mut notes: Vec<String> = [
            flaws.ended_without_start.note(
                "end",
                "of a phase that had not begun",
                "no energy is given for that",
            ),
            flaws.begun_twice.note(
                "start",
                "of a phase that had not ended",
                "it ends there and begins again",
            ),
            flaws
                .without_end
                .note("phase", "without an end", "counted to the end of the run"),
        ]
        .into_iter()
        .flatten()
        .collect();
        if flaws.has_too_many_phases {
            notes.push("too many different phases were marked; some are left out".to_owned());
        }
        if flaws.has_too_many_units {
            notes.push(format!(
                "work was counted in more than {MOST_UNITS} units; the others are left out"
            ));
        }
        if flaws.unreadable > 0 {
            let marks = counted(flaws.unreadable, "mark");
            notes.push(format!("{marks} could not be read"));
        }
        notes
    }
}

/// The instant of a mark.
struct Instant {
    reading: Reading,
    is_interpolated: bool,
    /// In g/kWh.
    first_intensity: Option<f64>,
}

impl Instant {
    fn of(recent: &RecentReadings, recorded_s: Option<f64>, first_intensity: Option<f64>) -> Self {
        let (reading, is_interpolated) = recent.at(recorded_s);
        Self {
            reading,
            is_interpolated,
            first_intensity,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Edge::{Count, End, Point, Start};

    fn at(reading: Reading) -> Instant {
        Instant {
            reading,
            is_interpolated: false,
            first_intensity: None,
        }
    }

    /// The phases after marks at these seconds, in a run of 1 W and 100 s.
    fn phases(marks: &[(f64, &str, Edge, f64)]) -> (Vec<String>, Vec<String>) {
        let mut phases = Phases::keeping(10);
        let reading = |seconds: f64| Reading {
            recorded_s: seconds,
            seconds,
            joules: [Some(seconds), None, None],
            ..Reading::default()
        };
        for (seconds, name, edge, tokens) in marks {
            let mut mark = Mark::new(*name, *edge);
            if *tokens > 0.0 {
                mark.count.insert("tokens".to_owned(), *tokens);
            }
            phases.mark(&mark, &at(reading(*seconds)));
        }
        let mut recent = RecentReadings::default();
        recent.push(reading(100.0));
        let (_, occurrences) = phases.finish(&recent, None);
        let shown = occurrences.iter().map(|occurrence| {
            let Occurrence {
                name, from_s, to_s, ..
            } = occurrence;
            let tokens = occurrence.counts.values().fold(0.0, |a, b| a + b);
            assert_eq!(occurrence.taken.joules(), to_s - from_s);
            format!("{name} {from_s}-{to_s} {tokens}")
        });
        (shown.collect(), phases.notes())
    }

    #[test]
    fn a_section_ends_with_the_next_the_phase_around_it_or_the_run() {
        let (found, notes) = phases(&[
            (1.0, "load", Point, 0.0),
            (10.0, "train", Start, 0.0),
            (11.0, "epoch 1", Point, 0.0),
            (12.0, "epoch 2", Point, 0.0),
            (20.0, "train", End, 0.0),
            (30.0, "test", Point, 0.0),
        ]);
        assert_eq!(
            found,
            [
                "load 1-30 0",
                "train 10-20 0",
                "epoch 1 11-12 0",
                "epoch 2 12-20 0",
                "test 30-100 0"
            ]
        );
        assert!(notes.is_empty(), "{notes:?}");
    }

    #[test]
    fn what_is_not_balanced_is_counted_by_the_rule_and_noted() {
        let (found, notes) = phases(&[
            (1.0, "a", End, 0.0),
            (2.0, "a", Start, 0.0),
            (5.0, "a", Start, 0.0),
            (7.0, "a", End, 0.0),
            (8.0, "b", Start, 0.0),
        ]);
        assert_eq!(found, ["a 2-5 0", "a 5-7 0", "b 8-100 0"]);
        assert!(notes[0].starts_with("1 end of a phase"), "{notes:?}");
        assert!(notes[1].starts_with("1 start of a phase"));
        assert_eq!(
            notes[2],
            "1 phase without an end (b): counted to the end of the run"
        );
    }

    #[test]
    fn counts_go_to_every_phase_that_goes_on() {
        let (found, notes) = phases(&[
            (1.0, "train", Start, 0.0),
            (2.0, "step", Start, 1.0),
            (3.0, "step", End, 2.0),
            (4.0, "", Count, 4.0),
            (5.0, "step", Start, 8.0),
            (6.0, "train", End, 16.0),
            (7.0, "step", End, 32.0),
            (8.0, "", Count, 64.0),
        ]);
        assert_eq!(found, ["train 1-6 31", "step 2-3 3", "step 5-7 56"]);
        assert!(notes.is_empty(), "{notes:?}");
    }

    #[test]
    fn spans_keep_occurrences_of_a_name_apart() {
        let mut phases = Phases::keeping(9);
        let mut mark = |seconds: f64, edge, span| {
            let mark = Mark {
                span: Some(span),
                ..Mark::new("load", edge)
            };
            let reading = Reading {
                seconds,
                ..Reading::default()
            };
            phases.mark(&mark, &at(reading));
        };
        mark(1.0, Start, 1);
        mark(2.0, Start, 2);
        mark(3.0, End, 1);
        mark(5.0, End, 2);
        let (found, occurrences) = phases.finish(&RecentReadings::default(), None);
        assert!(phases.notes().is_empty());
        assert_eq!((found[0].occurrences, found[0].total.seconds), (2, 5.0));
        assert_eq!((occurrences[0].to_s, occurrences[1].to_s), (3.0, 5.0));
    }

    #[test]
    fn names_units_and_open_phases_without_end_take_bounded_memory() {
        let mut phases = Phases::default();
        let at = at(Reading::default());
        for n in 0..5000 {
            let mut mark = Mark::new(format!("a {n}"), Point);
            mark.count.insert(format!("unit {n}"), 1.0);
            phases.mark(&mark, &at);
            phases.mark(&Mark::new(format!("b {n}"), Start), &at);
        }
        assert_eq!(phases.units.len(), MOST_UNITS);
        assert_eq!(phases.open.len(), MOST_OPEN);
        let (found, _) = phases.finish(&RecentReadings::default(), None);
        assert!(found.len() <= MOST_NAMES);
        let notes = phases.notes().join("\n");
        assert!(notes.contains("too many different phases"), "{notes}");
        assert!(notes.contains("more than 100 units"), "{notes}");
        assert!(notes.contains("b 0, b 1, b 2, ..."), "{notes}");
    }
}
