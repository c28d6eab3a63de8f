//! The last member of a line, a checksum of the bytes before it: damage shows even where the line can still be read.

/// What comes before the eight digits.
const START: &[u8] = b",\"crc\":\"";
/// What comes after them.
const END: &[u8] = b"\"}";
const DIGITS: usize = 8;
const LENGTH: usize = START.len() + DIGITS + END.len();

/// Adds the checksum to a JSON object that has at least one member.
pub(super) fn seal(object: &mut Vec<u8>) {
    if object.last() == Some(&b'}') {
        object.pop();
        object.truncate(object.trim_ascii_end().len());
        let sum = crc32fast::hash(object);
        object.extend_from_slice(START);
        object.extend_from_slice(format!("{sum:08x}").as_bytes());
        object.extend_from_slice(END);
    }
}

/// Whether a line has a checksum, right or wrong.
pub(super) fn is_sealed(line: &[u8]) -> bool {
    split(line).is_some()
}

/// Whether a line has no checksum or the right one.
pub(super) fn is_intact(line: &[u8]) -> bool {
    split(line).is_none_or(|(bytes, sum)| {
        std::str::from_utf8(sum)
            .ok()
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            == Some(crc32fast::hash(bytes))
    })
}

/// The object without its checksum; none if it has none.
pub(super) fn unsealed(line: &[u8]) -> Option<Vec<u8>> {
    let (bytes, _) = split(line)?;
    Some([bytes, b"}"].concat())
}

/// A line that was changed on purpose, with its checksum made anew if it has one.
pub(crate) fn resealed(line: &str) -> String {
    let text = line.trim_ascii_end();
    let Some(mut object) = unsealed(text.as_bytes()) else {
        return line.to_owned();
    };
    seal(&mut object);
    String::from_utf8_lossy(&object).into_owned() + &line[text.len()..]
}

/// The bytes before the checksum, and its digits.
fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let start = line.len().checked_sub(LENGTH)?;
    let (bytes, rest) = line.split_at(start);
    let digits = rest.strip_prefix(START)?.strip_suffix(END)?;
    Some((bytes, digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_any_byte_shows_unless_it_only_hides_the_checksum() {
        let mut line = br#"{"timestamp":1,"elapsed":2.5}"#.to_vec();
        let object = line.clone();
        seal(&mut line);
        assert!(is_intact(&line));
        assert_eq!(unsealed(&line), Some(object.clone()));
        for at in 0..line.len() {
            let mut damaged = line.clone();
            damaged[at] ^= 1;
            let hides = (object.len() - 1..object.len() - 1 + START.len()).contains(&at)
                || at >= line.len() - END.len();
            assert!(hides || !is_intact(&damaged), "{at}");
        }
        assert!(is_intact(&object));
    }
}
