//! What a log says about a run besides its figures.

use chrono::SecondsFormat;

use super::entry::RunDetails;
use super::page::Fact;
use crate::model::Info;
use crate::text::number;

fn facts(list: Vec<(&str, Option<String>)>) -> Vec<Fact> {
    list.into_iter()
        .filter_map(|(name, value)| {
            let value = value.filter(|value| !value.trim().is_empty())?;
            Some(Fact {
                name: name.to_owned(),
                value,
            })
        })
        .collect()
}

pub(super) fn about(reading: &RunDetails) -> Vec<Fact> {
    let info = &reading.info;
    let started = reading
        .entry
        .summary
        .started
        .map(|time| time.to_rfc3339_opts(SecondsFormat::Secs, true));
    let git = info.git.as_ref().map(|git| match git.dirty {
        Some(true) => format!("{} with changes that are not committed", git.commit),
        _ => git.commit.clone(),
    });
    let mut facts = facts(vec![
        ("Started", started),
        (
            "Command",
            (!info.command.is_empty()).then(|| info.command.join(" ")),
        ),
        ("Exit code", info.exit_code.map(|code| code.to_string())),
        ("Git commit", git),
        (
            "Python",
            info.python
                .as_ref()
                .and_then(|python| python.version.clone()),
        ),
        (
            "Sampled every",
            info.interval_s.map(|seconds| format!("{seconds} s")),
        ),
        ("Recorded by", Some(info.impact_version.clone())),
    ]);
    for (name, value) in info.tags.iter().chain(&info.scheduler) {
        facts.push(Fact {
            name: name.clone(),
            value: value.clone(),
        });
    }
    facts
}

pub(super) fn hardware(info: &Info) -> Vec<Fact> {
    let host = &info.host;
    let cpu = host.cpu.as_ref().map(|cpu| {
        let count = |count: Option<u32>, what: &str| {
            count
                .map(|count| format!(", {count} {what}"))
                .unwrap_or_default()
        };
        format!(
            "{}{}{}{}",
            cpu.brand,
            count(cpu.sockets, "sockets"),
            count(cpu.cores, "cores"),
            count(cpu.threads, "threads")
        )
    });
    let mut list = vec![("Processor", cpu)];
    for gpu in &host.gpus {
        let memory = gpu
            .memory_bytes
            .map(|bytes| format!(", {}", number::bytes(bytes)))
            .unwrap_or_default();
        let limit = gpu
            .power_limit_w
            .map(|watts| format!(", limited to {watts} W"))
            .unwrap_or_default();
        list.push(("GPU", Some(format!("{}{memory}{limit}", gpu.name))));
    }
    list.extend([
        ("Memory", host.memory_bytes.map(number::bytes)),
        ("GPU driver", host.gpu_driver.clone()),
        ("Operating system", host.os.clone()),
        ("Kernel", host.kernel.clone()),
        ("Host", host.hostname.clone()),
        ("Container", host.container.clone()),
    ]);
    facts(list)
}

pub(super) fn region(reading: &RunDetails) -> Vec<Fact> {
    let region = reading.info.region.as_ref();
    let carbon = reading.footprint.carbon.as_ref();
    let zone = carbon
        .and_then(|carbon| carbon.zone.as_ref())
        .or(region.map(|region| &region.zone))
        .map(|zone| zone.as_str().to_owned());
    let name = region
        .and_then(|region| region.name.clone())
        .filter(|name| Some(name) != zone.as_ref());
    let average = region.and_then(|region| {
        let year = region
            .year
            .map(|year| format!(" ({year})"))
            .unwrap_or_default();
        Some(format!(
            "{} g CO₂eq/kWh{year}",
            number::typeset(region.carbon_intensity?.get())
        ))
    });
    facts(vec![
        ("Zone", zone),
        ("Name", name),
        ("Found by", region.and_then(|region| region.how.clone())),
        (
            "Zone not recorded",
            carbon.and_then(|carbon| Some(carbon.assumed_place.as_ref()?.to_string())),
        ),
        ("Average intensity", average),
        (
            "Source of the average",
            region.and_then(|region| Some(region.average()?.provenance.source.to_string())),
        ),
        (
            "Intensity used",
            carbon.map(|carbon| format!("{} g CO₂eq/kWh", number::typeset(carbon.intensity.get()))),
        ),
        ("Its source", carbon.map(|carbon| carbon.origin.to_string())),
    ])
}
