use std::collections::{HashMap, HashSet};

use super::Broken;

/// No profile has more threads and GPU streams.
const MOST: usize = 1 << 16;

/// What a span ran on, as the profile says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::ledger::attribute) enum Place {
    /// A thread on a CPU.
    Host,
    /// A stream of the GPU with this number.
    Gpu(u32),
}

/// The threads and GPU streams of a profile.
#[derive(Debug, Default)]
pub(in crate::ledger::attribute) struct Threads {
    numbers: HashMap<Box<[u8]>, u16>,
    all: Vec<Thread>,
    key: Vec<u8>,
    latest: u16,
}

#[derive(Debug)]
struct Thread {
    key: Box<[u8]>,
    process: usize,
    /// None if only its process says it.
    place: Option<Place>,
    /// Its spans are those of the other threads of its process under other names.
    is_summary: bool,
}

impl Threads {
    /// The number of a thread of a process; `place` tells streams from threads that have the same name.
    pub(super) fn of(
        &mut self,
        process: &[u8],
        thread: &[u8],
        place: Option<Place>,
    ) -> Result<u16, Broken> {
        self.key.clear();
        self.key.extend_from_slice(process);
        self.key.push(0);
        self.key.extend_from_slice(thread);
        match place {
            None => self.key.push(0),
            Some(Place::Host) => self.key.push(1),
            Some(Place::Gpu(number)) => {
                self.key.push(2);
                self.key.extend(number.to_le_bytes());
            }
        }
        // Most spans are on the thread of the span before them.
        let latest = self.all.get(self.latest as usize);
        if latest.is_some_and(|latest| *latest.key == *self.key) {
            return Ok(self.latest);
        }
        self.latest = match self.numbers.get(&self.key[..]) {
            Some(number) => *number,
            None => self.add(process.len(), place)?,
        };
        Ok(self.latest)
    }

    fn add(&mut self, process: usize, place: Option<Place>) -> Result<u16, Broken> {
        if self.all.len() == MOST {
            return Err(Broken::TooMany("threads", MOST));
        }
        let number = self.all.len() as u16;
        let key: Box<[u8]> = self.key.as_slice().into();
        self.numbers.insert(key.clone(), number);
        self.all.push(Thread {
            key,
            process,
            place,
            is_summary: false,
        });
        Ok(number)
    }

    /// Says of the processes that `gpu` knows that they are GPUs.
    pub(super) fn place_processes(&mut self, gpu: impl Fn(&[u8]) -> Option<u32>) {
        for thread in &mut self.all {
            let number = gpu(&thread.key[..thread.process]);
            thread.place = thread.place.or(number.map(Place::Gpu));
        }
    }

    /// Says that the spans of a thread are those of the other threads of its process under other names.
    pub(super) fn is_summary(&mut self, number: u16) {
        self.all[usize::from(number)].is_summary = true;
    }

    /// Whether the spans of each thread are left out: those of streams of the same GPU are there too.
    pub(in crate::ledger::attribute) fn left_out(&self) -> Vec<bool> {
        let process = |thread: &Thread| thread.key[..thread.process].to_vec();
        let is_on_gpu = |thread: &&Thread| matches!(thread.place, Some(Place::Gpu(_)));
        let on_gpus = self.all.iter().filter(is_on_gpu);
        let with_streams: HashSet<Vec<u8>> = on_gpus
            .filter(|thread| !thread.is_summary)
            .map(process)
            .collect();
        let is_left_out = |thread: &Thread| {
            thread.is_summary && is_on_gpu(&thread) && with_streams.contains(&process(thread))
        };
        self.all.iter().map(is_left_out).collect()
    }

    pub(in crate::ledger::attribute) fn places(&self) -> impl Iterator<Item = Place> {
        self.all
            .iter()
            .map(|thread| thread.place.unwrap_or(Place::Host))
    }
}
