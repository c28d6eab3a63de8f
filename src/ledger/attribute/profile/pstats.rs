//! The statistics that Python's cProfile dumps: a dictionary written by `marshal`, read as data and never executed.
//!
//! Only the types of such a dump are known: `{(file, line, function): (calls, calls, own, all, {caller: (...)})}`.

use std::fs::File;
use std::io::Read as _;

use super::clock::rounded;
use super::names::described;
use super::{Broken, Name, Names, Unit, Untimed};
use crate::ledger::attribute::paths::Paths;

const SECOND: i64 = 1_000_000_000;
/// A dump holds some hundred bytes for each function.
const LARGEST: u64 = 256 << 20;
/// Objects that others refer to.
const MOST_REFERENCES: usize = 1 << 22;
/// Pairs of caller and called.
const MOST_EDGES: usize = 1 << 20;
/// Set in the type of an object that others may refer to.
const REFERRED_TO: u8 = 0x80;

/// Whether a file is such a dump: a dictionary whose first key is a tuple.
pub(super) fn is_dump(head: &[u8]) -> bool {
    let plain = |place: usize| head.get(place).map(|code| code & !REFERRED_TO);
    plain(0) == Some(b'{') && matches!(plain(1), Some(b'(' | b')')) && !head.is_empty()
}

/// What a reference may stand for.
#[derive(Debug, Clone, Copy)]
enum Referred {
    Text(usize, usize),
    Whole(i64),
    Float(f64),
    Function(Name),
    Other,
}

#[derive(Debug, Default)]
struct Decoder {
    bytes: Vec<u8>,
    at: usize,
    references: Vec<Referred>,
}

/// Calls, own time and time with calls, in s.
#[derive(Debug, Default)]
struct Counts {
    calls: f64,
    own: f64,
    with_calls: f64,
}

pub(super) fn read(file: File) -> Result<(Untimed, Names), Broken> {
    let mut decoder = Decoder::default();
    file.take(LARGEST + 1).read_to_end(&mut decoder.bytes)?;
    if decoder.bytes.len() as u64 > LARGEST {
        return Err(Broken::TooMany("bytes", LARGEST as usize));
    }
    let mut names = Names::default();
    let mut stats = Untimed::new(Unit::Nanoseconds);
    let mut calls: Vec<u64> = Vec::new();
    let mut with_calls: Vec<u64> = Vec::new();
    decoder.dictionary()?;
    while !decoder.is_end()? {
        let name = decoder.function(&mut names)?;
        let counts = decoder.counts(5)?;
        decoder.dictionary()?;
        while !decoder.is_end()? {
            let caller = decoder.function(&mut names)?;
            let edge = decoder.edge()?;
            if stats.edges.len() == MOST_EDGES {
                return Err(Broken::TooMany("pairs of caller and called", MOST_EDGES));
            }
            stats.edges.push((caller, name, time(edge.with_calls)));
        }
        let path = stats.paths.child(Paths::ROOT, name);
        stats.add(path, time(counts.own));
        put(&mut calls, path, counts.calls.clamp(0.0, 1e15) as u64);
        put(&mut with_calls, name.0, time(counts.with_calls));
    }
    stats.calls = Some(calls);
    stats.with_calls = Some(with_calls);
    Ok((stats, names))
}

fn put(column: &mut Vec<u64>, place: u32, value: u64) {
    let place = place as usize;
    if column.len() <= place {
        column.resize(place + 1, 0);
    }
    column[place] = column[place].saturating_add(value);
}

fn time(seconds: f64) -> u64 {
    rounded(seconds, SECOND).unwrap_or(0).max(0).unsigned_abs()
}

