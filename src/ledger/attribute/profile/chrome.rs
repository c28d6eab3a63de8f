//! Chrome's trace events, as `PyTorch`, JAX and exports of Nsight and perf write them.

use std::collections::HashMap;
use std::io::Read;

use super::clock::nanoseconds;
use super::json_stream::JsonStream;
use super::names::unescaped;
use super::threads::Place;
use super::{Broken, MOST_OPEN, Name, Names, Span, Timed};
use crate::log::fields::{Field, Fields, NotAnObject};

/// Trace events give times in microseconds.
const MICROSECOND: i64 = 1000;
const LONGEST_KEY: usize = 64;
/// Processes that are known to be GPUs.
const MOST_GPUS: usize = 1 << 12;

/// What accounting takes from an event.
#[derive(Default)]
struct Event<'a> {
    kind: &'a [u8],
    name: &'a [u8],
    category: &'a [u8],
    process: &'a [u8],
    thread: &'a [u8],
    time: &'a [u8],
    duration: &'a [u8],
    arguments: &'a [u8],
}

/// Reads events one by one.
#[derive(Debug, Default)]
struct Reader {
    timed: Timed,
    names: Names,
    /// Spans that have begun, by thread.
    open: Vec<Vec<(i64, Name)>>,
    open_count: usize,
    gpus: HashMap<Box<[u8]>, u32>,
}

/// Whether a JSON object with this member is a trace.
pub(super) fn is_list_of_events(key: &[u8]) -> bool {
    key == b"traceEvents"
}

/// Reads a trace: a list of events, whose end may be missing, or an object with one.
pub(super) fn read(input: impl Read) -> Result<(Timed, Names), Broken> {
    let mut stream = JsonStream::new(input);
    let mut reader = Reader::default();
    if stream.peek()? == Some(b'[') {
        reader.events(&mut stream)?;
    } else {
        reader.object(&mut stream)?;
    }
    Ok(reader.finish()?)
}

impl Reader {
    fn object<R: Read>(&mut self, stream: &mut JsonStream<R>) -> Result<(), Broken> {
        stream.expect(b'{')?;
        if stream.peek()? == Some(b'}') {
            return Ok(());
        }
        loop {
            stream.peek()?;
            let key = stream.string(LONGEST_KEY)?;
            stream.expect(b':')?;
            match (&key[..], stream.peek()?) {
                (b"traceEvents", Some(b'[')) => self.events(stream)?,
                (b"baseTimeNanoseconds", Some(b'0'..=b'9')) => {
                    self.timed.base = nanoseconds(&stream.scalar()?, 1);
                }
                _ => stream.pass_over()?,
            }
            match stream.peek()? {
                Some(b',') => stream.take(),
                // A trace may have been cut off.
                Some(b'}') | None => return Ok(()),
                Some(_) => return Err(stream.malformed()),
            }
        }
    }

    fn events<R: Read>(&mut self, stream: &mut JsonStream<R>) -> Result<(), Broken> {
        stream.expect(b'[')?;
        loop {
            match stream.peek()? {
                Some(b'{') => stream.object(|text| self.event(text))?,
                Some(b',') => stream.take(),
                Some(b']') => {
                    stream.take();
                    return Ok(());
                }
                None => return Ok(()),
                Some(_) => return Err(stream.malformed()),
            }
        }
    }

    /// Reads the event that the text begins with, and answers how long it is.
    fn event(&mut self, text: &[u8]) -> Result<Result<usize, Broken>, NotAnObject> {
        let mut fields = Fields::beginning(text);
        let mut event = Event::default();
        while let Some(Field { name, value }) = fields.next_field()? {
            // By single bytes: to compare slices takes a call each.
            match *name {
                [b'p', b'h'] => event.kind = unquoted(value),
                [b'n', b'a', b'm', b'e'] => event.name = unquoted(value),
                [b'c', b'a', b't'] => event.category = unquoted(value),
                [b'p', b'i', b'd'] => event.process = value,
                [b't', b'i', b'd'] => event.thread = value,
                [b't', b's'] => event.time = value,
                [b'd', b'u', b'r'] => event.duration = value,
                [b'a', b'r', b'g', b's'] => event.arguments = value,
                _ => {}
            }
        }
        let length = fields.position();
        Ok(self.see(&event).map(|()| length))
    }

