//! The JSON of speedscope: spans that open and close, or samples of stacks with weights.

use std::fs::File;
use std::io::{Read, Seek as _};

use super::clock::{nanoseconds, rounded};
use super::json_stream::JsonStream;
use super::names::{described, unescaped};
use super::{Broken, MOST_OPEN, Name, Names, Span, Timed, Times, Unit, Untimed};
use crate::ledger::attribute::paths::Paths;
use crate::log::fields::{Field, Fields};
use crate::log::row::parse_number;

const LONGEST_TEXT: usize = 4096;
/// Samples are kept until their weights are known.
const MOST_SAMPLES: usize = 1 << 24;
const MOST_PROFILES: usize = 1 << 16;

/// What the profiles of a file are read into.
#[derive(Debug)]
struct Reader {
    /// The names of the frames, by their place in the file.
    frames: Vec<Name>,
    timed: Timed,
    sampled: Untimed,
    /// How many ns the unit of each profile has; none if it is no unit of time.
    units: Vec<Option<i64>>,
    profiles: usize,
}

pub(super) fn read(mut file: File) -> Result<(Times, Names), Broken> {
    let mut names = Names::default();
    let mut frames = Vec::new();
    let mut units = Vec::new();
    // The frames may stand behind the profiles that use them, and the unit behind the times.
    members(&mut JsonStream::new(&file), |key, stream| match key {
        b"shared" => members(stream, |key, stream| match key {
            b"frames" => elements(stream, |stream| {
                frames.push(frame(stream, &mut names)?);
                Ok(())
            }),
            _ => stream.pass_over(),
        }),
        b"profiles" => elements(stream, |stream| {
            if units.len() == MOST_PROFILES {
                return Err(Broken::TooMany("profiles", MOST_PROFILES));
            }
            units.push(None);
            members(stream, |key, stream| {
                if key == b"unit" {
                    let unit = unit_named(&stream.string(LONGEST_TEXT)?);
                    units.pop();
                    units.push(unit);
                    return Ok(());
                }
                stream.pass_over()
            })
        }),
        _ => stream.pass_over(),
    })?;
    file.rewind()?;
    let mut reader = Reader {
        frames,
        timed: Timed::default(),
        sampled: Untimed::new(Unit::Nanoseconds),
        units,
        profiles: 0,
    };
    members(&mut JsonStream::new(&file), |key, stream| match key {
        b"profiles" => elements(stream, |stream| reader.profile(stream)),
        _ => stream.pass_over(),
    })?;
    let times = if reader.timed.spans.count() > 0 {
        Times::Timed(reader.timed)
    } else {
        Times::Untimed(reader.sampled)
    };
    Ok((times, names))
}

fn frame<R: Read>(stream: &mut JsonStream<R>, names: &mut Names) -> Result<Name, Broken> {
    let mut found = None;
    stream.object(|text| {
        let mut fields = Fields::beginning(text);
        let [mut name, mut file, mut line] = [&b""[..]; 3];
        while let Some(Field { name: key, value }) = fields.next_field()? {
            match (key, value) {
                (b"name", [b'"', text @ .., b'"']) => name = text,
                (b"file", [b'"', text @ .., b'"']) => file = text,
                (b"line", digits) => line = digits,
                _ => {}
            }
        }
        let line = String::from_utf8_lossy(line);
        found = Some(names.of(&described(&unescaped(name), &unescaped(file), &line)));
        Ok(Ok(fields.position()))
    })?;
    found.ok_or_else(|| stream.malformed())
}

impl Reader {
    fn profile<R: Read>(&mut self, stream: &mut JsonStream<R>) -> Result<(), Broken> {
        let number = self.profiles.to_le_bytes();
        let unit = self.units.get(self.profiles).copied().flatten();
        self.profiles += 1;
        let thread = self.timed.threads.of(&number, b"", None)?;
        let mut paths: Vec<u32> = Vec::new();
        let mut weights: Vec<u64> = Vec::new();
        members(stream, |key, stream| match key {
            b"events" => {
                let why = "the unit of these events is no unit of time";
                let unit = unit.ok_or_else(|| Broken::at_byte(stream.position(), why))?;
                self.events(stream, thread, unit)
            }
            b"samples" => elements(stream, |stream| {
                if paths.len() == MOST_SAMPLES {
                    return Err(Broken::TooMany("samples", MOST_SAMPLES));
                }
                let mut path = Paths::ROOT;
                elements(stream, |stream| {
                    let name = self.name(stream)?;
                    path = self.sampled.paths.child(path, name);
                    Ok(())
                })?;
                paths.push(path);
                Ok(())
            }),
            b"weights" => elements(stream, |stream| {
                if weights.len() == MOST_SAMPLES {
                    return Err(Broken::TooMany("weights", MOST_SAMPLES));
                }
                let unit = unit.unwrap_or(1);
                let weight =
                    parse_number(&stream.scalar()?).and_then(|weight| rounded(weight, unit));
                weights.push(weight.unwrap_or(0).max(0).unsigned_abs());
                Ok(())
            }),
            _ => stream.pass_over(),
        })?;
        if !paths.is_empty() && unit.is_none() {
            self.sampled.unit = Unit::Samples;
        }
        for (place, path) in paths.into_iter().enumerate() {
            self.sampled
                .add(path, weights.get(place).copied().unwrap_or(0));
        }
        Ok(())
    }

