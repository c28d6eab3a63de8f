use std::io::{BufRead as _, BufReader, Read};

use super::Broken;

/// No line of a profile is longer.
const LONGEST: u64 = 1 << 20;

/// Shows every line that is not empty, with its number from 1.
pub(super) fn for_each_line(
    input: impl Read,
    mut see: impl FnMut(u64, &[u8]) -> Result<(), Broken>,
) -> Result<(), Broken> {
    let mut input = BufReader::with_capacity(1 << 16, input);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        if (&mut input)
            .take(LONGEST + 1)
            .read_until(b'\n', &mut line)?
            == 0
        {
            break;
        }
        if line.len() as u64 > LONGEST {
            return Err(Broken::at_line(number, "it is longer than 1 MB"));
        }
        let text = line.trim_ascii();
        if !text.is_empty() {
            see(number, text)?;
        }
    }
    Ok(())
}
