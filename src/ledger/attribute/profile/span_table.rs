//! A table of spans: CSV with the columns `name`, `start` and `end` in seconds, and `device` and `thread` if wanted.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

use csv::{ByteRecord, ReaderBuilder};

use super::clock::nanoseconds;
use super::{Broken, Names, Place, Span, Timed};

const SECOND: i64 = 1_000_000_000;
/// A row is not longer; the reader keeps a whole row in memory.
const LONGEST_ROW: usize = 1 << 20;

/// Where the columns are.
#[derive(Debug)]
struct Columns {
    name: usize,
    start: usize,
    end: usize,
    device: Option<usize>,
    thread: Option<usize>,
}

impl Columns {
    fn of(header: &ByteRecord) -> Option<Self> {
        let place = |wanted: &str| {
            header.iter().position(|cell| {
                let cell = cell.strip_prefix("\u{feff}".as_bytes()).unwrap_or(cell);
                cell.trim_ascii().eq_ignore_ascii_case(wanted.as_bytes())
            })
        };
        Some(Self {
            name: place("name")?,
            start: place("start")?,
            end: place("end")?,
            device: place("device"),
            thread: place("thread"),
        })
    }
}

/// Whether a line names the columns of such a table.
pub(super) fn is_header(line: &[u8]) -> bool {
    let mut reader = ReaderBuilder::new().has_headers(false).from_reader(line);
    let mut header = ByteRecord::new();
    matches!(reader.read_byte_record(&mut header), Ok(true)) && Columns::of(&header).is_some()
}

pub(super) fn read(input: impl Read) -> Result<(Timed, Names), Broken> {
    let allowance = Rc::new(Cell::new(LONGEST_ROW));
    let input = Limited {
        input,
        allowance: Rc::clone(&allowance),
    };
    let mut reader = ReaderBuilder::new().flexible(true).from_reader(input);
    let columns = Columns::of(reader.byte_headers().map_err(broken)?);
    let columns = columns
        .ok_or_else(|| Broken::at_line(1, "it does not name the columns name, start and end"))?;
    let mut names = Names::default();
    let mut timed = Timed::default();
    let mut row = ByteRecord::new();
    loop {
        allowance.set(LONGEST_ROW);
        if !reader.read_byte_record(&mut row).map_err(broken)? {
            return Ok((timed, names));
        }
        let cell = |place: usize| row.get(place).unwrap_or_default().trim_ascii();
        let device = columns.device.map_or(&b""[..], cell);
        let Some(place) = place_named(device) else {
            let line = row.position().map_or(0, csv::Position::line);
            let device = String::from_utf8_lossy(device);
            let why = format!(
                "`{}` is no device such as cpu or gpu:0",
                device.escape_debug()
            );
            return Err(Broken::at_line(line, why));
        };
        let bounds =
            nanoseconds(cell(columns.start), SECOND).zip(nanoseconds(cell(columns.end), SECOND));
        let Some((start, end)) = bounds.filter(|(start, end)| start <= end) else {
            timed.left_out += 1;
            continue;
        };
        let thread = columns.thread.map_or(&b""[..], cell);
        let thread = timed.threads.of(b"", thread, Some(place))?;
        let name = names.of(&String::from_utf8_lossy(cell(columns.name)));
        timed.spans.push(Span {
            start,
            end,
            name,
            thread,
            depth: 0,
        })?;
    }
}

/// `cpu`, or nothing; `gpu`, `gpu:1`, `gpu 1`, `cuda:1`.
fn place_named(device: &[u8]) -> Option<Place> {
    let device = std::str::from_utf8(device).ok()?.to_ascii_lowercase();
    if matches!(&device[..], "" | "cpu" | "host") {
        return Some(Place::Host);
    }
    let number = device
        .strip_prefix("gpu")
        .or_else(|| device.strip_prefix("cuda"))?;
    match number.trim_start_matches([':', ' ']) {
        "" => Some(Place::Gpu(0)),
        digits => digits.parse().ok().map(Place::Gpu),
    }
}

fn broken(error: csv::Error) -> Broken {
    let line = error.position().map(csv::Position::line);
    match error.into_kind() {
        csv::ErrorKind::Io(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            Broken::at_line(line.unwrap_or(0), "a row is longer than 1 MB")
        }
        csv::ErrorKind::Io(error) => Broken::Io(error),
        _ => Broken::at_line(line.unwrap_or(0), "it is no row of a table"),
    }
}

/// Reads no more than is allowed until the allowance is renewed.
struct Limited<R> {
    input: R,
    allowance: Rc<Cell<usize>>,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.allowance.get();
        if left == 0 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let most = buffer.len().min(left);
        let read = self.input.read(&mut buffer[..most])?;
        self.allowance.set(left - read);
        Ok(read)
    }
}
