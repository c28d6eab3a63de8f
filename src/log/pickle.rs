//! Python pickles read as data: nothing in one is ever executed.
//!
//! Objects, calls and classes become nodes of a flat list that name what Python would have called.
//! Nodes refer to each other by number, so neither deep nesting nor a value that contains itself
//! costs more than the bytes that spell it. serde-pickle cannot be used here: it has no way to keep
//! the arguments of a `datetime`, the only object that is needed.

mod decoder;

use chrono::{NaiveDate, NaiveDateTime};

use decoder::Decoder;

/// The largest pickle that is read; those of experiment-impact-tracker have 60 to 90 kB.
pub const LARGEST_FILE: usize = 4 << 20;
/// The most values a pickle may hold.
const MOST_NODES: usize = 1 << 18;

/// The largest dictionary that is looked into; none that is needed has a hundred entries. A pickle may refer
/// to one dictionary any number of times, and each time it would be passed through again.
const MOST_ENTRIES: usize = 1 << 10;

/// Why a pickle was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PickleError {
    /// The file is larger than any `info.pkl`.
    #[error("it is larger than {} MB", LARGEST_FILE >> 20)]
    TooLarge,
    /// It holds more values than any `info.pkl`.
    #[error("it holds more than {MOST_NODES} values")]
    TooManyValues,
    /// It ends in the middle of a value.
    #[error("it ends in the middle, at byte {0}")]
    CutOff(usize),
    /// It has an operation that no `info.pkl` needs.
    #[error("byte {at} holds the opcode 0x{opcode:02x}, which we do not read")]
    Opcode {
        /// The operation.
        opcode: u8,
        /// Its place in the file.
        at: usize,
    },
    /// It takes a value that is not there.
    #[error("the opcode at byte {0} needs a value that is not there")]
    Stack(usize),
    /// A text is not UTF-8.
    #[error("the text at byte {0} is not UTF-8")]
    Text(usize),
}

/// A value by its place in the pickle's list of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct NodeId(u32);

#[derive(Debug, Clone, PartialEq)]
enum Node<'a> {
    None,
    Bool(bool),
    Int(i64),
    /// An integer of more than 64 bits; none that is needed has that many.
    LargeInt,
    Float(f64),
    Text(&'a str),
    Bytes(&'a [u8]),
    /// A list, tuple or set.
    Items(Vec<NodeId>),
    Dict(Vec<(NodeId, NodeId)>),
    Global {
        module: &'a str,
        name: &'a str,
    },
    /// What Python would have made by calling `callable` with `arguments`.
    Made(Box<Made>),
}

#[derive(Debug, Clone, PartialEq)]
struct Made {
    callable: NodeId,
    arguments: NodeId,
    state: Option<NodeId>,
    items: Vec<NodeId>,
    entries: Vec<(NodeId, NodeId)>,
}

/// A whole pickle, ready to be looked into.
#[derive(Debug)]
pub struct Pickle<'a> {
    nodes: Vec<Node<'a>>,
    top: NodeId,
}

/// One value inside a pickle.
#[derive(Debug, Clone, Copy)]
pub struct Value<'p, 'a> {
    pickle: &'p Pickle<'a>,
    id: NodeId,
}

impl<'a> Pickle<'a> {
    /// Decodes a pickle without running any code it names.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, PickleError> {
        if bytes.len() > LARGEST_FILE {
            return Err(PickleError::TooLarge);
        }
        Decoder::new(bytes).run()
    }

    /// The value that was pickled.
    #[must_use]
    pub fn top(&self) -> Value<'_, 'a> {
        Value {
            pickle: self,
            id: self.top,
        }
    }

    fn node(&self, id: NodeId) -> &Node<'a> {
        &self.nodes[id.0 as usize]
    }
}

impl<'p, 'a> Value<'p, 'a> {
    fn node(self) -> &'p Node<'a> {
        self.pickle.node(self.id)
    }

    fn at(self, id: NodeId) -> Self {
        Self { id, ..self }
    }

    /// The entry of a dictionary of usual size, or of an object's attributes, with this key.
    #[must_use]
    pub fn get(self, key: &str) -> Option<Self> {
        let entries = match self.node() {
            Node::Dict(entries) => entries,
            Node::Made(made) => match made.state.map(|state| self.pickle.node(state)) {
                Some(Node::Dict(entries)) => entries,
                _ => &made.entries,
            },
            _ => return None,
        };
        if entries.len() > MOST_ENTRIES {
            return None;
        }
        // The last entry wins, as it does in Python.
        entries
            .iter()
            .rev()
            .find(|(name, _)| matches!(self.pickle.node(*name), Node::Text(text) if *text == key))
            .map(|(_, value)| self.at(*value))
    }

