use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read as _, Seek as _, Write as _};

use super::Name;

/// So many spans are sorted in memory; more are kept in temporary files.
const MOST_IN_MEMORY: usize = 1 << 21;
/// Each temporary file holds that many spans.
const MOST_FILES: usize = 128;
const BYTES: usize = 24;

/// A stretch of time in which a thread was busy with something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ledger::attribute) struct Span {
    /// In ns of the profile's clock.
    pub(in crate::ledger::attribute) start: i64,
    /// Not before the start.
    pub(in crate::ledger::attribute) end: i64,
    pub(in crate::ledger::attribute) name: Name,
    /// The number of the thread or GPU stream.
    pub(in crate::ledger::attribute) thread: u16,
    /// How many spans it was begun within, where the profile says so: it tells which of two with the same times is outer.
    pub(in crate::ledger::attribute) depth: u16,
}

impl Span {
    /// Outer spans come before those that they contain.
    fn order(&self) -> (i64, Reverse<i64>, u16) {
        (self.start, Reverse(self.end), self.depth)
    }

    fn bytes(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&self.start.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.end.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.name.0.to_le_bytes());
        bytes[20..22].copy_from_slice(&self.thread.to_le_bytes());
        bytes[22..].copy_from_slice(&self.depth.to_le_bytes());
        bytes
    }

    fn of_bytes(bytes: [u8; BYTES]) -> Self {
        let long = |at: usize| std::array::from_fn(|byte| bytes[at + byte]);
        let short = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        Self {
            start: i64::from_le_bytes(long(0)),
            end: i64::from_le_bytes(long(8)),
            name: Name(u32::from_le_bytes(std::array::from_fn(|byte| {
                bytes[16 + byte]
            }))),
            thread: short(20),
            depth: short(22),
        }
    }
}

/// Any number of spans in order of time, in memory that does not grow with them.
#[derive(Debug, Default)]
pub(in crate::ledger::attribute) struct SortedSpans {
    latest: Vec<Span>,
    files: Vec<File>,
    count: u64,
    bounds: Option<(i64, i64)>,
}

impl SortedSpans {
    /// Adds a span.
    ///
    /// # Errors
    ///
    /// If a temporary file cannot be written, or there are more spans than any profile has.
    pub(super) fn push(&mut self, span: Span) -> io::Result<()> {
        if self.latest.len() == MOST_IN_MEMORY {
            self.spill()?;
        }
        self.latest.push(span);
        self.count += 1;
        let (first, last) = self.bounds.unwrap_or((span.start, span.end));
        self.bounds = Some((first.min(span.start), last.max(span.end)));
        Ok(())
    }

    pub(in crate::ledger::attribute) fn count(&self) -> u64 {
        self.count
    }

    /// When the first span begins and the last one ends.
    pub(in crate::ledger::attribute) fn bounds(&self) -> Option<(i64, i64)> {
        self.bounds
    }

    fn spill(&mut self) -> io::Result<()> {
        if self.files.len() == MOST_FILES {
            let most = MOST_FILES * MOST_IN_MEMORY;
            return Err(io::Error::other(format!("more than {most} spans")));
        }
        self.latest.sort_by_key(Span::order);
        let mut file = BufWriter::with_capacity(1 << 16, tempfile::tempfile()?);
        for span in self.latest.drain(..) {
            file.write_all(&span.bytes())?;
        }
        self.files.push(file.into_inner()?);
        Ok(())
    }

    /// Shows the spans in order of their start; of those that start together, the longest first.
    ///
    /// # Errors
    ///
    /// Those of `see`, and if a temporary file cannot be read.
    pub(in crate::ledger::attribute) fn for_each<E: From<io::Error>>(
        &mut self,
        mut see: impl FnMut(Span) -> Result<(), E>,
    ) -> Result<(), E> {
        self.latest.sort_by_key(Span::order);
        if self.files.is_empty() {
            return self.latest.iter().try_for_each(|span| see(*span));
        }
        let mut sources = Vec::with_capacity(self.files.len() + 1);
        for file in &mut self.files {
            file.rewind()?;
            sources.push(Source::File(BufReader::with_capacity(1 << 16, file)));
        }
        sources.push(Source::Memory(self.latest.iter()));
        let mut heads = BinaryHeap::with_capacity(sources.len());
        let mut spans = Vec::with_capacity(sources.len());
        for (place, source) in sources.iter_mut().enumerate() {
            let span = source.next()?;
            heads.extend(span.map(|span| Reverse((span.order(), place))));
            spans.push(span);
        }
        while let Some(mut head) = heads.peek_mut() {
            let place = head.0.1;
            if let Some(span) = spans[place] {
                see(span)?;
            }
            spans[place] = sources[place].next()?;
            match spans[place] {
                Some(span) => head.0 = (span.order(), place),
                None => {
                    std::collections::binary_heap::PeekMut::pop(head);
                }
            }
        }
        Ok(())
    }
}

enum Source<'a> {
    File(BufReader<&'a mut File>),
    Memory(std::slice::Iter<'a, Span>),
}

impl Source<'_> {
    fn next(&mut self) -> io::Result<Option<Span>> {
        match self {
            Self::Memory(spans) => Ok(spans.next().copied()),
            Self::File(file) => {
                let mut bytes = [0; BYTES];
                match file.read_exact(&mut bytes) {
                    Ok(()) => Ok(Some(Span::of_bytes(bytes))),
                    Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
                    Err(error) => Err(error),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: i64, end: i64, thread: u16) -> Span {
        Span {
            start,
            end,
            name: Name(7),
            thread,
            depth: 0,
        }
    }

    fn all(spans: &mut SortedSpans) -> Vec<Span> {
        let mut seen = Vec::new();
        let done: io::Result<()> = spans.for_each(|span| {
            seen.push(span);
            Ok(())
        });
        done.unwrap();
        seen
    }

    #[test]
    fn outer_spans_come_before_inner_ones_and_equal_ones_stay_in_order() {
        let mut spans = SortedSpans::default();
        for (start, end, thread) in [(5, 6, 0), (-1, 3, 1), (-1, 9, 2), (5, 6, 3)] {
            spans.push(span(start, end, thread)).unwrap();
        }
        let threads: Vec<u16> = all(&mut spans).iter().map(|span| span.thread).collect();
        assert_eq!(threads, [2, 1, 0, 3]);
        assert_eq!((spans.count(), spans.bounds()), (4, Some((-1, 9))));
    }

    #[test]
    fn more_spans_than_fit_in_memory_are_sorted_too_and_can_be_seen_again() {
        let mut spans = SortedSpans::default();
        let count = MOST_IN_MEMORY as i64 * 2 + 1000;
        for number in 0..count {
            // A permutation: the factor and the count have no divisor in common.
            let start = number * 1_000_003 % count;
            spans.push(span(start, start + 1, number as u16)).unwrap();
        }
        for _ in 0..2 {
            let seen = all(&mut spans);
            assert_eq!(seen.len() as i64, count);
            assert!(
                seen.iter()
                    .zip(0..)
                    .all(|(span, start)| span.start == start)
            );
        }
    }
}
