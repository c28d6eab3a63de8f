use std::borrow::Cow;
use std::collections::HashMap;

/// The rest of a longer name is cut off.
const LONGEST: usize = 4096;
/// Further names are counted under one.
const MOST: usize = 1 << 18;
/// Bytes of all names; further names are counted under one.
const MOST_BYTES: usize = 24 << 20;
const RECENT: usize = 1024;
const OTHERS: &str = "(other names)";

/// A name of a profile, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::ledger::attribute) struct Name(pub(in crate::ledger::attribute) u32);

/// The names of a profile, each once; their memory is bounded.
#[derive(Debug)]
pub(in crate::ledger::attribute) struct Names {
    numbers: HashMap<Box<str>, Name>,
    texts: Vec<Box<str>>,
    bytes: usize,
    /// Names that were looked up last, by a hash that is quick to compute.
    recent: Vec<Name>,
    /// Spans with a name for which there was no space.
    nameless: u64,
}

impl Default for Names {
    fn default() -> Self {
        let mut names = Self {
            numbers: HashMap::new(),
            texts: Vec::new(),
            bytes: 0,
            recent: vec![Self::OTHERS; RECENT],
            nameless: 0,
        };
        names.of(OTHERS);
        names
    }
}

impl Names {
    /// Under which names without space are counted.
    const OTHERS: Name = Name(0);

    pub(super) fn of(&mut self, text: &str) -> Name {
        let text = cut(text);
        if let Some(name) = self.numbers.get(text) {
            return *name;
        }
        if self.texts.len() == MOST || self.bytes + text.len() > MOST_BYTES {
            self.nameless += 1;
            return Self::OTHERS;
        }
        let name = Name(self.texts.len() as u32);
        self.bytes += text.len();
        self.texts.push(text.into());
        self.numbers.insert(text.into(), name);
        name
    }

    /// The name that a JSON string holds, given what is between its quotes.
    pub(super) fn of_json(&mut self, raw: &[u8]) -> Name {
        if memchr::memchr(b'\\', raw).is_some() {
            return self.of(&unescaped(raw));
        }
        let place = place_among_recent(raw);
        let recent = self.recent[place];
        if self.text(recent).as_bytes() == raw {
            return recent;
        }
        let name = self.of(&String::from_utf8_lossy(raw));
        self.recent[place] = name;
        name
    }

    pub(in crate::ledger::attribute) fn text(&self, name: Name) -> &str {
        &self.texts[name.0 as usize]
    }

    pub(in crate::ledger::attribute) fn len(&self) -> usize {
        self.texts.len()
    }

    /// How many spans are counted under a common name.
    pub(in crate::ledger::attribute) fn nameless(&self) -> u64 {
        self.nameless
    }
}

/// A place that depends on the length of a name, and on how it begins and ends.
fn place_among_recent(name: &[u8]) -> usize {
    let word = |part: &[u8]| {
        let mut word = [0; 8];
        word[..part.len()].copy_from_slice(part);
        u64::from_le_bytes(word)
    };
    let length = name.len().min(8);
    let (begin, end) = (word(&name[..length]), word(&name[name.len() - length..]));
    let mixed =
        (begin ^ end.rotate_left(29) ^ name.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 32) as usize % RECENT
}

/// What a JSON string means, given what is between its quotes.
pub(super) fn unescaped(raw: &[u8]) -> Cow<'_, str> {
    if memchr::memchr(b'\\', raw).is_some() {
        let quoted = [b"\"", raw, b"\""].concat();
        if let Ok(text) = serde_json::from_slice::<String>(&quoted) {
            return Cow::Owned(text);
        }
    }
    String::from_utf8_lossy(raw)
}

/// A function with the end of its path and its line: `forward (models/net.py:12)`. Functions in C have no file.
pub(super) fn described(function: &str, file: &str, line: &str) -> String {
    if matches!(file, "" | "~" | "<built-in>") {
        return function.to_owned();
    }
    let folder = file.rfind('/').and_then(|last| file[..last].rfind('/'));
    let file = folder.map_or(file, |folder| &file[folder + 1..]);
    match line {
        "" | "0" | "null" => format!("{function} ({file})"),
        line => format!("{function} ({file}:{line})"),
    }
}

fn cut(text: &str) -> &str {
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_has_one_number_however_it_is_written() {
        let mut names = Names::default();
        let name = names.of("forward é");
        assert_eq!(names.of_json(br"forward \u00e9"), name);
        for _ in 0..2 {
            assert_eq!(names.of_json("forward é".as_bytes()), name);
        }
        // What is written with a backslash is not what has one.
        let backslash = names.of(r"a\n");
        assert_ne!(names.of_json(br"a\n"), backslash);
        assert_eq!(names.of_json(br"a\\n"), backslash);
        assert_ne!(names.of("backward"), name);
        assert_eq!(names.text(name), "forward é");
    }

    #[test]
    fn a_function_is_told_from_others_of_its_name_by_file_and_line() {
        assert_eq!(
            described("f", "/home/me/net/layer.py", "7"),
            "f (net/layer.py:7)"
        );
        assert_eq!(described("f", "a.py", "null"), "f (a.py)");
        assert_eq!(described("len", "~", "0"), "len");
    }

    #[test]
    fn names_without_number_are_counted_under_one_and_long_ones_are_cut() {
        let mut names = Names::default();
        for number in 0..MOST + 5 {
            names.of(&number.to_string());
        }
        assert_eq!((names.len(), names.nameless()), (MOST, 6));
        let mut names = Names::default();
        let long = names.of(&"é".repeat(LONGEST));
        assert_eq!(names.text(long).len(), LONGEST);
        for number in 0..20_000 {
            names.of(&format!("{number}{}", "x".repeat(LONGEST)));
        }
        assert!(names.nameless() > 0 && names.bytes <= MOST_BYTES);
    }
}
