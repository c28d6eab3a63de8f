//! What `mprof run` of memory-profiler writes: memory over time, and when the functions it followed ran.

use std::io::Read;

use super::clock::nanoseconds;
use super::lines::for_each_line;
use super::{Broken, Names, Span, Timed};
use crate::log::row::parse_number;

const SECOND: i64 = 1_000_000_000;
const MEBIBYTE: f64 = 1_048_576.0;
/// So many readings of memory are kept; more are thinned out.
const MOST_READINGS: usize = 1 << 18;

/// Whether a line is of such a file.
pub(super) fn is_line(line: &[u8]) -> bool {
    [&b"CMDLINE "[..], b"MEM ", b"FUNC "]
        .iter()
        .any(|word| line.starts_with(word))
}

/// Reads the functions as spans, and the memory as bytes by time.
pub(super) fn read(
    input: impl Read,
    memory: &mut Vec<(i64, f64)>,
) -> Result<(Timed, Names), Broken> {
    let mut names = Names::default();
    let mut timed = Timed::default();
    let thread = timed.threads.of(b"", b"", None)?;
    let mut step = 1u64;
    let mut readings = 0u64;
    for_each_line(input, |number, line| {
        let words: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
        let time = |word: &[u8]| nanoseconds(word, SECOND);
        match words[..] {
            [b"MEM", size, at] => {
                let reading = time(at).zip(parse_number(size));
                let (at, size) =
                    reading.ok_or_else(|| Broken::at_line(number, "it has no size and time"))?;
                if readings.is_multiple_of(step) {
                    memory.push((at, size * MEBIBYTE));
                }
                readings += 1;
                if memory.len() == MOST_READINGS {
                    let mut is_kept = false;
                    memory.retain(|_| {
                        is_kept = !is_kept;
                        is_kept
                    });
                    step *= 2;
                }
            }
            [b"FUNC", name, _, start, _, end, ..] => {
                let bounds = time(start)
                    .zip(time(end))
                    .filter(|(start, end)| start <= end);
                let Some((start, end)) = bounds else {
                    timed.left_out += 1;
                    return Ok(());
                };
                let name = names.of(&String::from_utf8_lossy(name));
                timed.spans.push(Span {
                    start,
                    end,
                    name,
                    thread,
                    depth: 0,
                })?;
            }
            // The command, the memory of children, and whatever later versions add.
            _ => {}
        }
        Ok(())
    })?;
    Ok((timed, names))
}
