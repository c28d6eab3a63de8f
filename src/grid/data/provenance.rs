use std::fmt;

/// Where a table comes from and under which terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Provenance {
    /// The file in `data/`.
    pub table: &'static str,
    pub source: &'static str,
    pub version: &'static str,
    pub licence: &'static str,
    pub year: &'static str,
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {}, {} ({})",
            self.source, self.version, self.year, self.licence
        )
    }
}
