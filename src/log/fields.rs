use wide::u8x16;

/// Walks over the fields of one JSON object without parsing the values.
///
/// Most bytes of a log are per-process tables that nothing is taken from. They are skipped 64 bytes
/// at a time by counting brackets outside of strings; a value is only checked once it is parsed.
#[derive(Debug)]
pub(crate) struct Fields<'a> {
    text: &'a [u8],
    at: usize,
    state: State,
    /// Whether other text may follow the object.
    is_followed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    First,
    Next,
    Done,
}

/// A name and the text of its value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Field<'a> {
    /// As written, between its quotes.
    pub name: &'a [u8],
    pub value: &'a [u8],
}

/// The text is not one whole JSON object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not one whole JSON object")]
pub(crate) struct NotAnObject;

impl<'a> Fields<'a> {
    #[must_use]
    pub(crate) fn of(text: &'a [u8]) -> Self {
        Self {
            text,
            at: 0,
            state: State::First,
            is_followed: false,
        }
    }

    /// The object that the text begins with.
    #[must_use]
    pub(crate) fn beginning(text: &'a [u8]) -> Self {
        Self {
            is_followed: true,
            ..Self::of(text)
        }
    }

    /// How many bytes have been read; after the last field, the length of the object.
    #[must_use]
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// The next field, or none after the last.
    pub(crate) fn next_field(&mut self) -> Result<Option<Field<'a>>, NotAnObject> {
        if self.state == State::Done {
            return Ok(None);
        }
        self.space();
        match self.state {
            State::First => {
                self.expect(b'{')?;
                self.space();
            }
            State::Next | State::Done => {}
        }
        match self.peek() {
            Some(b'}') => {
                self.at += 1;
                return self.finish();
            }
            Some(b',') if self.state == State::Next => {
                self.at += 1;
                self.space();
            }
            _ if self.state == State::First => {}
            _ => return Err(NotAnObject),
        }
        self.state = State::Next;
        let name_start = self.at + 1;
        self.string()?;
        let name = &self.text[name_start..self.at - 1];
        self.space();
        self.expect(b':')?;
        self.space();
        let value_start = self.at;
        self.value()?;
        let value = &self.text[value_start..self.at];
        Ok(Some(Field { name, value }))
    }

    fn finish(&mut self) -> Result<Option<Field<'a>>, NotAnObject> {
        self.state = State::Done;
        if self.is_followed {
            return Ok(None);
        }
        self.space();
        if self.at == self.text.len() {
            Ok(None)
        } else {
            Err(NotAnObject)
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn expect(&mut self, byte: u8) -> Result<(), NotAnObject> {
        if self.peek() == Some(byte) {
            self.at += 1;
            Ok(())
        } else {
            Err(NotAnObject)
        }
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.peek() {
            self.at += 1;
        }
    }

    fn value(&mut self) -> Result<(), NotAnObject> {
        match self.peek().ok_or(NotAnObject)? {
            b'"' => self.string(),
            b'{' | b'[' => {
                self.at += container_length(&self.text[self.at..]).ok_or(NotAnObject)?;
                Ok(())
            }
            _ => {
                let length = scalar_length(&self.text[self.at..]).ok_or(NotAnObject)?;
                if length == 0 {
                    return Err(NotAnObject);
                }
                self.at += length;
                Ok(())
            }
        }
    }

    fn string(&mut self) -> Result<(), NotAnObject> {
        self.expect(b'"')?;
        loop {
            let rest = &self.text[self.at..];
            let found = quote_or_backslash(rest).ok_or(NotAnObject)?;
            if rest[found] == b'"' {
                self.at += found + 1;
                return Ok(());
            }
            self.at += found + 2;
            if self.at > self.text.len() {
                return Err(NotAnObject);
            }
        }
    }
}

/// Where the next quote or backslash is. Most strings are so short that a call would take longer than to look.
#[inline]
fn quote_or_backslash(text: &[u8]) -> Option<usize> {
    if let Some(block) = text.first_chunk() {
        let bytes = u8x16::new(*block);
        let found = bytes.cmp_eq(u8x16::splat(b'"')) | bytes.cmp_eq(u8x16::splat(b'\\'));
        let found = found.move_mask();
        if found != 0 {
            return Some(found.trailing_zeros() as usize);
        }
    }
    memchr::memchr2(b'"', b'\\', text)
}

/// The length of the number or word that the text begins with.
#[inline]
fn scalar_length(text: &[u8]) -> Option<usize> {
    if let Some(block) = text.first_chunk() {
        let bytes = u8x16::new(*block);
        let is = |byte: u8| bytes.cmp_eq(u8x16::splat(byte));
        let found = is(b',') | is(b'}') | is(b' ') | is(b'\n') | is(b'\t') | is(b'\r');
        let found = found.move_mask();
        if found != 0 {
            return Some(found.trailing_zeros() as usize);
        }
    }
    text.iter()
        .position(|byte| matches!(byte, b',' | b'}' | b' ' | b'\n' | b'\t' | b'\r'))
}

const BLOCK: usize = 64;

