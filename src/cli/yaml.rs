use serde::Serialize;

/// The same value as its JSON, in YAML.
pub(crate) fn yaml(value: &impl Serialize) -> anyhow::Result<String> {
    // Exact numbers are JSON text; the detour makes them plain numbers.
    let plain: serde_json::Value = serde_json::from_slice(&serde_json::to_vec(value)?)?;
    Ok(serde_saphyr::to_string(&plain)?)
}
