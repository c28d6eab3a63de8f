use std::collections::HashMap;

use super::profile::Name;

/// A call path: a name within the path that called it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Path {
    pub(super) parent: u32,
    pub(super) name: Name,
}

const RECENT: usize = 4096;

/// A tree of call paths; each comes after the one that called it. The memory for it is bounded.
#[derive(Debug)]
pub(super) struct Paths {
    all: Vec<Path>,
    numbers: HashMap<(u32, Name), u32>,
    /// Paths that were looked up last.
    recent: Vec<u32>,
    most: usize,
}

impl Paths {
    /// The path without calls.
    pub(super) const ROOT: u32 = 0;
    /// All paths for which there is no space.
    pub(super) const BEYOND: u32 = 1;

    /// An empty tree that takes this many paths.
    pub(super) fn with_space_for(most: usize) -> Self {
        let none = Path {
            parent: Self::ROOT,
            name: Name(0),
        };
        Self {
            all: vec![none, none],
            numbers: HashMap::new(),
            recent: vec![Self::ROOT; RECENT],
            most: most + 2,
        }
    }

    pub(super) fn child(&mut self, parent: u32, name: Name) -> u32 {
        if parent == Self::BEYOND {
            return parent;
        }
        let place = (parent.wrapping_mul(31) ^ name.0) as usize % RECENT;
        let recent = self.recent[place];
        if recent != Self::ROOT && self.get(recent) == (Path { parent, name }) {
            return recent;
        }
        if let Some(number) = self.numbers.get(&(parent, name)) {
            self.recent[place] = *number;
            return *number;
        }
        if self.all.len() >= self.most {
            return Self::BEYOND;
        }
        let number = self.all.len() as u32;
        self.all.push(Path { parent, name });
        self.numbers.insert((parent, name), number);
        number
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn get(&self, path: u32) -> Path {
        self.all[path as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_the_same_only_within_the_same_caller_and_further_ones_are_one() {
        let mut paths = Paths::with_space_for(3);
        let a = paths.child(Paths::ROOT, Name(1));
        let b = paths.child(a, Name(2));
        assert_eq!(paths.child(a, Name(2)), b);
        let c = paths.child(Paths::ROOT, Name(2));
        assert_ne!(b, c);
        assert_eq!(paths.child(c, Name(2)), Paths::BEYOND);
        assert_eq!(paths.child(Paths::BEYOND, Name(1)), Paths::BEYOND);
        assert_eq!(
            paths.get(b),
            Path {
                parent: a,
                name: Name(2)
            }
        );
    }
}