    /// The members of a list, tuple or set.
    pub fn items(self) -> impl Iterator<Item = Self> {
        let items: &[NodeId] = match self.node() {
            Node::Items(items) => items,
            Node::Made(made) => &made.items,
            _ => &[],
        };
        items.iter().map(move |item| self.at(*item))
    }

    /// The text, if it is one.
    #[must_use]
    pub fn text(self) -> Option<&'a str> {
        match self.node() {
            Node::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The number, if it is one.
    #[must_use]
    pub fn number(self) -> Option<f64> {
        match self.node() {
            Node::Int(value) => Some(*value as f64),
            Node::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// A `datetime.datetime` without a time zone.
    #[must_use]
    pub fn naive_time(self) -> Option<NaiveDateTime> {
        let Node::Made(made) = self.node() else {
            return None;
        };
        if !self.at(made.callable).is_global("datetime", "datetime") {
            return None;
        }
        let fields = self.at(made.arguments).items().next()?.bytes()?;
        let &[y1, y2, month, day, hour, minute, second, u1, u2, u3] = fields.as_slice() else {
            return None;
        };
        let year = u16::from_be_bytes([y1, y2]);
        let micro = u32::from_be_bytes([0, u1, u2, u3]);
        NaiveDate::from_ymd_opt(year.into(), month.into(), day.into())?.and_hms_micro_opt(
            hour.into(),
            minute.into(),
            second.into(),
            micro,
        )
    }

    fn is_global(self, wanted_module: &str, wanted_name: &str) -> bool {
        matches!(self.node(), Node::Global { module, name }
            if *module == wanted_module && *name == wanted_name)
    }

    /// Bytes, also as protocol 2 spells them: text that is to be encoded as Latin-1.
    fn bytes(self) -> Option<Vec<u8>> {
        match self.node() {
            Node::Bytes(bytes) => Some(bytes.to_vec()),
            Node::Made(made) if self.at(made.callable).is_global("_codecs", "encode") => {
                let text = self.at(made.arguments).items().next()?.text()?;
                text.chars().map(|c| u8::try_from(c).ok()).collect()
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unhex(text: &str) -> Vec<u8> {
        text.as_bytes()
            .as_chunks()
            .0
            .iter()
            .map(|pair: &[u8; 2]| {
                u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()
            })
            .collect()
    }

    /// `pickle.dumps({"experiment_start": datetime(2019, 10, 31, 12, 0, 32, 779000), "n": [1, -2,
    /// 2**40, 2**80, 1.5, None, True], "t": ("a", b"b"), "long": -300}, protocol)`
    const PROTOCOLS: [&str; 4] = [
        concat!(
            "80027d71002858100000006578706572696d656e745f73746172747101636461746574696d650a64617465",
            "74696d650a7102635f636f646563730a656e636f64650a7103580d00000007c3a30a1f0c00200bc3a2c3b8",
            "710458060000006c6174696e31710586710652710785710852710958010000006e710a5d710b284b014afe",
            "ffffff8a060000000000018a0b0000000000000000000001473ff80000000000004e886558010000007471",
            "0c580100000061710d6803580100000062710e680586710f52711086711158040000006c6f6e6771124ad4",
            "feffff752e"
        ),
        concat!(
            "80037d71002858100000006578706572696d656e745f73746172747101636461746574696d650a64617465",
            "74696d650a7102430a07e30a1f0c00200be2f8710385710452710558010000006e71065d7107284b014afe",
            "ffffff8a060000000000018a0b0000000000000000000001473ff80000000000004e886558010000007471",
            "085801000000617109430162710a86710b58040000006c6f6e67710c4ad4feffff752e"
        ),
        concat!(
            "8004958a000000000000007d94288c106578706572696d656e745f7374617274948c086461746574696d65",
            "948c086461746574696d65949394430a07e30a1f0c00200be2f894859452948c016e945d94284b014afeff",
            "ffff8a060000000000018a0b0000000000000000000001473ff80000000000004e88658c0174948c016194",
            "4301629486948c046c6f6e67944ad4feffff752e"
        ),
        concat!(
            "8005958a000000000000007d94288c106578706572696d656e745f7374617274948c086461746574696d65",
            "948c086461746574696d65949394430a07e30a1f0c00200be2f894859452948c016e945d94284b014afeff",
            "ffff8a060000000000018a0b0000000000000000000001473ff80000000000004e88658c0174948c016194",
            "4301629486948c046c6f6e67944ad4feffff752e"
        ),
    ];

    #[test]
    fn all_protocols_from_two_to_five_read_the_same() {
        for hex in PROTOCOLS {
            let bytes = unhex(hex);
            let pickle = Pickle::decode(&bytes).unwrap();
            let top = pickle.top();
            assert_eq!(
                top.get("experiment_start")
                    .unwrap()
                    .naive_time()
                    .unwrap()
                    .to_string(),
                "2019-10-31 12:00:32.779"
            );
            let numbers: Vec<_> = top.get("n").unwrap().items().map(Value::number).collect();
            let expected = [
                Some(1.0),
                Some(-2.0),
                Some(1_099_511_627_776.0),
                None,
                Some(1.5),
                None,
                None,
            ];
            assert_eq!(numbers, expected);
            assert_eq!(top.get("long").unwrap().number(), Some(-300.0));
            assert_eq!(
                top.get("t").unwrap().items().next().unwrap().text(),
                Some("a")
            );
        }
    }

    #[test]
    fn a_call_to_the_shell_is_only_data() {
        // {"a": os.system("touch pwned")} as its `__reduce__` would have it.
        let bytes = unhex(concat!(
            "80047d948c0161948c05706f736978948c0673797374656d9493948c0b746f7563682070776e6564",
            "9485945294732e"
        ));
        let pickle = Pickle::decode(&bytes).unwrap();
        let call = pickle.top().get("a").unwrap();
        assert!(call.text().is_none() && call.number().is_none() && call.naive_time().is_none());
    }

    #[test]
    fn hostile_pickles_end_in_an_error() {
        let refused = |bytes: &[u8]| Pickle::decode(bytes).unwrap_err();
        assert_eq!(
            refused(b"\x80\x04\x8d\0\0\0\0\0\0\0\x10x"),
            PickleError::CutOff(11)
        );
        assert_eq!(refused(b"r\xff\xff\xff\xff"), PickleError::Stack(4));
        assert_eq!(refused(b"Nr\xff\xff\xff\xff."), PickleError::TooManyValues);
        assert_eq!(refused(b"h\0."), PickleError::Stack(0));
        assert_eq!(refused(b"(0."), PickleError::Stack(1));
        assert_eq!(
            refused(b"Pid\n."),
            PickleError::Opcode {
                opcode: b'P',
                at: 0
            }
        );
        assert_eq!(
            refused(&b"N".repeat(MOST_NODES + 1)),
            PickleError::TooManyValues
        );
        assert_eq!(
            refused(&vec![b'N'; LARGEST_FILE + 1]),
            PickleError::TooLarge
        );
    }

    #[test]
    fn a_dictionary_of_unusual_size_is_not_looked_into() {
        let of = |entries: usize| {
            let mut bytes = b"}(X\x01\0\0\0aK\x05".to_vec();
            bytes.extend(b"NN".repeat(entries - 1));
            bytes.extend(b"u.");
            bytes
        };
        let found = |bytes: &[u8]| {
            let pickle = Pickle::decode(bytes).unwrap();
            pickle.top().get("a").and_then(Value::number)
        };
        assert_eq!(found(&of(MOST_ENTRIES)), Some(5.0));
        assert_eq!(found(&of(MOST_ENTRIES + 1)), None);
    }

    #[test]
    fn deep_nesting_and_cycles_cost_no_more_than_their_bytes() {
        let mut deep = b"]".repeat(100_000);
        deep.extend(b"a".repeat(99_999));
        deep.push(b'.');
        assert!(Pickle::decode(&deep).is_ok());
        let cycle = Pickle::decode(b"]q\0h\0a.").unwrap();
        assert_eq!(cycle.top().items().next().unwrap().items().count(), 1);
    }

    proptest! {
        #[test]
        fn any_bytes_end_in_a_value_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            if let Ok(pickle) = Pickle::decode(&bytes) {
                let _ = (pickle.top().naive_time(), pickle.top().get("a").is_some());
            }
        }

        #[test]
        fn a_damaged_pickle_ends_in_a_value_or_an_error(at in 0..200usize, byte: u8, protocol in 0..4usize) {
            let mut bytes = unhex(PROTOCOLS[protocol]);
            let at = at % bytes.len();
            bytes[at] = byte;
            if let Ok(pickle) = Pickle::decode(&bytes) {
                let _ = pickle.top().get("experiment_start").and_then(Value::naive_time);
            }
        }
    }
}