/// The length of the object or array the text begins with.
fn container_length(text: &[u8]) -> Option<usize> {
    let mut depth: u32 = 0;
    let mut in_string = false;
    let mut escaped = false;
    let mut start = 0;
    while start < text.len() {
        let mut padded = [b' '; BLOCK];
        let block: &[u8; BLOCK] = if let Some(whole) = text[start..].first_chunk() {
            whole
        } else {
            padded[..text.len() - start].copy_from_slice(&text[start..]);
            &padded
        };
        let marks = Marks::of(block, &mut in_string, &mut escaped);
        if marks.closing.count_ones() < depth {
            depth += marks.opening.count_ones();
            depth -= marks.closing.count_ones();
        } else {
            let mut brackets = marks.opening | marks.closing;
            while brackets != 0 {
                let lowest = brackets & brackets.wrapping_neg();
                if marks.opening & lowest != 0 {
                    depth += 1;
                } else {
                    depth = depth.checked_sub(1)?;
                }
                if depth == 0 {
                    return Some(start + lowest.trailing_zeros() as usize + 1);
                }
                brackets ^= lowest;
            }
        }
        start += BLOCK;
    }
    None
}

/// Which bytes of a block are brackets outside of strings, a bit each.
struct Marks {
    opening: u64,
    closing: u64,
}

impl Marks {
    fn of(block: &[u8; BLOCK], in_string: &mut bool, escaped: &mut bool) -> Self {
        let mut quotes = 0;
        let mut backslashes = 0;
        let mut opening = 0;
        let mut closing = 0;
        for (lane, bytes) in block.as_chunks::<16>().0.iter().enumerate() {
            let bytes = u8x16::new(*bytes);
            // `[` and `{`, and `]` and `}`, differ in this bit alone.
            let folded = bytes | u8x16::splat(0x20);
            let bits = |equal: u8x16| u64::from(equal.move_mask() as u16) << (16 * lane);
            quotes |= bits(bytes.cmp_eq(u8x16::splat(b'"')));
            backslashes |= bits(bytes.cmp_eq(u8x16::splat(b'\\')));
            opening |= bits(folded.cmp_eq(u8x16::splat(b'{')));
            closing |= bits(folded.cmp_eq(u8x16::splat(b'}')));
        }
        if backslashes != 0 || *escaped {
            quotes &= !escaped_bytes(backslashes, escaped);
        }
        let inside = prefix_xor(quotes) ^ if *in_string { u64::MAX } else { 0 };
        *in_string = inside >> (BLOCK - 1) != 0;
        Self {
            opening: opening & !inside,
            closing: closing & !inside,
        }
    }
}

/// Bit n says whether an odd number of bits up to n is set.
fn prefix_xor(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

/// The bytes that follow a backslash which is not itself escaped.
fn escaped_bytes(backslashes: u64, escaped: &mut bool) -> u64 {
    let mut behind = 0;
    for bit in 0..BLOCK {
        if *escaped {
            behind |= 1 << bit;
            *escaped = false;
        } else {
            *escaped = backslashes >> bit & 1 != 0;
        }
    }
    behind
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    fn names_and_values(text: &[u8]) -> Result<Vec<(String, String)>, NotAnObject> {
        let mut fields = Fields::of(text);
        let mut seen = Vec::new();
        while let Some(Field { name, value }) = fields.next_field()? {
            let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
            seen.push((text(name), text(value)));
        }
        Ok(seen)
    }

    #[test]
    fn values_come_out_as_written() {
        let text = br#" {"a":1.5,"b" : {"c":["}",{"\"]":2}]},"d":"x\\\"}", "e":[] } "#;
        let expected = [
            ("a", "1.5"),
            ("b", r#"{"c":["}",{"\"]":2}]}"#),
            ("d", r#""x\\\"}""#),
            ("e", "[]"),
        ];
        let seen = names_and_values(text).unwrap();
        assert_eq!(seen, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    }

    #[test]
    fn an_object_may_begin_a_longer_text() {
        let text = b"{\n \"a\": 1\n},\n{}";
        let mut fields = Fields::beginning(text);
        let field = fields.next_field().unwrap().unwrap();
        assert_eq!((field.name, field.value), (&b"a"[..], &b"1"[..]));
        assert_eq!(fields.next_field(), Ok(None));
        assert_eq!(fields.next_field(), Ok(None));
        assert_eq!(&text[fields.position()..], b",\n{}");
    }

    #[test]
    fn a_cut_object_is_no_object() {
        let whole = br#"{"a":{"b":[1,2,"]"]},"c":"d"}"#;
        assert!(names_and_values(whole).is_ok());
        for length in 0..whole.len() {
            assert_eq!(
                names_and_values(&whole[..length]),
                Err(NotAnObject),
                "{length}"
            );
        }
        assert_eq!(names_and_values(b"{} {}"), Err(NotAnObject));
        assert_eq!(names_and_values(b"{,}"), Err(NotAnObject));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<i32>().prop_map(Value::from),
            "[\\\\\"{}\\[\\]a ]{0,80}".prop_map(Value::from),
            Just(Value::Null),
        ];
        leaf.prop_recursive(4, 64, 8, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
                proptest::collection::btree_map("[\\\\\"{}\\[\\]b]{0,12}", inner, 0..8)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn skipping_agrees_with_a_full_parser(values in proptest::collection::vec(any_json(), 0..6)) {
            let object: serde_json::Map<String, Value> =
                values.into_iter().enumerate().map(|(n, v)| (format!("k{n}"), v)).collect();
            let text = serde_json::to_string(&object).unwrap();
            let seen = names_and_values(text.as_bytes()).unwrap();
            prop_assert_eq!(seen.len(), object.len());
            for (name, value) in seen {
                prop_assert_eq!(&serde_json::from_str::<Value>(&value).unwrap(), &object[&name]);
            }
        }

        #[test]
        fn any_bytes_end_in_fields_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = names_and_values(&bytes);
        }
    }
}
