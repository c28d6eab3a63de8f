//! Divides the energy of a device over time among the spans that ran on it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::paths::Paths;
use super::power_curve::CurveCursor;
use super::profile::{MOST_OPEN, Name, Span};
use crate::units::moments::RunningMoments;

/// What the spans of a device got.
#[derive(Debug)]
pub(super) struct Divided {
    pub(super) paths: Paths,
    /// By path: what it had when it was innermost.
    pub(super) own: Vec<Own>,
    /// By number of the name, over all paths.
    pub(super) names: Vec<OfName>,
    /// Energy in steps while no span was open.
    pub(super) uncovered: u128,
}

/// What a path had when it was innermost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Own {
    /// In steps of [`Energy`](crate::units::Energy).
    pub(super) energy: u128,
    pub(super) nanoseconds: u64,
    pub(super) calls: u64,
}

/// What all spans of a name had.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OfName {
    pub(super) own: Own,
    /// The energies of single spans, with those within them.
    pub(super) each: RunningMoments,
}

/// A span that has begun and not ended.
#[derive(Debug)]
struct Open {
    end: i64,
    path: u32,
    name: Name,
    /// In steps, with the spans within it that have ended.
    energy: u128,
}

#[derive(Debug, Default)]
struct Thread {
    device: usize,
    open: Vec<Open>,
    /// When its innermost span got its energy last, and what each busy thread had got then.
    settled_at: i64,
    settled_level: u128,
}

/// A device at an instant. All its busy threads get the same, so that it is enough to know what one of them would have
/// got since the start of the run.
#[derive(Debug)]
struct DeviceSweep<'a> {
    curve: CurveCursor<'a>,
    drawn: u128,
    level: u128,
    busy: u128,
    /// What is left when energy is divided by the number of threads; it is divided with the next.
    left: u128,
    divided: Divided,
    bins: Option<Bins>,
}

/// What named spans get within each of some stretches of time of the same length.
#[derive(Debug, Clone)]
pub(super) struct Bins {
    /// In ns, from the start of the run.
    pub(super) width: i64,
    /// Which names are wanted: the row of a name, by its number.
    pub(super) rows: std::collections::HashMap<Name, usize>,
    /// By row and stretch: energy in steps.
    pub(super) energy: Vec<Vec<u128>>,
    /// By stretch: energy in steps while no span was open.
    pub(super) uncovered: Vec<u128>,
    /// What each busy thread had got when a stretch began.
    levels: Vec<u128>,
}

impl Bins {
    pub(super) fn new(names: &[Name], end: i64, count: usize) -> Self {
        let width = (end / count as i64 + 1).max(1);
        Self {
            width,
            rows: names
                .iter()
                .enumerate()
                .map(|(row, name)| (*name, row))
                .collect(),
            energy: vec![vec![0; count]; names.len()],
            uncovered: vec![0; count],
            levels: Vec::with_capacity(count),
        }
    }

    /// The stretch that an instant of the run is in.
    fn place(&self, time: i64) -> usize {
        let place = usize::try_from(time / self.width).unwrap_or(0);
        place.min(self.uncovered.len() - 1)
    }

    /// Divides what a span got between two instants, given the levels at both.
    fn add(&mut self, name: Name, (from, level): (i64, u128), (to, until): (i64, u128)) {
        let Some(row) = self.rows.get(&name) else {
            return;
        };
        let (first, last) = (self.place(from), self.place(to));
        let mut level = level;
        for place in first..last {
            let next = self.levels.get(place + 1).copied().unwrap_or(until);
            self.energy[*row][place] += next - level;
            level = next;
        }
        self.energy[*row][last] += until - level;
    }
}

impl<'a> DeviceSweep<'a> {
    fn new(curve: CurveCursor<'a>, most_paths: usize, bins: Option<Bins>) -> Self {
        Self {
            curve,
            drawn: 0,
            level: 0,
            busy: 0,
            left: 0,
            divided: Divided {
                paths: Paths::with_space_for(most_paths),
                own: Vec::new(),
                names: Vec::new(),
                uncovered: 0,
            },
            bins,
        }
    }

