use std::borrow::Cow;

use serde::Serialize;

use crate::text::escape;

/// A value in YAML, with the same fields as its JSON.
pub(crate) fn yaml(value: &impl Serialize) -> anyhow::Result<String> {
    // Exact numbers can be written as JSON only; reading that JSON makes plain numbers of them.
    let plain: serde_json::Value = serde_json::from_slice(&serde_json::to_vec(value)?)?;
    let text = serde_saphyr::to_string(&plain)?;
    // The writer leaves characters that steer a terminal as they are. JSON is YAML too, and has escapes for them.
    Ok(match escape::terminal(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(_) => escape::pretty_json(&plain)?,
    })
}
