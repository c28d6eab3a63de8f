/// About 500 MB of edges; the most detailed maps of the world's zones need a few percent of it.
const MOST: usize = 1 << 24;

/// How many more entries the index of a map may have.
#[derive(Debug)]
pub(super) struct IndexLimit(usize);

/// A map whose index would not fit in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "its outlines are too fine or too many: simplify them, or leave out the zones you do not need"
)]
pub struct TooFine;

impl IndexLimit {
    pub(super) fn new() -> Self {
        Self(MOST)
    }

    pub(super) fn reserve(&mut self, entries: usize) -> Result<(), TooFine> {
        self.0 = self.0.checked_sub(entries).ok_or(TooFine)?;
        Ok(())
    }
}
