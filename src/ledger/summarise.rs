use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use chrono::Utc;

use super::power_integral::PowerIntegral;
use super::running_totals::RunningTotals;
use super::{Part, RunSummary};
use crate::log::{CpuTimes, Damage, ReadError, Record, Row};
use crate::model::{Component, EnergyClass, Info, Method, Present};
use crate::text::number::counted;
use crate::units::{Energy, Hours, OutOfRange, SECONDS_PER_HOUR};

/// Why a run has no figures.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SummaryError {
    /// Its log cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Its log holds a number that cannot be.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// Its log has no energy in it.
    #[error("the log holds no energy: neither a CPU nor a GPU was read")]
    NoEnergy,
}

/// Reads one run's log from beginning to end and adds it up, in memory that does not grow with it.
pub fn summarise(run: &Path) -> Result<RunSummary, SummaryError> {
    summarise_with(run, |_| {}).map(|(summary, _)| summary)
}

/// As [`summarise`], and shows every sample to `see` on the way; also gives what the info file says.
pub fn summarise_with(
    run: &Path,
    mut see: impl FnMut(&Row),
) -> Result<(RunSummary, Info), SummaryError> {
    let mut record = Record::open(run)?;
    let gpus = record.info.host.gpus.len();
    let mut counters = RunningTotals::default();
    let mut integral = PowerIntegral::new(record.local_times, gpus);
    let mut cpu_times = CpuTimes::default();
    let mut is_own = false;
    let damage = record.for_each_row(|row| {
        see(row);
        if let Some(table) = row.cpu_time_seconds {
            cpu_times.see(table);
        }
        if row.schema.is_some() {
            is_own = true;
            counters.add(row, gpus)
        } else {
            integral.add(row)
        }
    })?;
    let info = record.info;
    let mut summary = if is_own {
        from_counters(&mut counters, &info, damage)?
    } else {
        integral.finish();
        from_integral(&integral, &info, damage)?
    };
    if summary.parts.is_empty() {
        return Err(SummaryError::NoEnergy);
    }
    summary.cpu_time = cpu_times.seconds().map(Hours::from_seconds).transpose()?;
    if cpu_times.too_many {
        summary
            .notes
            .push("too many processes came and went to add up their CPU time".to_owned());
    }
    Ok((summary, info))
}

fn from_counters(
    counters: &mut RunningTotals,
    info: &Info,
    damage: Damage,
) -> Result<RunSummary, OutOfRange> {
    let parts = counters.parts()?;
    let (phases, notes_on_marks) = counters.phases();
    let lacks_lines = lacks_lines(&parts, info);
    let has_no_end = info.ended.is_none() || lacks_lines;
    let mut notes = info.notes.clone();
    if lacks_lines {
        notes.push(
            "lines are missing at the end, where the run came to more energy; counted up to the \
             last sample"
                .to_owned(),
        );
    }
    notes.extend(log_notes(info.ended.is_none(), damage));
    notes.extend(notes_on_marks);
    if counters.fell_back {
        notes.push("a running total fell; the largest was kept".to_owned());
    }
    for (component, why) in &counters.lost {
        if parts.contains_key(component) {
            notes.push(format!("{component} was lost during the run: {why}"));
        }
    }
    let mut absent = BTreeMap::new();
    for (component, why) in absences(counters, info) {
        let alone = Present::from_iter([component]);
        if let Some(group) = component.counted_as(&alone) {
            absent.entry(group).or_insert_with(|| why.to_owned());
        }
    }
    let mut summary = RunSummary {
        absent,
        duration: Hours::from_seconds(counters.seconds)?,
        gpu_time: counters.gpu_hours().map(hours).transpose()?,
        carbon: counters.carbon.finish(info)?,
        phases,
        started: info.started.map(|time| time.with_timezone(&Utc)),
        has_no_end,
        bad_lines: damage.bad_lines,
        notes,
        ..described(info, parts)
    };
    let recorded: BTreeSet<EnergyClass> = summary.counted().map(|(group, ..)| group).collect();
    summary.absent.retain(|group, _| !recorded.contains(group));
    for group in [EnergyClass::Cpu, EnergyClass::Dram] {
        if !recorded.contains(&group) {
            let why = || "the machine has no meter for it that could be read".to_owned();
            summary.absent.entry(group).or_insert_with(why);
        }
    }
    Ok(summary)
}

