use crate::model::Component;

/// A log merged from thousands of nodes has tens of thousands; a log with more is refused.
const MOST_COMPONENTS: usize = 1 << 16;
/// A UUID and a host name, or the reason of an error.
pub(super) const LONGEST_WORDS: usize = 4096;

/// Why the values of a sample cannot be.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImplausibleSample {
    /// Its energy or its mark is no JSON of the format.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// The log names more components than a machine or a cluster has.
    #[error("it is the first to name more than {MOST_COMPONENTS} components")]
    TooManyComponents,
    /// A component has a name or a reason of many kB.
    #[error("a component has more than {LONGEST_WORDS} bytes of words")]
    LongWords,
    /// A power or a share is negative.
    #[error("it says {0} where a power or a share must not be negative")]
    NegativePower(f64),
    /// A component that was read has no energy.
    #[error("{0} has a method but no attributed_j")]
    NoEnergy(Component),
    /// The energy of a component is negative.
    #[error("the energy of {0} is negative")]
    NegativeEnergy(Component),
}

/// Whether one more component may be kept of a log that has named so many.
pub fn check_component_count(known: usize) -> Result<(), ImplausibleSample> {
    if known < MOST_COMPONENTS {
        Ok(())
    } else {
        Err(ImplausibleSample::TooManyComponents)
    }
}
