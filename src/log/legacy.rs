//! Logs of experiment-impact-tracker: the same `data.json`, with an `info.pkl` beside it.

use std::collections::BTreeMap;

use chrono::NaiveDateTime;

use super::pickle::{Pickle, PickleError, Value};
use crate::model::info::{Cpu, GpuCard, Host, Info, Python, Region};
use crate::units::GramsPerKwh;

/// The pickle that says what was run, where and when.
pub const INFO_FILE: &str = "info.pkl";
const SOURCE: &str = "recorded by experiment-impact-tracker";
/// Long enough for every package of a large environment.
const MOST_PACKAGES: usize = 10_000;
/// A pickle may refer to one long text from every package and card; each would have a copy.
const LONGEST_TEXT: usize = 4096;

/// What `info.pkl` says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LegacyInfo {
    /// What the pickle says, in the form of an `info.json`.
    pub info: Info,
    /// Start and end, which need the samples to be placed in a time zone.
    pub local_times: LocalTimes,
}

/// Start and end by the local clock of the machine that ran, without saying where that was.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LocalTimes {
    /// When the tracker started.
    pub started: Option<NaiveDateTime>,
    /// None for a run that was killed.
    pub ended: Option<NaiveDateTime>,
}

impl LegacyInfo {
    /// Reads the bytes of an `info.pkl`.
    pub fn from_pickle(bytes: &[u8]) -> Result<Self, PickleError> {
        let pickle = Pickle::decode(bytes)?;
        let top = pickle.top();
        Ok(Self {
            local_times: LocalTimes {
                started: top.get("experiment_start").and_then(Value::naive_time),
                ended: top.get("experiment_end").and_then(Value::naive_time),
            },
            info: Info {
                impact_version: text(top.get("experiment_impact_tracker_version"))
                    .map(|version| format!("experiment-impact-tracker {version}"))
                    .unwrap_or_default(),
                host: Host {
                    cpu: top.get("cpu_info").and_then(cpu),
                    gpus: gpus(top),
                    gpu_driver: top
                        .get("gpu_info")
                        .and_then(|gpus| text(gpus.items().next()?.get("driver_version"))),
                    ..Host::default()
                },
                python: top.get("python_package_info").map(packages),
                region: region(top),
                ..Info::default()
            },
        })
    }
}

fn text(value: Option<Value>) -> Option<String> {
    let text = value?.text()?;
    (text.len() <= LONGEST_TEXT).then(|| text.to_owned())
}

fn cpu(info: Value) -> Option<Cpu> {
    Some(Cpu {
        brand: text(info.get("brand").or_else(|| info.get("brand_raw")))?,
        threads: info.get("count").and_then(Value::number).map(|n| n as u32),
        ..Cpu::default()
    })
}

fn gpus(top: Value) -> Vec<GpuCard> {
    let Some(cards) = top.get("gpu_info") else {
        return Vec::new();
    };
    cards
        .items()
        .take(1024)
        .map(|card| GpuCard {
            name: text(card.get("name")).unwrap_or_default(),
            ..GpuCard::default()
        })
        .collect()
}

fn packages(list: Value) -> Python {
    let packages: BTreeMap<String, String> = list
        .items()
        .take(MOST_PACKAGES)
        .filter_map(|package| {
            let name = text(package.get("project_name"))?;
            let version = text(package.get("_version")).unwrap_or_default();
            Some((name, version))
        })
        .collect();
    Python {
        version: None,
        packages,
    }
}

fn region(top: Value) -> Option<Region> {
    let region = top.get("region")?;
    let average = top.get("region_carbon_intensity_estimate");
    Some(Region {
        name: region
            .get("properties")
            .and_then(|properties| text(properties.get("zoneName"))),
        how: Some(SOURCE.to_owned()),
        carbon_intensity: average
            .and_then(|estimate| estimate.get("carbonIntensity")?.number())
            .and_then(|value| GramsPerKwh::new(value).ok()),
        source: Some(
            text(average.and_then(|estimate| estimate.get("_source")))
                .unwrap_or_else(|| SOURCE.to_owned()),
        ),
        ..Region::of(region.get("id")?.text()?.parse().ok()?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_as_long_as_a_book_is_not_copied_for_every_card() {
        let named = |length: usize| {
            let text = |text: &str| {
                [
                    b"X",
                    &(text.len() as u32).to_le_bytes()[..],
                    text.as_bytes(),
                ]
                .concat()
            };
            let card = [
                b"}".to_vec(),
                text("name"),
                text(&"x".repeat(length)),
                b"s".to_vec(),
            ]
            .concat();
            let cards = [
                b"](".to_vec(),
                card,
                b"q\0".to_vec(),
                b"h\0".repeat(2),
                b"e".to_vec(),
            ]
            .concat();
            let bytes = [b"}".to_vec(), text("gpu_info"), cards, b"s.".to_vec()].concat();
            let gpus = LegacyInfo::from_pickle(&bytes).unwrap().info.host.gpus;
            gpus.iter().map(|card| card.name.len()).collect::<Vec<_>>()
        };
        assert_eq!(named(LONGEST_TEXT), [LONGEST_TEXT; 3]);
        assert_eq!(named(LONGEST_TEXT + 1), [0; 3]);
    }
}
