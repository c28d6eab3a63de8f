use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, FixedOffset};
use rust_decimal::Decimal;

use super::Source;
use crate::ledger::basis_split::BasisSplit;
use crate::ledger::footprint::Carbon;
use crate::ledger::{Assumptions, Footprint};
use crate::model::info::{Host, Info, PowerCap, SensorNote};
use crate::model::sample::Observed;
use crate::model::{Component, CpuSocket, EnergyClass, Method, PueSource, SCHEMA};
use crate::units::{Energy, GramsCo2e, GramsPerKwh, IntensityRange, Pue};

/// What is true of all runs.
pub(super) fn info(sources: &[Source], start: f64, end: f64) -> Info {
    let first = &sources[0].info;
    let tags: BTreeMap<String, String> = first
        .tags
        .iter()
        .filter(|(tag, value)| sources.iter().all(|s| s.info.tags.get(*tag) == Some(value)))
        .map(|(tag, value)| (tag.clone(), value.clone()))
        .collect();
    Info {
        schema: SCHEMA,
        impact_version: env!("CARGO_PKG_VERSION").to_owned(),
        id: id(sources, start),
        merged_from: parts(sources),
        merged_seconds: sources
            .iter()
            .filter(|source| !source.info.id.is_empty())
            .map(|source| (source.info.id.clone(), source.summary.duration.seconds()))
            .collect(),
        name: common(sources, |info| info.name.clone()),
        tags,
        command: common(sources, |info| Some(info.command.clone())).unwrap_or_default(),
        power_cap: power_cap(sources),
        exit_code: exit_code(sources),
        started: instant(start),
        // If one of the runs has no end, the merged run has none.
        ended: instant(end).filter(|_| !sources.iter().any(|source| source.summary.has_no_end)),
        pue: pue(sources),
        pue_source: pue_source(sources),
        host: host(sources),
        scheduler: common(sources, |info| Some(info.scheduler.clone())).unwrap_or_default(),
        git: common(sources, |info| info.git.clone()),
        python: common(sources, |info| info.python.clone()),
        region: common(sources, |info| info.region.clone()),
        project_settings: sources
            .iter()
            .flat_map(|source| source.info.project_settings.clone())
            .collect(),
        ..Info::default()
    }
}

/// Of a job on several nodes: it failed where one of its parts did.
fn exit_code(sources: &[Source]) -> Option<i32> {
    let codes = || sources.iter().map(|source| source.info.exit_code);
    let failed = codes().flatten().filter(|code| *code != 0);
    failed
        .max()
        .or_else(|| codes().all(|code| code == Some(0)).then_some(0))
}

/// An id that other runs merged do not have and the same runs always have, in any order.
fn id(sources: &[Source], start: f64) -> String {
    let mut names: Vec<String> = sources.iter().map(Source::name).collect();
    names.sort_unstable();
    // FNV-1a: the same in every build, which the standard library does not promise of its own.
    let hash = names
        .iter()
        .flat_map(|name| name.bytes().chain([0]))
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    format!("merged-{}-{hash:016x}", start as i64)
}

/// The ids of all runs that are in these; runs of other trackers have none.
fn parts(sources: &[Source]) -> BTreeSet<String> {
    let ids = |source: &Source| {
        let own = Some(source.info.id.clone()).filter(|id| !id.is_empty());
        own.into_iter().chain(source.info.merged_from.clone())
    };
    sources.iter().flat_map(ids).collect()
}

/// The value that every run has, or none where they differ.
fn common<T: PartialEq>(sources: &[Source], read: impl Fn(&Info) -> Option<T>) -> Option<T> {
    let first = read(&sources[0].info)?;
    sources[1..]
        .iter()
        .all(|source| read(&source.info).as_ref() == Some(&first))
        .then_some(first)
}

