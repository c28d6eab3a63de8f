use super::{MOST_NODES, Made, Node, NodeId, Pickle, PickleError};

/// The stack machine a pickle is a program for, with every call kept as data.
pub(super) struct Decoder<'a> {
    bytes: &'a [u8],
    at: usize,
    nodes: Vec<Node<'a>>,
    stack: Vec<NodeId>,
    marks: Vec<usize>,
    memo: Vec<Option<NodeId>>,
}

impl<'a> Decoder<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            nodes: Vec::new(),
            stack: Vec::new(),
            marks: Vec::new(),
            memo: Vec::new(),
        }
    }

    #[allow(clippy::too_many_lines, reason = "one arm an opcode, in one list")]
    pub(super) fn run(mut self) -> Result<Pickle<'a>, PickleError> {
        loop {
            let at = self.at;
            let opcode = self.byte()?;
            match opcode {
                b'.' => {
                    let top = self.pop()?;
                    return Ok(Pickle {
                        nodes: self.nodes,
                        top,
                    });
                }
                0x80 => self.skip(1)?,
                0x95 => self.skip(8)?,
                b'(' => self.marks.push(self.stack.len()),
                b'0' => drop(self.pop()?),
                b'1' => drop(self.pop_to_mark()?),
                b'2' => {
                    let top = self.peek()?;
                    self.stack.push(top);
                }
                b'N' => self.push(Node::None)?,
                0x88 => self.push(Node::Bool(true))?,
                0x89 => self.push(Node::Bool(false))?,
                b'J' => self.long(4)?,
                b'K' => self.unsigned::<1>()?,
                b'M' => self.unsigned::<2>()?,
                0x8a => {
                    let length = usize::from(self.byte()?);
                    self.long(length)?;
                }
                0x8b => {
                    let length = self.length::<4>()?;
                    self.long(length)?;
                }
                b'G' => {
                    let value = f64::from_be_bytes(self.array()?);
                    self.push(Node::Float(value))?;
                }
                0x8c => self.text::<1>()?,
                b'X' => self.text::<4>()?,
                0x8d => self.text::<8>()?,
                b'C' | b'U' => self.blob::<1>(opcode)?,
                b'B' | b'T' => self.blob::<4>(opcode)?,
                0x8e | 0x96 => self.blob::<8>(opcode)?,
                b']' | b')' | 0x8f => self.push(Node::Items(Vec::new()))?,
                b'}' => self.push(Node::Dict(Vec::new()))?,
                0x85 => self.tuple(1)?,
                0x86 => self.tuple(2)?,
                0x87 => self.tuple(3)?,
                b't' | b'l' | 0x91 => {
                    let items = self.pop_to_mark()?;
                    self.push(Node::Items(items))?;
                }
                b'd' => {
                    let flat = self.pop_to_mark()?;
                    self.push(Node::Dict(pairs(&flat)))?;
                }
                b'a' => {
                    let item = self.pop()?;
                    self.append(&[item])?;
                }
                b'e' | 0x90 => {
                    let items = self.pop_to_mark()?;
                    self.append(&items)?;
                }
                b's' => {
                    let value = self.pop()?;
                    let key = self.pop()?;
                    self.insert(&[key, value])?;
                }
                b'u' => {
                    let flat = self.pop_to_mark()?;
                    self.insert(&flat)?;
                }
                b'q' => {
                    let slot = usize::from(self.byte()?);
                    self.remember(slot)?;
                }
                b'r' => {
                    let slot = self.length::<4>()?;
                    self.remember(slot)?;
                }
                0x94 => self.remember(self.memo.len())?,
                b'h' => {
                    let slot = usize::from(self.byte()?);
                    self.recall(slot, at)?;
                }
                b'j' => {
                    let slot = self.length::<4>()?;
                    self.recall(slot, at)?;
                }
                b'c' => {
                    let module = self.text_line()?;
                    let name = self.text_line()?;
                    self.push(Node::Global { module, name })?;
                }
                0x93 => {
                    let name = self.pop_text(at)?;
                    let module = self.pop_text(at)?;
                    self.push(Node::Global { module, name })?;
                }
                0x92 => {
                    let _keywords = self.pop()?;
                    self.make()?;
                }
                b'R' | 0x81 => self.make()?,
                b'b' => {
                    let state = self.pop()?;
                    let target = self.peek()?;
                    if let Node::Made(made) = self.node_mut(target) {
                        made.state = Some(state);
                    }
                }
                _ => return Err(PickleError::Opcode { opcode, at }),
            }
        }
    }

    fn byte(&mut self) -> Result<u8, PickleError> {
        Ok(self.array::<1>()?[0])
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], PickleError> {
        let bytes = self.bytes[self.at..]
            .first_chunk()
            .ok_or(PickleError::CutOff(self.at))?;
        self.at += N;
        Ok(*bytes)
    }

    fn skip(&mut self, length: usize) -> Result<(), PickleError> {
        self.take(length).map(drop)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], PickleError> {
        let taken = self.bytes[self.at..]
            .get(..length)
            .ok_or(PickleError::CutOff(self.at))?;
        self.at += length;
        Ok(taken)
    }

    /// A little-endian length of N bytes; one that no file can hold fails when it is taken.
    fn length<const N: usize>(&mut self) -> Result<usize, PickleError> {
        let mut wide = [0; 8];
        wide[..N].copy_from_slice(&self.array::<N>()?);
        Ok(usize::try_from(u64::from_le_bytes(wide)).unwrap_or(usize::MAX))
    }

    fn push(&mut self, node: Node<'a>) -> Result<(), PickleError> {
        if self.nodes.len() >= MOST_NODES {
            return Err(PickleError::TooManyValues);
        }
        self.stack.push(NodeId(self.nodes.len() as u32));
        self.nodes.push(node);
        Ok(())
    }

    fn node_mut(&mut self, id: NodeId) -> &mut Node<'a> {
        &mut self.nodes[id.0 as usize]
    }

    /// Values below the latest mark are out of reach, as they are in Python.
    fn pop(&mut self) -> Result<NodeId, PickleError> {
        if self
            .marks
            .last()
            .is_some_and(|mark| self.stack.len() <= *mark)
        {
            return Err(PickleError::Stack(self.at - 1));
        }
        self.stack.pop().ok_or(PickleError::Stack(self.at - 1))
    }

    fn peek(&self) -> Result<NodeId, PickleError> {
        self.stack
            .last()
            .copied()
            .ok_or(PickleError::Stack(self.at - 1))
    }

    fn pop_to_mark(&mut self) -> Result<Vec<NodeId>, PickleError> {
        let mark = self.marks.pop().ok_or(PickleError::Stack(self.at - 1))?;
        Ok(self.stack.split_off(mark))
    }

    fn pop_text(&mut self, at: usize) -> Result<&'a str, PickleError> {
        let id = self.pop()?;
        match self.node_mut(id) {
            Node::Text(text) => Ok(text),
            _ => Err(PickleError::Stack(at)),
        }
    }

    fn tuple(&mut self, length: usize) -> Result<(), PickleError> {
        let mut items = Vec::with_capacity(length);
        for _ in 0..length {
            items.push(self.pop()?);
        }
        items.reverse();
        self.push(Node::Items(items))
    }

    fn unsigned<const N: usize>(&mut self) -> Result<(), PickleError> {
        let value = self.length::<N>()?;
        self.push(Node::Int(value as i64))
    }

    /// A little-endian two's-complement integer of any length.
    fn long(&mut self, length: usize) -> Result<(), PickleError> {
        let bytes = self.take(length)?;
        let Some(last) = bytes.last() else {
            return self.push(Node::Int(0));
        };
        if bytes.len() > 8 {
            return self.push(Node::LargeInt);
        }
        let mut wide = [if last & 0x80 == 0 { 0 } else { 0xff }; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        self.push(Node::Int(i64::from_le_bytes(wide)))
    }

    fn text<const N: usize>(&mut self) -> Result<(), PickleError> {
        let length = self.length::<N>()?;
        let at = self.at;
        let bytes = self.take(length)?;
        let text = std::str::from_utf8(bytes).map_err(|_| PickleError::Text(at))?;
        self.push(Node::Text(text))
    }

    /// Bytes, or a Python 2 `str`, which is text where it is UTF-8.
    fn blob<const N: usize>(&mut self, opcode: u8) -> Result<(), PickleError> {
        let length = self.length::<N>()?;
        let bytes = self.take(length)?;
        let text = matches!(opcode, b'U' | b'T')
            .then(|| std::str::from_utf8(bytes).ok())
            .flatten();
        self.push(text.map_or(Node::Bytes(bytes), Node::Text))
    }

    fn text_line(&mut self) -> Result<&'a str, PickleError> {
        let at = self.at;
        let length = memchr::memchr(b'\n', &self.bytes[at..]).ok_or(PickleError::CutOff(at))?;
        let line = self.take(length)?;
        self.skip(1)?;
        std::str::from_utf8(line).map_err(|_| PickleError::Text(at))
    }

    fn append(&mut self, new: &[NodeId]) -> Result<(), PickleError> {
        let target = self.peek()?;
        match self.node_mut(target) {
            Node::Items(items) => items.extend_from_slice(new),
            Node::Made(made) => made.items.extend_from_slice(new),
            _ => return Err(PickleError::Stack(self.at - 1)),
        }
        Ok(())
    }

    fn insert(&mut self, flat: &[NodeId]) -> Result<(), PickleError> {
        let target = self.peek()?;
        match self.node_mut(target) {
            Node::Dict(entries) => entries.extend(pairs(flat)),
            Node::Made(made) => made.entries.extend(pairs(flat)),
            _ => return Err(PickleError::Stack(self.at - 1)),
        }
        Ok(())
    }

    fn remember(&mut self, slot: usize) -> Result<(), PickleError> {
        let top = self.peek()?;
        if slot >= MOST_NODES {
            return Err(PickleError::TooManyValues);
        }
        if slot >= self.memo.len() {
            self.memo.resize(slot + 1, None);
        }
        self.memo[slot] = Some(top);
        Ok(())
    }

    fn recall(&mut self, slot: usize, at: usize) -> Result<(), PickleError> {
        let known = self.memo.get(slot).copied().flatten();
        self.stack.push(known.ok_or(PickleError::Stack(at))?);
        Ok(())
    }

    fn make(&mut self) -> Result<(), PickleError> {
        let arguments = self.pop()?;
        let callable = self.pop()?;
        self.push(Node::Made(Box::new(Made {
            callable,
            arguments,
            state: None,
            items: Vec::new(),
            entries: Vec::new(),
        })))
    }
}

fn pairs(flat: &[NodeId]) -> Vec<(NodeId, NodeId)> {
    flat.as_chunks()
        .0
        .iter()
        .map(|[key, value]| (*key, *value))
        .collect()
}
