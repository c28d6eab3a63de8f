use serde::Serialize;

/// A value in YAML, with the same fields as its JSON.
pub(crate) fn yaml(value: &impl Serialize) -> anyhow::Result<String> {
    // Exact numbers can be written as JSON only; reading that JSON makes plain numbers of them.
    let plain: serde_json::Value = serde_json::from_slice(&serde_json::to_vec(value)?)?;
    Ok(serde_saphyr::to_string(&plain)?)
}