/// The cap that all runs asked for, with the boards of all of them.
fn power_cap(sources: &[Source]) -> Option<PowerCap> {
    let requested_w = common(sources, |info| Some(info.power_cap.as_ref()?.requested_w))?;
    let caps = sources.iter().filter_map(|s| s.info.power_cap.as_ref());
    Some(PowerCap {
        requested_w,
        boards: caps.clone().flat_map(|cap| cap.boards.clone()).collect(),
        refused: caps.clone().find_map(|cap| cap.refused.clone()),
    })
}

fn host(sources: &[Source]) -> Host {
    let mut names: Vec<&str> = sources
        .iter()
        .filter_map(|source| source.info.host.hostname.as_deref())
        .collect();
    names.sort_unstable();
    names.dedup();
    let mut gpus = Vec::new();
    for gpu in sources.iter().flat_map(|source| &source.info.host.gpus) {
        if !gpus.contains(gpu) {
            gpus.push(gpu.clone());
        }
    }
    gpus.sort_by(|a, b| (&a.uuid, &a.name).cmp(&(&b.uuid, &b.name)));
    Host {
        hostname: (!names.is_empty()).then(|| names.join("+")),
        boot_id: common(sources, |info| info.host.boot_id.clone()),
        os: common(sources, |info| info.host.os.clone()),
        kernel: common(sources, |info| info.host.kernel.clone()),
        cpu: common(sources, |info| info.host.cpu.clone()),
        memory_bytes: None,
        gpus,
        gpu_driver: common(sources, |info| info.host.gpu_driver.clone()),
        ..Host::default()
    }
}

fn instant(seconds: f64) -> Option<DateTime<FixedOffset>> {
    let millis = (seconds * 1000.0).round();
    DateTime::from_timestamp_millis(millis as i64).map(|time| time.fixed_offset())
}

/// The PUE all runs recorded; where they differ, the one that gives the same energy.
fn pue(sources: &[Source]) -> Option<Pue> {
    if !is_mean_pue(sources) {
        return sources[0].summary.pue;
    }
    let energy = |source: &Source| source.summary.total();
    let with = |source: &Source| {
        let assumed = || source.summary.assumed_pue().pue;
        energy(source) * source.summary.pue.unwrap_or_else(assumed)
    };
    let without: Energy = sources.iter().map(energy).sum();
    let with: Energy = sources.iter().map(with).sum();
    let mean = Decimal::from_f64_retain(with.kwh() / without.kwh())?;
    Pue::new(mean.round_dp(6)).ok()
}

/// Who stated the PUE all runs recorded; where they differ, it is a mean.
fn pue_source(sources: &[Source]) -> Option<PueSource> {
    if is_mean_pue(sources) {
        Some(PueSource::MergedRuns)
    } else {
        common(sources, |info| info.pue_source.clone())
    }
}

/// Whether the merged PUE is none that every run recorded. Runs of experiment-impact-tracker without a PUE count with
/// that tool's default, which a merged log must record to keep the energy.
fn is_mean_pue(sources: &[Source]) -> bool {
    let first = sources[0].summary.pue;
    let is_other = |source: &Source| {
        let summary = &source.summary;
        summary.pue != first || summary.pue.is_none() && summary.is_legacy
    };
    sources.iter().any(is_other)
}

/// What a mean PUE is made of; none where all runs recorded the same.
pub(super) fn mean_pue(sources: &[Source]) -> Option<String> {
    let missing = sources.iter().filter(|source| source.summary.pue.is_none());
    let assumed: BTreeSet<Pue> = missing.map(|s| s.summary.assumed_pue().pue).collect();
    is_mean_pue(sources).then(|| {
        let assumed: Vec<String> = assumed
            .iter()
            .map(|pue| format!("; {pue}, a global average, is assumed where none was recorded"))
            .collect();
        let assumed = assumed.concat();
        format!("the PUE is the mean over the runs, weighted by their energy{assumed}")
    })
}

