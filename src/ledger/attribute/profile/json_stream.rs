use std::io::{self, Read};

use super::Broken;
use crate::log::fields::NotAnObject;

const FIRST_BUFFER: usize = 1 << 18;
/// No event of a trace is larger.
const LARGEST_OBJECT: usize = 16 << 20;

/// Reads JSON of any size piece by piece.
#[derive(Debug)]
pub(super) struct JsonStream<R> {
    input: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    at_end: bool,
    /// Bytes before the buffer.
    passed: u64,
}

impl<R: Read> JsonStream<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            input,
            buffer: vec![0; FIRST_BUFFER],
            start: 0,
            end: 0,
            at_end: false,
            passed: 0,
        }
    }

    /// How many bytes have been read.
    pub(super) fn position(&self) -> u64 {
        self.passed + self.start as u64
    }

    /// The next byte that is no space; none at the end.
    pub(super) fn peek(&mut self) -> Result<Option<u8>, Broken> {
        loop {
            let unread = &self.buffer[self.start..self.end];
            match unread.iter().position(|byte| !byte.is_ascii_whitespace()) {
                Some(spaces) => {
                    self.start += spaces;
                    return Ok(Some(self.buffer[self.start]));
                }
                None => self.start = self.end,
            }
            if self.at_end {
                return Ok(None);
            }
            self.fill()?;
        }
    }

    /// Passes over the byte that was seen.
    pub(super) fn take(&mut self) {
        self.start = (self.start + 1).min(self.end);
    }

    /// Passes over this byte, or fails.
    pub(super) fn expect(&mut self, byte: u8) -> Result<(), Broken> {
        if self.peek()? == Some(byte) {
            self.take();
            return Ok(());
        }
        Err(self.malformed())
    }

    /// Reads the object that comes next. `read` gets a text that begins with it and says how long it is; it is
    /// called again with more text where the object is not whole.
    pub(super) fn object(
        &mut self,
        mut read: impl FnMut(&[u8]) -> Result<Result<usize, Broken>, NotAnObject>,
    ) -> Result<(), Broken> {
        loop {
            match read(&self.buffer[self.start..self.end]) {
                Ok(length) => {
                    self.start += length?;
                    return Ok(());
                }
                Err(_) if self.at_end || self.end - self.start >= LARGEST_OBJECT => {
                    return Err(self.malformed());
                }
                Err(_) => self.fill()?,
            }
        }
    }

    /// A string of at most this many bytes, as written between its quotes; a longer one is cut off.
    pub(super) fn string(&mut self, most: usize) -> Result<Vec<u8>, Broken> {
        self.expect(b'"')?;
        let mut text = Vec::new();
        let mut is_escaped = false;
        loop {
            let byte = self.byte()?;
            match byte {
                b'"' if !is_escaped => return Ok(text),
                _ if text.len() < most => text.push(byte),
                _ => {}
            }
            is_escaped = byte == b'\\' && !is_escaped;
        }
    }

    /// A number or a word, such as `true`, of at most 64 bytes.
    pub(super) fn scalar(&mut self) -> Result<Vec<u8>, Broken> {
        const LONGEST: usize = 64;
        let mut text = Vec::new();
        self.peek()?;
        loop {
            if self.start == self.end && !self.at_end {
                self.fill()?;
            }
            match self.buffer[self.start..self.end].first() {
                Some(byte) if byte.is_ascii_alphanumeric() || b"+-.".contains(byte) => {
                    if text.len() == LONGEST {
                        return Err(self.malformed());
                    }
                    text.push(*byte);
                    self.start += 1;
                }
                _ if text.is_empty() => return Err(self.malformed()),
                _ => return Ok(text),
            }
        }
    }

    /// Passes over any value.
    pub(super) fn pass_over(&mut self) -> Result<(), Broken> {
        let mut depth = 0u64;
        loop {
            match self.peek()? {
                Some(b'"') => {
                    self.string(0)?;
                }
                Some(b'{' | b'[') => {
                    self.take();
                    depth += 1;
                    continue;
                }
                Some(b'}' | b']') if depth > 0 => {
                    self.take();
                    depth -= 1;
                }
                Some(b',' | b':') if depth > 0 => {
                    self.take();
                    continue;
                }
                _ => {
                    self.scalar()?;
                }
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    pub(super) fn malformed(&self) -> Broken {
        Broken::at_byte(
            self.position(),
            "this is not the JSON that is expected here",
        )
    }

    fn byte(&mut self) -> Result<u8, Broken> {
        while self.start == self.end {
            if self.at_end {
                return Err(self.malformed());
            }
            self.fill()?;
        }
        self.start += 1;
        Ok(self.buffer[self.start - 1])
    }

    /// Reads more behind what is unread.
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.passed += self.start as u64;
        self.end -= self.start;
        self.start = 0;
        if self.end == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.at_end = true,
                Ok(bytes) => self.end += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.0.len().min(1);
            buffer[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    #[test]
    fn any_value_is_passed_over_however_it_arrives() {
        let text = br#" {"a\"}":[1,{"b":"]"},-1.5e3,null]} "x" 12 ,"#;
        let mut stream = JsonStream::new(Slow(text));
        stream.pass_over().unwrap();
        assert_eq!(stream.string(9).unwrap(), b"x");
        assert_eq!(stream.scalar().unwrap(), b"12");
        assert_eq!(stream.peek().unwrap(), Some(b','));
        assert!(stream.pass_over().is_err());
    }

    #[test]
    fn a_value_without_end_is_an_error() {
        for text in ["[", "{\"a", "[[[[", "\"\\", ""] {
            assert!(
                JsonStream::new(text.as_bytes()).pass_over().is_err(),
                "{text}"
            );
        }
    }
}
