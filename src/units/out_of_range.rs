use std::fmt;

/// A number outside of the range of its quantity.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{value} is not a valid {quantity}: {rule}")]
pub struct OutOfRange {
    quantity: &'static str,
    value: String,
    rule: &'static str,
}

impl OutOfRange {
    pub(super) fn new(
        quantity: &'static str,
        value: impl fmt::Display,
        rule: &'static str,
    ) -> Self {
        Self {
            quantity,
            value: value.to_string(),
            rule,
        }
    }
}
