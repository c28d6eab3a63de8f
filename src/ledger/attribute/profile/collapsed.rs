//! Stacks with a number of samples, one a line: `main;train;forward 12`.

use std::io::Read;

use super::lines::for_each_line;
use super::{Broken, Names, Unit, Untimed};
use crate::ledger::attribute::paths::Paths;

/// More samples than any profile has.
const MOST_SAMPLES: u64 = 1 << 40;

/// Whether a line is a stack with a number.
pub(super) fn is_line(line: &[u8]) -> bool {
    parts(line.trim_ascii()).is_some_and(|(stack, _)| !stack.is_empty())
}

pub(super) fn read(input: impl Read) -> Result<(Untimed, Names), Broken> {
    let mut names = Names::default();
    let mut stacks = Untimed::new(Unit::Samples);
    for_each_line(input, |number, line| {
        let Some((stack, count)) = parts(line) else {
            let why = "it is not a stack and a number of samples, such as main;train 12";
            return Err(Broken::at_line(number, why));
        };
        let frames = stack
            .split(|byte| *byte == b';')
            .filter(|frame| !frame.is_empty());
        let path = frames.fold(Paths::ROOT, |path, frame| {
            let name = names.of(&String::from_utf8_lossy(frame));
            stacks.paths.child(path, name)
        });
        stacks.add(path, count);
        Ok(())
    })?;
    Ok((stacks, names))
}

/// The stack, which may be empty, and its number of samples.
fn parts(line: &[u8]) -> Option<(&[u8], u64)> {
    let digits = memchr::memrchr2(b' ', b'\t', line).map_or(0, |space| space + 1);
    let count: u64 = std::str::from_utf8(&line[digits..]).ok()?.parse().ok()?;
    (count <= MOST_SAMPLES).then_some((line[..digits].trim_ascii(), count))
}
