use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::files;

/// The longest line that is read; a longer one is reported as [`Line::TooLong`] and passed over.
pub(super) const LONGEST_LINE: usize = 8 << 20;
const FIRST_BUFFER: usize = 64 << 10;

/// More bytes in lines that are too long are no damage: a file with terabytes of nothing takes hours to read.
const MOST_PASSED_OVER: u64 = 64 << 20;
/// Two years of samples of 1 kB each second.
const LARGEST_LOG: u64 = 64 << 30;

/// Opens the samples of a log.
///
/// # Errors
///
/// `FileTooLarge` if no log can be as large, and the errors of [`files::open`].
pub(super) fn open(data: &Path) -> io::Result<File> {
    let file = files::open(data)?;
    if file.metadata()?.len() > LARGEST_LOG {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            "larger than 64 GB",
        ));
    }
    Ok(file)
}

/// The bytes of lines that are too long, so far.
#[derive(Debug, Default)]
pub(super) struct PassedOver(u64);

impl PassedOver {
    /// Adds some bytes.
    ///
    /// # Errors
    ///
    /// If there are too many for a log.
    pub(super) fn add(&mut self, bytes: usize) -> io::Result<()> {
        self.0 += bytes as u64;
        if self.0 > MOST_PASSED_OVER {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "more than 64 MB of it are no lines of a log",
            ));
        }
        Ok(())
    }
}

/// Reads a file line by line in bounded memory, without copying lines out of its buffer.
#[derive(Debug)]
pub(super) struct Lines<R> {
    file: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    at_end: bool,
    passed_over: PassedOver,
}

/// One line, without its line feed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    Whole(&'a [u8]),
    /// The file ends before the line does, as when its writer was killed.
    Cut(&'a [u8]),
    TooLong,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(file: R) -> Self {
        Self {
            file,
            buffer: vec![0; FIRST_BUFFER],
            start: 0,
            end: 0,
            at_end: false,
            passed_over: PassedOver::default(),
        }
    }

    /// As many of the first lines as are wanted and the first buffer holds; they are not passed over.
    pub(super) fn peek(&mut self, wanted: usize) -> io::Result<impl Iterator<Item = &[u8]>> {
        let count = |bytes: &[u8]| memchr::memchr_iter(b'\n', bytes).take(wanted).count();
        while !self.at_end
            && self.end < self.buffer.len()
            && count(&self.buffer[self.start..self.end]) < wanted
        {
            self.fill()?;
        }
        let read = &self.buffer[self.start..self.end];
        Ok(read.split(|byte| *byte == b'\n').take(wanted))
    }

    /// The next line, or none at the end of the file.
    pub(super) fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut searched = self.start;
        loop {
            if let Some(found) = memchr::memchr(b'\n', &self.buffer[searched..self.end]) {
                let line = self.start..searched + found;
                self.start = line.end + 1;
                return Ok(Some(Line::Whole(&self.buffer[line])));
            }
            if self.at_end {
                let line = self.start..self.end;
                self.start = self.end;
                return Ok((!line.is_empty()).then(|| Line::Cut(&self.buffer[line])));
            }
            searched = self.end - self.start;
            self.make_room();
            if self.end == self.buffer.len() {
                self.pass_over_line()?;
                return Ok(Some(Line::TooLong));
            }
            self.fill()?;
        }
    }

    /// Moves the unread part to the front, and grows the buffer when that part fills it.
    fn make_room(&mut self) {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end == self.buffer.len() && self.buffer.len() < LONGEST_LINE {
            self.buffer
                .resize((self.buffer.len() * 2).min(LONGEST_LINE), 0);
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        loop {
            match self.file.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.at_end = true,
                Ok(bytes) => self.end += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            return Ok(());
        }
    }

    fn pass_over_line(&mut self) -> io::Result<()> {
        loop {
            self.passed_over.add(self.end)?;
            (self.start, self.end) = (0, 0);
            self.fill()?;
            if let Some(found) = memchr::memchr(b'\n', &self.buffer[..self.end]) {
                self.start = found + 1;
                return Ok(());
            }
            if self.at_end {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Vec<String> {
        let mut lines = Lines::new(bytes);
        let mut seen = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            seen.push(match line {
                Line::Whole(bytes) => format!("whole {}", bytes.len()),
                Line::Cut(bytes) => format!("cut {}", bytes.len()),
                Line::TooLong => "too long".to_owned(),
            });
        }
        seen
    }

    #[test]
    fn a_file_without_a_last_line_feed_ends_in_a_cut_line() {
        assert_eq!(read(b"one\n\nthree"), ["whole 3", "whole 0", "cut 5"]);
        assert!(read(b"").is_empty());
    }

    #[test]
    fn a_line_longer_than_the_buffer_is_read_whole() {
        let mut bytes = vec![b'x'; 3 * FIRST_BUFFER];
        bytes.push(b'\n');
        bytes.extend(b"y\n");
        assert_eq!(
            read(&bytes),
            [&format!("whole {}", 3 * FIRST_BUFFER), "whole 1"]
        );
    }

    #[test]
    fn a_file_of_few_lines_and_many_bytes_is_no_log() {
        let line = || {
            io::repeat(0)
                .take(2 * LONGEST_LINE as u64)
                .chain(&b"\n"[..])
        };
        let mut few = Lines::new(line().chain(line()));
        assert_eq!(few.next_line().unwrap(), Some(Line::TooLong));
        assert_eq!(few.next_line().unwrap(), Some(Line::TooLong));
        let mut endless = Lines::new(line().chain(io::repeat(0)));
        assert_eq!(endless.next_line().unwrap(), Some(Line::TooLong));
        assert!(endless.next_line().is_err());
    }

    #[test]
    fn a_line_longer_than_any_sample_is_passed_over() {
        let mut bytes = vec![b'x'; LONGEST_LINE + FIRST_BUFFER];
        bytes.extend(b"\ny\n");
        assert_eq!(read(&bytes), ["too long", "whole 1"]);
    }
}