    /// Divides the energy up to an instant, which is not before the latest.
    fn advance(&mut self, time: i64) {
        while let Some(begin) = self.next_stretch().filter(|begin| *begin <= time) {
            self.divide(begin);
            if let Some(bins) = &mut self.bins {
                bins.levels.push(self.level);
            }
        }
        self.divide(time);
    }

    /// When the next stretch begins.
    fn next_stretch(&self) -> Option<i64> {
        let bins = self.bins.as_ref()?;
        let is_left = bins.levels.len() < bins.uncovered.len();
        is_left.then(|| bins.levels.len() as i64 * bins.width)
    }

    fn divide(&mut self, time: i64) {
        let drawn = self.curve.at(time);
        let energy = drawn - self.drawn + self.left;
        self.drawn = drawn;
        self.left = 0;
        match self.busy {
            0 => {
                self.divided.uncovered += energy;
                if let Some(bins) = &mut self.bins {
                    // The stretch that begins at this instant has not begun yet.
                    let place = bins.levels.len().saturating_sub(1);
                    bins.uncovered[place] += energy;
                }
            }
            1 => self.level += energy,
            busy => {
                self.level += energy / busy;
                self.left = energy % busy;
            }
        }
    }

    /// Gives the innermost span of a thread what it has got since it was given something last.
    fn settle(&mut self, thread: &mut Thread, now: i64) {
        if let Some(innermost) = thread.open.last_mut() {
            let energy = self.level - thread.settled_level;
            let nanoseconds = now.abs_diff(thread.settled_at);
            innermost.energy += energy;
            self.divided.add(innermost.path, innermost.name, |own| {
                own.energy += energy;
                own.nanoseconds = own.nanoseconds.saturating_add(nanoseconds);
            });
            if let Some(bins) = &mut self.bins {
                let from = (thread.settled_at, thread.settled_level);
                bins.add(innermost.name, from, (now, self.level));
            }
        }
        thread.settled_at = now;
        thread.settled_level = self.level;
    }
}

impl Divided {
    fn add(&mut self, path: u32, name: Name, change: impl Fn(&mut Own)) {
        change(at(&mut self.own, path));
        change(&mut at(&mut self.names, name.0).own);
    }
}

fn at<T: Clone + Default>(column: &mut Vec<T>, place: u32) -> &mut T {
    let place = place as usize;
    if column.len() <= place {
        column.resize(place + 1, T::default());
    }
    &mut column[place]
}

/// More spans are open at once than are kept.
#[derive(Debug)]
pub(super) struct TooManyOpen;

/// Takes in spans in order of their start.
#[derive(Debug)]
pub(super) struct Sweep<'a> {
    devices: Vec<DeviceSweep<'a>>,
    threads: Vec<Thread>,
    /// When the innermost span of a thread ends. Threads may be in it several times.
    ends: BinaryHeap<Reverse<(i64, u16)>>,
    open: usize,
}

impl<'a> Sweep<'a> {
    /// `threads` has the device of each thread.
    pub(super) fn new(
        curves: Vec<CurveCursor<'a>>,
        threads: impl Iterator<Item = usize>,
        most_paths: usize,
        bins: Option<&Bins>,
    ) -> Self {
        let most_paths = most_paths / curves.len().max(1);
        let device = |curve| DeviceSweep::new(curve, most_paths, bins.cloned());
        let thread = |device| Thread {
            device,
            ..Thread::default()
        };
        Self {
            devices: curves.into_iter().map(device).collect(),
            threads: threads.map(thread).collect(),
            ends: BinaryHeap::new(),
            open: 0,
        }
    }

    /// Takes in a span with times in ns since the start of the run.
    pub(super) fn add(&mut self, span: Span) -> Result<(), TooManyOpen> {
        self.end_until(span.start);
        let thread = &mut self.threads[span.thread as usize];
        let device = &mut self.devices[thread.device];
        device.advance(span.start);
        device.settle(thread, span.start);
        let caller = thread.open.last().map_or(Paths::ROOT, |open| open.path);
        let path = device.divided.paths.child(caller, span.name);
        device.divided.add(path, span.name, |own| own.calls += 1);
        if span.end == span.start {
            at(&mut device.divided.names, span.name.0).each.add(0.0);
            return Ok(());
        }
        if self.open == MOST_OPEN {
            return Err(TooManyOpen);
        }
        self.open += 1;
        if thread.open.is_empty() {
            device.busy += 1;
        }
        thread.open.push(Open {
            end: span.end,
            path,
            name: span.name,
            energy: 0,
        });
        self.ends.push(Reverse((span.end, span.thread)));
        Ok(())
    }

