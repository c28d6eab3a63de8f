use serde::Serialize;

use super::advice::Advice;
use super::diagnosis::{Diagnosis, Quality};
use super::text::{meaning, summary};
use crate::cli::Failure;
use crate::meter::sensor::{Finding, State};
use crate::model::Method;
use crate::text::escape;

const SCHEMA: &str = "impact-doctor/1";

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    impact_version: &'static str,
    summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    meaning: Option<&'static str>,
    cpu: QualityEntry<'a>,
    memory: QualityEntry<'a>,
    gpus: Vec<BoardEntry<'a>>,
    /// Why NVIDIA boards cannot be read although their driver is present.
    nvidia_error: Option<String>,
    processor: Option<&'a str>,
    virtual_machine: bool,
    container: Option<&'a str>,
    advice: &'a [Advice],
    sensors: Vec<SensorEntry<'a>>,
}

/// The method of a figure, as the log writes it.
#[derive(Serialize)]
struct QualityEntry<'a> {
    #[serde(flatten)]
    method: Option<&'a Method>,
    #[serde(skip_serializing_if = "Option::is_none")]
    part_of: Option<&'static str>,
}

#[derive(Serialize)]
struct BoardEntry<'a> {
    component: &'a str,
    name: &'a str,
    #[serde(flatten)]
    method: Option<&'a Method>,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Serialize)]
struct SensorEntry<'a> {
    sensor: String,
    place: &'a str,
    state: &'static str,
    #[serde(flatten)]
    method: Option<&'a Method>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    twin_of: Option<String>,
}

pub(super) fn json(diagnosis: &Diagnosis) -> Result<String, Failure> {
    let situation = &diagnosis.situation;
    let document = Document {
        schema: SCHEMA,
        impact_version: env!("CARGO_PKG_VERSION"),
        summary: summary(diagnosis),
        meaning: meaning(diagnosis),
        cpu: quality(&diagnosis.cpu),
        memory: quality(&diagnosis.memory),
        gpus: diagnosis
            .boards
            .iter()
            .map(|board| {
                let sensor = board.sensor.as_ref();
                BoardEntry {
                    component: &board.component,
                    name: &board.name,
                    method: sensor.ok().map(|(method, _)| method),
                    place: sensor.ok().map(|(_, place)| place.as_str()),
                    error: sensor.err().map(ToString::to_string),
                }
            })
            .collect(),
        nvidia_error: diagnosis.nvidia_missing.as_ref().map(ToString::to_string),
        processor: situation.processor.as_deref(),
        virtual_machine: situation.is_virtual_machine,
        container: situation.container.as_deref(),
        advice: &diagnosis.advice,
        sensors: diagnosis.findings.iter().map(sensor).collect(),
    };
    Ok(escape::pretty_json(&document)?)
}

fn quality(quality: &Quality) -> QualityEntry<'_> {
    match quality {
        Quality::Known(method) => QualityEntry {
            method: Some(method),
            part_of: None,
        },
        Quality::Within(whole) => QualityEntry {
            method: None,
            part_of: Some(whole),
        },
        Quality::Unknown => QualityEntry {
            method: None,
            part_of: None,
        },
    }
}

fn sensor(finding: &Finding) -> SensorEntry<'_> {
    let mut entry = SensorEntry {
        sensor: finding.interface.to_string(),
        place: &finding.place,
        state: "read",
        method: None,
        error: None,
        twin_of: None,
    };
    match &finding.state {
        State::Read(method) => entry.method = Some(method),
        State::TwinOf(zone) => {
            entry.state = "twin";
            entry.twin_of = Some(zone.display().to_string());
        }
        State::Refused(why) => {
            entry.state = "refused";
            entry.error = Some(why);
        }
        State::Missing(why) => {
            entry.state = "missing";
            entry.error = Some(why);
        }
    }
    entry
}