    fn see(&mut self, event: &Event) -> Result<(), Broken> {
        match *event.kind {
            // Frames around the whole of a trace of PyTorch are no work.
            _ if event.category == b"Trace" => Ok(()),
            [b'X'] => self.complete(event),
            [b'B'] => self.begin(event),
            [b'E'] => self.end(event),
            [b'M'] if event.name == b"thread_name" => self.describe_thread(event),
            [b'M'] => {
                self.describe_process(event);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn complete(&mut self, event: &Event) -> Result<(), Broken> {
        let times = nanoseconds(event.time, MICROSECOND)
            .zip(nanoseconds(event.duration, MICROSECOND).filter(|duration| *duration >= 0));
        let Some((start, duration)) = times else {
            self.timed.left_out += 1;
            return Ok(());
        };
        let thread = self.thread(event)?;
        let span = Span {
            start,
            end: start.saturating_add(duration),
            name: self.names.of_json(event.name),
            thread,
            depth: 0,
        };
        Ok(self.timed.spans.push(span)?)
    }

    fn begin(&mut self, event: &Event) -> Result<(), Broken> {
        let Some(start) = nanoseconds(event.time, MICROSECOND) else {
            self.timed.left_out += 1;
            return Ok(());
        };
        if self.open_count == MOST_OPEN {
            return Err(Broken::TooMany(
                "spans that begin before another ends",
                MOST_OPEN,
            ));
        }
        let thread = self.thread(event)? as usize;
        if self.open.len() <= thread {
            self.open.resize_with(thread + 1, Vec::new);
        }
        self.open_count += 1;
        self.open[thread].push((start, self.names.of_json(event.name)));
        Ok(())
    }

    fn end(&mut self, event: &Event) -> Result<(), Broken> {
        let thread = self.thread(event)?;
        let within = self.open.get_mut(thread as usize);
        let (open, depth) = within.map_or((None, 0), |within| (within.pop(), within.len()));
        self.open_count -= usize::from(open.is_some());
        let time = nanoseconds(event.time, MICROSECOND);
        let (Some((start, name)), Some(end)) = (open, time) else {
            self.timed.left_out += 1;
            return Ok(());
        };
        if end < start {
            self.timed.left_out += 1;
            return Ok(());
        }
        Ok(self.timed.spans.push(Span {
            start,
            end,
            name,
            thread,
            depth: u16::try_from(depth).unwrap_or(u16::MAX),
        })?)
    }

    fn thread(&mut self, event: &Event) -> Result<u16, Broken> {
        let place = gpu_category(event.category).then(|| {
            let number = number_in(event.arguments, b"device");
            Place::Gpu(number.or_else(|| whole(event.process)).unwrap_or(0))
        });
        self.timed.threads.of(event.process, event.thread, place)
    }

    /// JAX repeats what the streams of a GPU do, in threads that name it by modules, operators and steps.
    fn describe_thread(&mut self, event: &Event) -> Result<(), Broken> {
        const SUMMARIES: [&[u8]; 8] = [
            b"Steps",
            b"XLA Modules",
            b"XLA Ops",
            b"XLA TraceMe",
            b"Framework Name Scope",
            b"Framework Ops",
            b"Source code",
            b"Source Code",
        ];
        let mut fields = Fields::of(event.arguments);
        while let Ok(Some(field)) = fields.next_field() {
            if field.name == b"name" && SUMMARIES.contains(&unquoted(field.value)) {
                let number = self.timed.threads.of(event.process, event.thread, None)?;
                self.timed.threads.is_summary(number);
            }
        }
        Ok(())
    }

    /// Remembers which processes are GPUs, as traces say with names such as `/device:GPU:0` and `GPU 0`.
    fn describe_process(&mut self, event: &Event) {
        if !matches!(event.name, b"process_name" | b"process_labels") {
            return;
        }
        let mut fields = Fields::of(event.arguments);
        while let Ok(Some(field)) = fields.next_field() {
            if !matches!(field.name, b"name" | b"labels") {
                continue;
            }
            let number = gpu_named(&unescaped(unquoted(field.value)));
            if let Some(number) = number.filter(|_| self.gpus.len() < MOST_GPUS) {
                self.gpus.insert(event.process.into(), number);
            }
        }
    }

    fn finish(mut self) -> Result<(Timed, Names), std::io::Error> {
        // What has not ended lasts until the end of the trace.
        let begun = self.open.iter().flatten().map(|(start, _)| *start);
        let ended = self.timed.spans.bounds().map(|(_, last)| last);
        let last = begun.chain(ended).max();
        for (thread, open) in self.open.into_iter().enumerate() {
            for (depth, (start, name)) in open.into_iter().enumerate() {
                self.timed.unended += 1;
                self.timed.spans.push(Span {
                    start,
                    end: last.unwrap_or(start),
                    name,
                    thread: thread as u16,
                    depth: u16::try_from(depth).unwrap_or(u16::MAX),
                })?;
            }
        }
        let gpus = self.gpus;
        self.timed.threads.place_processes(|process| {
            let by_name = || gpu_named(&unescaped(unquoted(process)));
            gpus.get(process).copied().or_else(by_name)
        });
        Ok((self.timed, self.names))
    }
}

/// The categories of the spans of `PyTorch` on a GPU.
fn gpu_category(category: &[u8]) -> bool {
    let begins = |with: &[u8]| {
        let start = category.get(..with.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(with))
    };
    begins(b"kernel") || begins(b"gpu_") || begins(b"memcpy") || begins(b"memset")
}

/// The number behind `GPU` or `Device` in the name of a process.
fn gpu_named(text: &str) -> Option<u32> {
    let after = |word: &str| text.split(word).nth(1);
    let rest = after("GPU").or_else(|| text.strip_prefix("Device"))?;
    let digits = rest.trim_start_matches([':', ' ']);
    let end = digits
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(digits.len());
    digits[..end].parse().ok()
}

fn number_in(arguments: &[u8], wanted: &[u8]) -> Option<u32> {
    let mut fields = Fields::of(arguments);
    while let Ok(Some(field)) = fields.next_field() {
        if field.name == wanted {
            return whole(unquoted(field.value));
        }
    }
    None
}

fn whole(text: &[u8]) -> Option<u32> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// What is between the quotes of a JSON string; other values as they are.
fn unquoted(value: &[u8]) -> &[u8] {
    match value {
        [b'"', text @ .., b'"'] => text,
        other => other,
    }
}