impl Decoder {
    fn take(&mut self, count: usize) -> Result<&[u8], Broken> {
        let bytes = self
            .at
            .checked_add(count)
            .and_then(|end| self.bytes.get(self.at..end));
        let bytes = bytes.ok_or_else(|| self.malformed("the file ends within a value"))?;
        self.at += count;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Broken> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn length(&mut self) -> Result<usize, Broken> {
        let length = i32::from_le_bytes(self.array()?);
        usize::try_from(length).map_err(|_| self.malformed("a length is negative"))
    }

    /// The type of the next object, and its place if others may refer to it.
    fn code(&mut self) -> Result<(u8, Option<usize>), Broken> {
        let [code] = self.array()?;
        if code & REFERRED_TO == 0 {
            return Ok((code, None));
        }
        if self.references.len() == MOST_REFERENCES {
            return Err(Broken::TooMany("references", MOST_REFERENCES));
        }
        self.references.push(Referred::Other);
        Ok((code & !REFERRED_TO, Some(self.references.len() - 1)))
    }

    fn keep(&mut self, place: Option<usize>, value: Referred) {
        if let Some(place) = place {
            self.references[place] = value;
        }
    }

    fn reference(&mut self) -> Result<Referred, Broken> {
        let place = self.length()?;
        let found = self.references.get(place).copied();
        found.ok_or_else(|| self.malformed("a reference leads nowhere"))
    }

    /// A dictionary, up to its first key.
    fn dictionary(&mut self) -> Result<(), Broken> {
        match self.code()? {
            (b'{', _) => Ok(()),
            _ => Err(self.malformed("this is no dictionary")),
        }
    }

    /// Whether a dictionary ends here.
    fn is_end(&mut self) -> Result<bool, Broken> {
        let ends = self.bytes.get(self.at) == Some(&b'0');
        self.at += usize::from(ends);
        if !ends && self.at == self.bytes.len() {
            return Err(self.malformed("a dictionary has no end"));
        }
        Ok(ends)
    }

    /// A tuple of this many values, up to the first, and its place; or what a reference stands for.
    fn tuple(&mut self, count: usize) -> Result<Result<Option<usize>, Referred>, Broken> {
        let (code, place) = self.code()?;
        let length = match code {
            b')' => usize::from(self.array::<1>()?[0]),
            b'(' => self.length()?,
            b'r' => return self.reference().map(Err),
            _ => return Err(self.malformed("this is no tuple")),
        };
        if length != count {
            return Err(self.malformed("a tuple is longer or shorter than in a profile"));
        }
        Ok(Ok(place))
    }

    /// `(file, line, function)`
    fn function(&mut self, names: &mut Names) -> Result<Name, Broken> {
        let place = match self.tuple(3)? {
            Ok(place) => place,
            Err(Referred::Function(name)) => return Ok(name),
            Err(_) => return Err(self.malformed("this is no function")),
        };
        let file = self.text()?;
        let line = self.number()?;
        let function = self.text()?;
        let name = names.of(&described(&function, &file, &line.to_string()));
        self.keep(place, Referred::Function(name));
        Ok(name)
    }

    /// A tuple of counts, up to what follows the fourth.
    fn counts(&mut self, length: usize) -> Result<Counts, Broken> {
        if self.tuple(length)?.is_err() {
            return Err(self.malformed("counts are not referred to"));
        }
        let _without_recursion = self.number()?;
        Ok(Counts {
            calls: self.number()?,
            own: self.number()?,
            with_calls: self.number()?,
        })
    }

    /// What a caller has to do with a function: counts, or only the number of calls.
    fn edge(&mut self) -> Result<Counts, Broken> {
        match self.bytes.get(self.at).map(|code| code & !REFERRED_TO) {
            Some(b'(' | b')') => self.counts(4),
            _ => Ok(Counts {
                calls: self.number()?,
                ..Counts::default()
            }),
        }
    }

    fn text(&mut self) -> Result<String, Broken> {
        let (code, place) = self.code()?;
        let length = match code {
            b's' | b't' | b'u' | b'a' | b'A' => self.length()?,
            b'z' | b'Z' => usize::from(self.array::<1>()?[0]),
            b'r' => match self.reference()? {
                Referred::Text(start, end) => {
                    return Ok(String::from_utf8_lossy(&self.bytes[start..end]).into_owned());
                }
                _ => return Err(self.malformed("this is no text")),
            },
            _ => return Err(self.malformed("this is no text")),
        };
        let text = String::from_utf8_lossy(self.take(length)?).into_owned();
        self.keep(place, Referred::Text(self.at - length, self.at));
        Ok(text)
    }

    fn number(&mut self) -> Result<f64, Broken> {
        let (code, place) = self.code()?;
        let value = match code {
            b'i' => Referred::Whole(i64::from(i32::from_le_bytes(self.array()?))),
            b'I' => Referred::Whole(i64::from_le_bytes(self.array()?)),
            b'l' => Referred::Float(self.long()?),
            b'g' => Referred::Float(f64::from_le_bytes(self.array()?)),
            b'f' => {
                let length = usize::from(self.array::<1>()?[0]);
                let digits = std::str::from_utf8(self.take(length)?).ok();
                let number = digits.and_then(|digits| digits.parse().ok());
                Referred::Float(number.ok_or_else(|| self.malformed("this is no number"))?)
            }
            b'r' => self.reference()?,
            _ => return Err(self.malformed("this is no number")),
        };
        self.keep(place, value);
        match value {
            Referred::Whole(number) => Ok(number as f64),
            Referred::Float(number) if number.is_finite() => Ok(number),
            _ => Err(self.malformed("this is no number")),
        }
    }

    /// An integer of any length, in digits of 15 bits.
    fn long(&mut self) -> Result<f64, Broken> {
        const MOST_DIGITS: usize = 8;
        let count = i32::from_le_bytes(self.array()?);
        let digits = count.unsigned_abs() as usize;
        if digits > MOST_DIGITS {
            return Err(self.malformed("a number is too large"));
        }
        let mut sum = 0.0;
        for place in 0..digits {
            let digit = u16::from_le_bytes(self.array()?);
            sum += f64::from(digit) * 32768f64.powi(place as i32);
        }
        Ok(if count < 0 { -sum } else { sum })
    }

    fn malformed(&self, why: &str) -> Broken {
        Broken::at_byte(self.at as u64, why)
    }
}
