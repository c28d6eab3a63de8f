use std::error::Error;

use super::settings::NoSuchKey;

/// Why a text is not a value of an option or a setting.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadValue {
    /// A number is out of its range, or no number; the rule says what it must be.
    #[error("{rule}")]
    OutOfRange { rule: &'static str },
    #[error("a currency is a code such as EUR")]
    NotACurrency,
    #[error("it must be a text without control characters")]
    NotAText,
    #[error("it must be a text or a number")]
    NotAScalar,
    #[error("`{}` is none of {}", .text.escape_debug(), .choices.join(", "))]
    NotAChoice {
        text: String,
        choices: &'static [&'static str],
    },
    #[error("expected a date or time such as 2026-11-01 or 2026-11-01T12:00")]
    NotAnInstant,
    #[error("expected KEY=VALUE{}", .example.map(|pair| format!(", such as {pair}")).unwrap_or_default())]
    NotAPair { example: Option<&'static str> },
    #[error(transparent)]
    NoSuchKey(#[from] NoSuchKey),
    /// Not a value of a type that the library parses.
    #[error("{0}")]
    Unparsed(Box<dyn Error + Send + Sync>),
}
