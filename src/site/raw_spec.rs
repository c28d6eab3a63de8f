use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::spec::{Direction, Plot};
use crate::ledger::file_figures::{Ordered, RawProcessor};
use crate::model::Redaction;

/// A spec as it is written: a few keys of its own, and every other key a group.
#[derive(Default)]
pub(super) struct RawSpec {
    pub(super) title: Option<String>,
    pub(super) logs: Vec<PathBuf>,
    pub(super) redact: bool,
    pub(super) processors: Ordered<RawProcessor>,
    pub(super) groups: Ordered<RawGroup>,
}

/// A group as it is written.
#[derive(Default)]
pub(super) struct RawGroup {
    pub(super) filter: Option<String>,
    pub(super) description: Option<String>,
    pub(super) variables: Option<Vec<String>>,
    pub(super) ordering: Option<String>,
    pub(super) direction: Option<Direction>,
    pub(super) plots: Option<Vec<Plot>>,
    pub(super) processor: Option<RawProcessor>,
    pub(super) children: Ordered<RawGroup>,
    pub(super) unknown: Vec<String>,
}

impl<'de> Deserialize<'de> for RawSpec {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = RawSpec;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object of groups")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawSpec, A::Error> {
                let mut spec = RawSpec::default();
                let mut seen = BTreeSet::new();
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "title" => spec.title = Some(map.next_value()?),
                        "logs" => spec.logs = map.next_value()?,
                        "redact" => spec.redact = map.next_value()?,
                        "processors" => spec.processors = map.next_value()?,
                        key if key.starts_with('_') => drop(map.next_value::<IgnoredAny>()?),
                        _ => {
                            let group = map.next_value()?;
                            spec.groups.insert(key, group)?;
                            continue;
                        }
                    }
                    once(&mut seen, &key)?;
                }
                Ok(spec)
            }
        }
        from.deserialize_map(Keys)
    }
}

impl<'de> Deserialize<'de> for RawGroup {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = RawGroup;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str(
                    "a group: an object with `filter`, `description` or `child_experiments`",
                )
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawGroup, A::Error> {
                let mut group = RawGroup::default();
                let mut seen = BTreeSet::new();
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "filter" => group.filter = map.next_value()?,
                        "description" => group.description = map.next_value()?,
                        "executive_summary_variables" => group.variables = map.next_value()?,
                        "executive_summary_ordering_variable" => {
                            group.ordering = map.next_value()?;
                        }
                        "executive_summary_ordering_direction" => {
                            group.direction = map.next_value()?;
                        }
                        "executive_summary_plots" => group.plots = map.next_value()?,
                        "extra_files_processor" => group.processor = map.next_value()?,
                        "child_experiments" => {
                            let children: Option<Ordered<RawGroup>> = map.next_value()?;
                            group.children = children.unwrap_or_default();
                        }
                        other => {
                            map.next_value::<IgnoredAny>()?;
                            if !other.starts_with('_') {
                                group.unknown.push(other.to_owned());
                            }
                        }
                    }
                    once(&mut seen, &key)?;
                }
                Ok(group)
            }
        }
        from.deserialize_map(Keys)
    }
}

/// The bytes of a spec for readers of the site. What is not to be published may stand in comments, in the folders of logs,
/// and in commands.
pub(super) fn published(text: &[u8], redaction: Redaction) -> Result<Vec<u8>, serde_json::Error> {
    if redaction == Redaction::Secrets {
        return Ok(text.to_owned());
    }
    let keys: Ordered<Box<RawValue>> = serde_json::from_slice(text)?;
    let mut lines = Vec::new();
    for (key, value) in keys.0.iter().filter(|(key, _)| key != "logs") {
        lines.push(format!("  {}: {value}", serde_json::to_string(key)?));
    }
    let spec = format!("{{\n{}\n}}\n", lines.join(",\n"));
    Ok(redaction.without_places(&spec).into_owned().into_bytes())
}

fn once<E: Error>(seen: &mut BTreeSet<String>, key: &str) -> Result<(), E> {
    if key.starts_with('_') || seen.insert(key.to_owned()) {
        Ok(())
    } else {
        Err(E::custom(format_args!("the key {key:?} is given twice")))
    }
}
