use std::collections::BTreeMap;
use std::ops::Range;

use super::fields::{Field, Fields, NotAnObject};
use super::row::parse_number;

/// Bytes for the names of ended processes; enough for weeks of a build farm.
const MOST_GONE: usize = 32 << 20;
/// What a name takes besides its own bytes.
const PER_NAME: usize = 32;

/// The CPU seconds of every process of a run, from the `cpu_time_seconds` table of each row.
///
/// A process counts with the last figures seen of it. Tables are large and all but the last of them
/// repeat, so figures are only parsed once a process is gone or the log ends.
#[derive(Debug, Default)]
pub struct CpuTimes {
    latest: Table,
    previous: Table,
    gone: BTreeMap<Vec<u8>, f64>,
    gone_bytes: usize,
    /// More processes came and went than can be kept apart: then the seconds are not known.
    pub too_many: bool,
    seen_any: bool,
}

#[derive(Debug, Default)]
struct Table {
    text: Vec<u8>,
    /// Where in the text each process's name and figures stand.
    processes: Vec<(Range<usize>, Range<usize>)>,
}

impl CpuTimes {
    /// Takes in the table of the next row; one that cannot be read counts as not there.
    pub fn see(&mut self, table: &[u8]) {
        if self.too_many {
            return;
        }
        std::mem::swap(&mut self.latest, &mut self.previous);
        if self.latest.read(table).is_err() {
            std::mem::swap(&mut self.latest, &mut self.previous);
            return;
        }
        self.seen_any = true;
        if !self.latest.same_processes(&self.previous) {
            self.keep_what_is_gone();
        }
    }

    /// User and system seconds of all processes, or none if no row had a table or they are too many.
    #[must_use]
    pub fn seconds(&self) -> Option<f64> {
        let running: f64 = self
            .latest
            .entries()
            .map(|(_, figures)| seconds(figures))
            .sum();
        (self.seen_any && !self.too_many).then(|| self.gone.values().sum::<f64>() + running)
    }

    fn keep_what_is_gone(&mut self) {
        let mut names: Vec<&[u8]> = self.latest.entries().map(|(name, _)| name).collect();
        names.sort_unstable();
        for (name, figures) in self.previous.entries() {
            if names.binary_search(&name).is_err() {
                let known = self.gone.insert(name.to_owned(), seconds(figures));
                if known.is_none() {
                    self.gone_bytes += name.len() + PER_NAME;
                }
            }
        }
        for name in names {
            if self.gone.remove(name).is_some() {
                self.gone_bytes -= name.len() + PER_NAME;
            }
        }
        if self.gone_bytes > MOST_GONE {
            self.too_many = true;
            self.gone = BTreeMap::new();
        }
    }
}

impl Table {
    fn read(&mut self, text: &[u8]) -> Result<(), NotAnObject> {
        self.text.clear();
        self.text.extend_from_slice(text);
        self.processes.clear();
        let start = text.as_ptr() as usize;
        let range = |part: &[u8]| {
            let from = part.as_ptr() as usize - start;
            from..from + part.len()
        };
        let mut fields = Fields::of(text);
        while let Some(Field { name, value }) = fields.next_field()? {
            self.processes.push((range(name), range(value)));
        }
        Ok(())
    }

    fn entries(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.processes
            .iter()
            .map(|(name, figures)| (&self.text[name.clone()], &self.text[figures.clone()]))
    }

    fn same_processes(&self, other: &Self) -> bool {
        self.processes.len() == other.processes.len()
            && self
                .entries()
                .zip(other.entries())
                .all(|((mine, _), (theirs, _))| mine == theirs)
    }
}

fn seconds(figures: &[u8]) -> f64 {
    let mut sum = 0.0;
    let mut fields = Fields::of(figures);
    while let Ok(Some(Field { name, value })) = fields.next_field() {
        if matches!(name, b"user" | b"system") {
            sum += parse_number(value).map_or(0.0, |seconds| seconds.max(0.0));
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_counts_with_the_last_figures_seen_of_it() {
        let mut times = CpuTimes::default();
        assert_eq!(times.seconds(), None);
        times
            .see(br#"{"1":{"user":1.0,"system":0.5},"2":{"user":7,"system":0,"children_user":9}}"#);
        times.see(br#"{"1":{"user":2.0,"system":0.5}}"#);
        assert_eq!(times.seconds(), Some(9.5));
        times.see(b"{broken");
        times.see(br#"{"3":{"user":1,"system":1},"2":{"user":8,"system":0}}"#);
        assert_eq!(times.seconds(), Some(2.5 + 2.0 + 8.0));
    }

    #[test]
    fn processes_beyond_number_make_the_time_unknown() {
        let mut times = CpuTimes::default();
        let name = "x".repeat(MOST_GONE / 4);
        let mut come = |n: u32| {
            times.see(format!(r#"{{"{n}{name}":{{"user":1,"system":1}}}}"#).as_bytes());
            times.seconds()
        };
        for n in 0..4 {
            assert_eq!(come(n), Some(f64::from(n + 1) * 2.0));
        }
        assert_eq!(come(3), Some(8.0));
        assert_eq!(come(2), Some(8.0));
        assert_eq!(come(4), None);
        assert_eq!(come(4), None);
        assert!(times.too_many && times.gone.is_empty());
    }
}
