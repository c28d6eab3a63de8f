use std::collections::HashMap;

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

    pub(in crate::ledger::attribute) fn places(&self) -> impl Iterator<Item = Place> {
        self.all
            .iter()
            .map(|thread| thread.place.unwrap_or(Place::Host))
    }
}
