use std::fmt;

/// Where a table comes from and under which terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Provenance {
    /// The file in `data/`.
    pub table: &'static str,
    /// Who published the data.
    pub source: &'static str,
    /// The version of the source.
    pub version: &'static str,
    /// The licence of the data.
    pub licence: &'static str,
    /// The years the data is of.
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
