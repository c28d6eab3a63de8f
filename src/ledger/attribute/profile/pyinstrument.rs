//! The JSON of pyinstrument: a tree of frames with their times.

use std::io::Read;

use super::clock::{nanoseconds, rounded};
use super::json_stream::JsonStream;
use super::names::{described, unescaped};
use super::{Broken, MOST_OPEN, Name, Names, Unit, Untimed};
use crate::ledger::attribute::paths::Paths;
use crate::log::row::parse_number;

const SECOND: i64 = 1_000_000_000;
const LONGEST_TEXT: usize = 4096;
const MOST_FRAMES: usize = 1 << 20;
/// The time that a frame spent itself, as a frame within it.
const SELF: &str = "[self]";

#[derive(Debug)]
struct Frame {
    parent: Option<u32>,
    name: Option<Name>,
    time: u64,
}

/// What is read of a frame before it is known whole.
#[derive(Debug, Default)]
struct Description {
    function: String,
    file: String,
    line: String,
}

#[derive(Debug)]
enum Level {
    Frame(u32, Description),
    Children(u32),
    Other,
}

pub(super) fn read(input: impl Read) -> Result<(Untimed, Names), Broken> {
    let mut stream = JsonStream::new(input);
    let mut names = Names::default();
    let mut frames = Vec::new();
    let (mut started, mut lasted) = (None, None);
    stream.expect(b'{')?;
    loop {
        stream.peek()?;
        let key = stream.string(LONGEST_TEXT)?;
        stream.expect(b':')?;
        match (&key[..], stream.peek()?) {
            (b"root_frame", Some(b'{')) => frames = read_frames(&mut stream, &mut names)?,
            (b"start_time", Some(b'0'..=b'9')) => started = nanoseconds(&stream.scalar()?, SECOND),
            (b"duration", Some(b'0'..=b'9')) => lasted = nanoseconds(&stream.scalar()?, SECOND),
            _ => stream.pass_over()?,
        }
        match stream.peek()? {
            Some(b',') => stream.take(),
            Some(b'}') => break,
            _ => return Err(stream.malformed()),
        }
    }
    let mut tree = Untimed::new(Unit::Nanoseconds);
    tree.window = started.zip(lasted);
    own_times(&frames, &mut tree, &mut names);
    Ok((tree, names))
}

/// The time of a frame that its children do not have is its own.
fn own_times(frames: &[Frame], tree: &mut Untimed, names: &mut Names) {
    let this = names.of(SELF);
    let mut of_children = vec![0u64; frames.len()];
    for frame in frames {
        if let Some(parent) = frame.parent {
            let sum = &mut of_children[parent as usize];
            *sum = sum.saturating_add(frame.time);
        }
    }
    let mut paths: Vec<u32> = Vec::with_capacity(frames.len());
    for (frame, of_children) in frames.iter().zip(of_children) {
        let parent = frame
            .parent
            .map_or(Paths::ROOT, |parent| paths[parent as usize]);
        let path = match frame.name {
            Some(name) if name == this => parent,
            name => tree.paths.child(parent, name.unwrap_or(this)),
        };
        paths.push(path);
        tree.add(path, frame.time.saturating_sub(of_children));
    }
}

/// Frames may be nested deeper than the stack of a thread allows, so they are read without recursion.
fn read_frames<R: Read>(
    stream: &mut JsonStream<R>,
    names: &mut Names,
) -> Result<Vec<Frame>, Broken> {
    let mut frames: Vec<Frame> = Vec::new();
    let mut levels: Vec<Level> = Vec::new();
    let mut key = Vec::new();
    loop {
        if levels.len() == MOST_OPEN {
            return Err(Broken::TooMany("values within each other", MOST_OPEN));
        }
        match stream.peek()? {
            Some(b'{') => {
                stream.take();
                let parent = match levels.last() {
                    None => None,
                    Some(Level::Children(parent)) => Some(*parent),
                    Some(_) => {
                        levels.push(Level::Other);
                        continue;
                    }
                };
                if frames.len() == MOST_FRAMES {
                    return Err(Broken::TooMany("frames", MOST_FRAMES));
                }
                levels.push(Level::Frame(frames.len() as u32, Description::default()));
                frames.push(Frame {
                    parent,
                    name: None,
                    time: 0,
                });
            }
            Some(b'[') => {
                stream.take();
                levels.push(match levels.last() {
                    Some(Level::Frame(frame, _)) if key == b"children" => Level::Children(*frame),
                    _ => Level::Other,
                });
            }
            Some(b'}' | b']') => {
                stream.take();
                if let Some(Level::Frame(frame, about)) = levels.pop() {
                    frames[frame as usize].name = Some(names.of(&about.name()));
                }
                if levels.is_empty() {
                    return Ok(frames);
                }
            }
            Some(b',') => stream.take(),
            Some(b'"') => {
                let text = stream.string(LONGEST_TEXT)?;
                if stream.peek()? == Some(b':') {
                    stream.take();
                    key = text;
                } else if let Some(Level::Frame(_, about)) = levels.last_mut() {
                    about.see(&key, unescaped(&text).into_owned());
                }
            }
            _ => {
                let number = stream.scalar()?;
                match levels.last_mut() {
                    Some(Level::Frame(frame, _)) if key == b"time" => {
                        let time = parse_number(&number).and_then(|time| rounded(time, SECOND));
                        frames[*frame as usize].time = time.unwrap_or(0).max(0).unsigned_abs();
                    }
                    Some(Level::Frame(_, about)) => {
                        about.see(&key, String::from_utf8_lossy(&number).into_owned());
                    }
                    _ => {}
                }
            }
        }
    }
}

impl Description {
    fn see(&mut self, key: &[u8], value: String) {
        match key {
            b"function" => self.function = value,
            b"file_path_short" => self.file = value,
            b"line_no" => self.line = value,
            _ => {}
        }
    }

    fn name(&self) -> String {
        if self.function == SELF {
            return self.function.clone();
        }
        described(&self.function, &self.file, &self.line)
    }
}