/// Whether the balance in the info is larger than the last samples.
fn lacks_lines(parts: &BTreeMap<Component, Part>, info: &Info) -> bool {
    // The samples are rounded to what a number of JSON holds.
    const ROUNDING: f64 = 1e-3;
    let is_known = |component: &Component| !matches!(component, Component::Other(_));
    let mut balances = info.balance.iter();
    balances.any(|(component, balance)| {
        let sampled = parts.get(component).map(|part| part.attributed.joules());
        is_known(component) && balance.attributed_j > sampled.unwrap_or(0.0) + ROUNDING
    })
}

fn absences<'a>(
    counters: &'a RunningTotals,
    info: &'a Info,
) -> impl Iterator<Item = (&'a Component, &'a str)> {
    let from_info = info.sensors.iter().filter_map(|note| match &note.method {
        Method::Absent { why } => Some((&note.component, why.as_str())),
        _ => None,
    });
    let from_rows = counters
        .lost
        .iter()
        .map(|(component, why)| (component, why.as_str()));
    from_info.chain(from_rows)
}

fn from_integral(
    integral: &PowerIntegral,
    info: &Info,
    damage: Damage,
) -> Result<RunSummary, OutOfRange> {
    let mut parts = BTreeMap::new();
    let mut absent = BTreeMap::from([(
        EnergyClass::Dram,
        "experiment-impact-tracker does not record it apart from the CPU".to_owned(),
    )]);
    let has_gpus = !info.host.gpus.is_empty();
    let channels = [
        (Component::Cpu, EnergyClass::Cpu, integral.cpu_kwh(), true),
        (
            Component::AllGpus,
            EnergyClass::Gpu,
            integral.gpu_kwh(),
            has_gpus,
        ),
    ];
    for (component, group, kwh, expected) in channels {
        match kwh {
            Some(kwh) => {
                let part = Part {
                    attributed: Energy::from_kwh(kwh)?,
                    machine: None,
                    method: Method::Integrated { period_s: None },
                };
                parts.insert(component, part);
            }
            None if expected => {
                absent.insert(group, "the log has no power figures for it".to_owned());
            }
            None => {}
        }
    }
    let has_no_end = info.ended.is_none() && !integral.knows_end();
    let mut notes = log_notes(has_no_end, damage);
    if integral.clock_went_back {
        notes.push(
            "the clock was set back during the run; that interval counts as nothing".to_owned(),
        );
    }
    Ok(RunSummary {
        absent,
        duration: hours(integral.hours)?,
        gpu_time: integral.gpu_hours().map(hours).transpose()?,
        carbon: integral.carbon.finish(info)?,
        started: integral.started(),
        has_no_end,
        bad_lines: damage.bad_lines,
        notes,
        ..described(info, parts)
    })
}

/// A summary with what the info file says and no figures yet.
fn described(info: &Info, parts: BTreeMap<Component, Part>) -> RunSummary {
    RunSummary {
        id: (!info.id.is_empty()).then(|| info.id.clone()),
        inside: info.inside.clone(),
        merged_from: info.merged_from.clone(),
        name: info.name.clone(),
        tags: info.tags.clone(),
        parts,
        absent: BTreeMap::new(),
        duration: Hours::ZERO,
        cpu_time: None,
        gpu_time: None,
        carbon: None,
        region: info.region.clone(),
        pue: info.pue,
        pue_source: info.pue_source.clone(),
        started: None,
        host: info.host.hostname.clone(),
        phases: BTreeMap::new(),
        has_no_end: false,
        bad_lines: 0,
        notes: Vec::new(),
    }
}

fn hours(hours: f64) -> Result<Hours, OutOfRange> {
    Hours::from_seconds(hours * SECONDS_PER_HOUR)
}

fn log_notes(has_no_end: bool, damage: Damage) -> Vec<String> {
    let mut notes = Vec::new();
    if has_no_end {
        notes.push("no end was recorded; counted up to the last sample".to_owned());
    }
    if damage.cut {
        notes.push("the last line is cut off; the run counts up to the line before it".to_owned());
    }
    if damage.bad_lines > 0 {
        let lines = counted(damage.bad_lines, "line");
        notes.push(format!("{lines} could not be read"));
    }
    notes
}