/// Records why runs have no figure for a group; the notes name groups that only some runs lack.
pub(super) fn missing(sources: &[Source], info: &mut Info) -> Vec<String> {
    let mut reasons: BTreeMap<EnergyClass, BTreeMap<&str, usize>> = BTreeMap::new();
    for (group, why) in sources.iter().flat_map(|source| &source.summary.absent) {
        *reasons.entry(*group).or_default().entry(why).or_default() += 1;
    }
    let mut notes = Vec::new();
    for (group, reasons) in reasons {
        let is_recorded = |source: &Source| source.summary.energy(group).is_some();
        if sources.iter().any(is_recorded) {
            notes.extend(reasons.iter().map(|(why, runs)| {
                let of = sources.len();
                format!("{} is missing in {runs} of {of} runs: {why}", group.name())
            }));
        }
        let why: Vec<&str> = reasons.into_keys().collect();
        info.sensors.push(SensorNote {
            component: match group {
                EnergyClass::Cpu => Component::Cpu,
                EnergyClass::Gpu => Component::AllGpus,
                EnergyClass::Dram => Component::Dram(CpuSocket::socket(0)),
            },
            source: "the merged runs".to_owned(),
            method: Method::Absent {
                why: why.join("; "),
            },
        });
    }
    notes
}

/// Gauges that make the merged log give the sums of the runs' figures.
pub(super) fn observed(
    sources: &[Source],
    info: &Info,
    seconds: f64,
    notes: &mut Vec<String>,
) -> Observed {
    let gpu_seconds: Option<f64> = sources
        .iter()
        .filter_map(|source| source.summary.gpu_time)
        .reduce(|a, b| a + b)
        .map(crate::units::Hours::seconds);
    let capacity = seconds * info.host.gpus.len() as f64;
    Observed {
        average_gpu_estimated_utilization_absolute: gpu_seconds
            .filter(|_| capacity > 0.0)
            .map(|busy| busy / capacity),
        realtime_carbon_intensity: intensity(sources, info, notes),
        ..Observed::default()
    }
}

/// Grams per kWh over all runs, where the region alone does not determine it.
fn intensity(sources: &[Source], info: &Info, notes: &mut Vec<String>) -> Option<f64> {
    let recorded = sources.iter().any(|source| source.summary.carbon.is_some());
    if !recorded && info.region.is_some() {
        return None;
    }
    let carbon: Vec<Carbon> = sources.iter().filter_map(carbon).collect();
    let masses: Vec<GramsCo2e> = carbon.iter().map(|carbon| carbon.mass).collect();
    let ranges: Vec<IntensityRange> = carbon.iter().map(|carbon| carbon.range).collect();
    let unknown = sources.len() - masses.len();
    if unknown > 0 {
        if unknown < sources.len() {
            notes.push(format!(
                "the carbon intensity of {unknown} of {} runs is not known; none is given",
                sources.len()
            ));
        }
        return None;
    }
    let mass: GramsCo2e = masses.into_iter().sum();
    let energy: Energy = sources.iter().map(|source| source.summary.total()).sum();
    if energy == Energy::ZERO {
        return None;
    }
    notes.push(
        "the carbon intensity is the mean over the runs, weighted by their energy".to_owned(),
    );
    let mut bases = BasisSplit::default();
    for carbon in carbon {
        bases.add(BasisSplit::of(carbon.origin.bases(), carbon.mass));
    }
    notes.extend(bases.warning());
    let ranges = ranges.into_iter().reduce(IntensityRange::join);
    let only = ranges.and_then(IntensityRange::only);
    Some(only.map_or_else(|| mass.grams() / energy.kwh(), GramsPerKwh::get))
}

/// The CO2eq of a run without PUE: the merged run has a PUE of its own.
fn carbon(source: &Source) -> Option<Carbon> {
    let without_overhead = Assumptions {
        pue: Some(Pue::ONE),
        ..Assumptions::default()
    };
    Footprint::of(&source.summary, &without_overhead).carbon
}