    fn name<R: Read>(&self, stream: &mut JsonStream<R>) -> Result<Name, Broken> {
        let place = parse_number(&stream.scalar()?).map(|place| place as usize);
        let name = place.and_then(|place| self.frames.get(place));
        name.copied()
            .ok_or_else(|| Broken::at_byte(stream.position(), "there is no frame with this number"))
    }

    fn events<R: Read>(
        &mut self,
        stream: &mut JsonStream<R>,
        thread: u16,
        unit: i64,
    ) -> Result<(), Broken> {
        let mut open: Vec<(i64, Name)> = Vec::new();
        elements(stream, |stream| {
            let mut event = None;
            stream.object(|text| {
                let mut fields = Fields::beginning(text);
                let (mut kind, mut frame, mut at) = (0, None, None);
                while let Some(Field { name, value }) = fields.next_field()? {
                    match (name, value) {
                        (b"type", [b'"', kind_of, b'"']) => kind = *kind_of,
                        (b"frame", place) => {
                            frame = parse_number(place).map(|place| place as usize);
                        }
                        (b"at", time) => at = nanoseconds(time, unit),
                        _ => {}
                    }
                }
                event = Some((kind, frame, at));
                Ok(Ok(fields.position()))
            })?;
            let Some((kind, Some(frame), Some(at))) = event else {
                self.timed.left_out += 1;
                return Ok(());
            };
            let Some(name) = self.frames.get(frame).copied() else {
                return Err(Broken::at_byte(
                    stream.position(),
                    "there is no frame with this number",
                ));
            };
            match (kind, open.last()) {
                (b'O', _) if open.len() == MOST_OPEN => {
                    return Err(Broken::TooMany("spans within each other", MOST_OPEN));
                }
                (b'O', _) => open.push((at, name)),
                (b'C', Some((start, opened))) if *opened == name && *start <= at => {
                    self.timed.spans.push(Span {
                        start: *start,
                        end: at,
                        name,
                        thread,
                        depth: u16::try_from(open.len()).unwrap_or(u16::MAX),
                    })?;
                    open.pop();
                }
                _ => self.timed.left_out += 1,
            }
            Ok(())
        })?;
        self.timed.unended += open.len() as u64;
        let last = self.timed.spans.bounds().map(|(_, last)| last);
        for (depth, (start, name)) in open.into_iter().enumerate() {
            self.timed.spans.push(Span {
                start,
                end: last.unwrap_or(start).max(start),
                name,
                thread,
                depth: u16::try_from(depth).unwrap_or(u16::MAX),
            })?;
        }
        Ok(())
    }
}

/// How many ns a unit has; none if it is no unit of time.
fn unit_named(unit: &[u8]) -> Option<i64> {
    match unit {
        b"seconds" => Some(1_000_000_000),
        b"milliseconds" => Some(1_000_000),
        b"microseconds" => Some(1000),
        b"nanoseconds" => Some(1),
        _ => None,
    }
}

/// Shows the members of an object.
fn members<R: Read>(
    stream: &mut JsonStream<R>,
    mut see: impl FnMut(&[u8], &mut JsonStream<R>) -> Result<(), Broken>,
) -> Result<(), Broken> {
    stream.expect(b'{')?;
    if stream.peek()? == Some(b'}') {
        stream.take();
        return Ok(());
    }
    loop {
        stream.peek()?;
        let key = stream.string(LONGEST_TEXT)?;
        stream.expect(b':')?;
        stream.peek()?;
        see(&key, stream)?;
        match stream.peek()? {
            Some(b',') => stream.take(),
            _ => return stream.expect(b'}'),
        }
    }
}

/// Shows the elements of a list.
fn elements<R: Read>(
    stream: &mut JsonStream<R>,
    mut see: impl FnMut(&mut JsonStream<R>) -> Result<(), Broken>,
) -> Result<(), Broken> {
    stream.expect(b'[')?;
    if stream.peek()? == Some(b']') {
        stream.take();
        return Ok(());
    }
    loop {
        stream.peek()?;
        see(stream)?;
        match stream.peek()? {
            Some(b',') => stream.take(),
            _ => return stream.expect(b']'),
        }
    }
}
