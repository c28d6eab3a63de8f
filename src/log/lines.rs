use std::io::{self, Read};

/// The longest line that is read; a longer one is reported as [`Line::TooLong`] and passed over.
pub(super) const LONGEST_LINE: usize = 8 << 20;
const FIRST_BUFFER: usize = 64 << 10;

/// Reads a file line by line in bounded memory, without copying lines out of its buffer.
#[derive(Debug)]
pub(super) struct Lines<R> {
    file: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    at_end: bool,
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
        }
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
    fn a_line_longer_than_any_sample_is_passed_over() {
        let mut bytes = vec![b'x'; LONGEST_LINE + FIRST_BUFFER];
        bytes.extend(b"\ny\n");
        assert_eq!(read(&bytes), ["too long", "whole 1"]);
    }
}