    fn end_until(&mut self, time: i64) {
        while let Some(Reverse((end, number))) = self.ends.peek().copied() {
            if end > time {
                return;
            }
            self.ends.pop();
            let thread = &mut self.threads[number as usize];
            // A span that began later may end later; then this one is not innermost, and ends with it.
            if thread
                .open
                .last()
                .is_none_or(|innermost| innermost.end > end)
            {
                continue;
            }
            let device = &mut self.devices[thread.device];
            device.advance(end);
            device.settle(thread, end);
            while let Some(ended) = thread.open.pop_if(|innermost| innermost.end <= end) {
                self.open -= 1;
                let joules = crate::units::Energy::from_steps(ended.energy).joules();
                at(&mut device.divided.names, ended.name.0).each.add(joules);
                if let Some(outer) = thread.open.last_mut() {
                    outer.energy += ended.energy;
                }
            }
            if thread.open.is_empty() {
                device.busy -= 1;
            }
        }
    }

    /// What each device's spans got, and the bins if they were wanted; `end` is that of the run.
    pub(super) fn finish(mut self, end: i64) -> Vec<(Divided, Option<Bins>)> {
        self.end_until(i64::MAX);
        let finished = self.devices.into_iter().map(|mut device| {
            device.advance(end);
            device.divided.uncovered += device.left;
            (device.divided, device.bins)
        });
        finished.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TIMES: [i64; 4] = [0, 100, 150, 1000];
    const ENERGY: [u128; 4] = [0, 1_000_003, 1_000_010, 9_999_991];
    const END: i64 = 1000;
    /// Threads 0 to 2 are of the first device, thread 3 is of the second.
    const DEVICES: [usize; 4] = [0, 0, 0, 1];

    fn span(start: i64, end: i64, name: u32, thread: u16) -> Span {
        Span {
            start,
            end,
            name: Name(name),
            thread,
            depth: 0,
        }
    }

    fn divided(mut spans: Vec<Span>, bins: Option<&Bins>) -> Vec<(Divided, Option<Bins>)> {
        spans.sort_by_key(|span| (span.start, Reverse(span.end)));
        let curve = || CurveCursor::new(&TIMES, ENERGY.to_vec());
        let mut sweep = Sweep::new(vec![curve(), curve()], DEVICES.into_iter(), 100, bins);
        for span in spans {
            sweep.add(span).unwrap();
        }
        sweep.finish(END)
    }

    fn of_name(divided: &Divided, name: u32) -> u128 {
        let of_name = divided.names.get(name as usize);
        of_name.map_or(0, |of_name| of_name.own.energy)
    }

    #[test]
    fn a_span_has_the_power_of_its_time_and_inner_spans_take_theirs() {
        let all = divided(
            vec![
                span(0, 100, 1, 0),
                span(50, 75, 2, 0),
                span(150, 1000, 3, 0),
            ],
            None,
        );
        let device = &all[0].0;
        // A quarter of the first stretch, which does not divide by 4.
        let quarter =
            [0, 25, 50, 75].map(|time| CurveCursor::new(&TIMES, ENERGY.to_vec()).at(time));
        assert_eq!(of_name(device, 2), quarter[3] - quarter[2]);
        assert_eq!(of_name(device, 1), ENERGY[1] - of_name(device, 2));
        assert_eq!(of_name(device, 3), ENERGY[3] - ENERGY[2]);
        assert_eq!(device.uncovered, ENERGY[2] - ENERGY[1]);
        let each = device.names[1].each.moments().unwrap();
        assert_eq!(each.count, 1);
        let whole = crate::units::Energy::from_steps(ENERGY[1]).joules();
        assert!((each.mean - whole).abs() < whole * 1e-9);
    }

    #[test]
    fn threads_that_are_busy_at_once_share_and_devices_do_not() {
        let all = divided(
            vec![span(0, 1000, 1, 0), span(0, 100, 2, 1), span(0, 1000, 4, 3)],
            None,
        );
        assert_eq!(of_name(&all[0].0, 2), ENERGY[1] / 2);
        assert_eq!(of_name(&all[0].0, 1), ENERGY[3] - ENERGY[1] / 2);
        assert_eq!(of_name(&all[1].0, 4), ENERGY[3]);
        assert_eq!(all[0].0.uncovered + all[1].0.uncovered, 0);
    }

    #[test]
    fn a_span_that_outlasts_the_one_around_it_is_innermost_until_its_end() {
        let all = divided(vec![span(0, 100, 1, 0), span(50, 150, 2, 0)], None);
        let half = CurveCursor::new(&TIMES, ENERGY.to_vec()).at(50);
        assert_eq!(of_name(&all[0].0, 1), half);
        assert_eq!(of_name(&all[0].0, 2), ENERGY[2] - half);
    }

    #[test]
    fn spans_outside_of_the_run_have_no_energy_and_are_counted() {
        let all = divided(vec![span(-50, -10, 1, 0), span(2000, 3000, 1, 0)], None);
        assert_eq!(all[0].0.names[1].own.calls, 2);
        assert_eq!(of_name(&all[0].0, 1), 0);
        assert_eq!(all[0].0.uncovered, ENERGY[3]);
    }

    /// The same by going through every nanosecond.
    fn one_by_one(spans: &[Span], name: u32, device: usize) -> f64 {
        let mut cursor = CurveCursor::new(&TIMES, ENERGY.to_vec());
        let mut sum = 0.0;
        for now in 0..END {
            let before = cursor.at(now);
            let energy = (cursor.at(now + 1) - before) as f64;
            let threads = (0..4u16).filter(|thread| DEVICES[*thread as usize] == device);
            let innermost: Vec<u32> = threads
                .filter_map(|thread| {
                    let mut open: Vec<&Span> = Vec::new();
                    for span in spans
                        .iter()
                        .filter(|span| span.thread == thread && span.start <= now)
                    {
                        while open.pop_if(|last| last.end <= span.start).is_some() {}
                        open.push(span);
                    }
                    while open.pop_if(|last| last.end <= now).is_some() {}
                    open.last().map(|span| span.name.0)
                })
                .collect();
            let mine = innermost.iter().filter(|other| **other == name).count();
            if mine > 0 {
                sum += energy * mine as f64 / innermost.len() as f64;
            }
        }
        sum
    }

    prop_compose! {
        fn any_span()(
            start in -50i64..1050, length in prop_oneof![0i64..40, 0i64..900], name in 0u32..5, thread in 0u16..4
        ) -> Span {
            span(start, start + length, name, thread)
        }
    }

    proptest! {
        #[test]
        fn the_spans_and_what_none_covers_add_up_to_the_last_unit(
            spans in proptest::collection::vec(any_span(), 0..60)
        ) {
            let names: Vec<Name> = (0..5).map(Name).collect();
            let bins = Bins::new(&names, END, 7);
            for (divided, bins) in divided(spans, Some(&bins)) {
                let of_names: u128 = divided.names.iter().map(|of_name| of_name.own.energy).sum();
                let of_paths: u128 = divided.own.iter().map(|own| own.energy).sum();
                prop_assert_eq!(of_names + divided.uncovered, ENERGY[3]);
                prop_assert_eq!(of_paths, of_names);
                let bins = bins.unwrap();
                // Of the last energy, what could not be divided is nobody's.
                prop_assert!(divided.uncovered - bins.uncovered.iter().sum::<u128>() < 4);
                for name in 0..5 {
                    let sum: u128 = bins.energy[name as usize].iter().sum();
                    prop_assert_eq!(sum, of_name(&divided, name));
                }
            }
        }

        #[test]
        fn every_instant_is_divided_among_the_innermost_spans(
            spans in proptest::collection::vec(any_span(), 1..12)
        ) {
            let mut sorted = spans.clone();
            sorted.sort_by_key(|span| (span.start, Reverse(span.end)));
            for (device, (divided, _)) in divided(spans, None).into_iter().enumerate() {
                for name in 0..5 {
                    let wanted = one_by_one(&sorted, name, device);
                    // Rounding down at each of the instants where something changes.
                    prop_assert!((of_name(&divided, name) as f64 - wanted).abs() < 100.0 + 1e-6 * wanted);
                }
            }
        }
    }
}
