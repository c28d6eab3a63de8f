use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use chrono::Utc;

use super::clip::Clip;
use super::power_integral::PowerIntegral;
use super::running_totals::RunningTotals;
use super::{Hardware, Part, RunOutcome, RunSummary};
use crate::log::{CpuTimes, Damage, ReadError, Record, Row};
use crate::model::{Component, EnergyClass, Info, Method, Present};
use crate::text::number::counted;
use crate::units::{Energy, Hours, JOULES_PER_KWH, OutOfRange, SECONDS_PER_HOUR};

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
    summarise_with(run, None, 0, |_| {}).map(|(summary, _)| summary)
}

/// As [`summarise`], without the seconds of the run that other runs have counted.
pub(super) fn summarise_uncovered(
    run: &Path,
    covered: Vec<(f64, f64)>,
    why: &str,
) -> Result<RunSummary, SummaryError> {
    let seconds: f64 = covered.iter().map(|(from, to)| to - from).sum();
    let clip = Some(Clip::new(covered));
    let (mut summary, _) = read(Record::open(run)?, clip, 0, |_| {}, |_, _| {})?;
    let left = summary.duration.seconds();
    // CPU time is recorded by process, and processes come and go.
    if let Some(time) = summary.cpu_time {
        let part = left / (left + seconds);
        summary.cpu_time = Some(Hours::from_seconds(time.seconds() * part)?);
    }
    summary.counted_elsewhere = true;
    summary
        .notes
        .push(format!("{seconds:.3} s of it are not counted here: {why}"));
    Ok(summary)
}

/// As [`summarise`], and shows every sample to `see` on the way; also gives what the info file says.
///
/// `known` holds the bytes of the info file if it has been read before. The summary has this many occurrences of phases
/// at most.
pub fn summarise_with(
    run: &Path,
    known: Option<Vec<u8>>,
    most_occurrences: usize,
    see: impl FnMut(&Row),
) -> Result<(RunSummary, Info), SummaryError> {
    let record = Record::open_with(run, known)?;
    read(record, None, most_occurrences, see, |_, _| {})
}

/// What a run has come to after a sample.
#[derive(Debug, Clone, Copy)]
pub(super) enum Progress<'a> {
    /// In a log of impact.
    Totals(&'a RunningTotals),
    /// In a log of experiment-impact-tracker.
    Integral(&'a PowerIntegral),
}

impl Progress<'_> {
    pub(super) fn is_of_totals(self) -> bool {
        matches!(self, Self::Totals(_))
    }

    /// Seconds since the start of the run.
    pub(super) fn seconds(self) -> f64 {
        match self {
            Self::Totals(totals) => totals.seconds,
            Self::Integral(integral) => integral.hours * SECONDS_PER_HOUR,
        }
    }

    /// The energy of each component in kWh, counted or not.
    pub(super) fn kwh(self, mut see: impl FnMut(&Component, f64)) {
        match self {
            Self::Totals(totals) => {
                for (component, kwh) in totals.attributed_kwh() {
                    see(component, kwh);
                }
            }
            Self::Integral(integral) => {
                if let Some(kwh) = integral.cpu_kwh() {
                    see(&Component::Cpu, kwh);
                }
                if let Some(kwh) = integral.gpu_kwh() {
                    see(&Component::AllGpus, kwh);
                }
            }
        }
    }
}

/// As [`summarise`], and shows to `follow` what the run has come to after every sample, with the clock of the sample.
pub(super) fn summarise_following(
    run: &Path,
    follow: impl FnMut(Progress, Option<f64>),
) -> Result<(RunSummary, Info), SummaryError> {
    read(Record::open(run)?, None, 0, |_| {}, follow)
}

fn read(
    mut record: Record,
    clip: Option<Clip>,
    most_occurrences: usize,
    mut see: impl FnMut(&Row),
    mut follow: impl FnMut(Progress, Option<f64>),
) -> Result<(RunSummary, Info), SummaryError> {
    let gpus = record.info.host.gpus.len();
    let mut counters = RunningTotals::new(&record.info, clip, most_occurrences);
    let mut integral = PowerIntegral::new(record.local_times, gpus);
    let mut cpu_times = CpuTimes::default();
    let (mut own, mut foreign) = (0u64, 0u64);
    let damage = record.for_each_row(|row| {
        see(row);
        if let Some(table) = row.cpu_time_seconds {
            cpu_times.see(table);
        }
        if row.schema.is_some() {
            own += 1;
            counters.add(row, gpus)?;
            follow(Progress::Totals(&counters), Some(row.timestamp));
        } else {
            foreign += 1;
            integral.add(row)?;
            follow(Progress::Integral(&integral), Some(row.timestamp));
        }
        Ok(())
    })?;
    let info_was_changed = record.info_was_changed;
    let info = record.info;
    let is_own = own >= foreign;
    let mut summary = if is_own {
        from_counters(&mut counters, &info, damage)?
    } else {
        integral.finish();
        follow(Progress::Integral(&integral), None);
        from_integral(&integral, &info, damage)?
    };
    if summary.parts.is_empty() {
        return Err(SummaryError::NoEnergy);
    }
    summary.cpu_time = cpu_times.seconds().map(Hours::from_seconds).transpose()?;
    summary.hardware = Hardware::of(&info, &summary.parts, summary.duration);
    let of_another = own.min(foreign);
    if of_another > 0 {
        summary.contradictions += 1;
        summary.notes.push(format!(
            "{} in another tracker's format and not counted",
            lines_are(of_another)
        ));
    }
    if info_was_changed {
        summary.info_was_changed = true;
        summary
            .notes
            .push("info.json was changed after it was written".to_owned());
    }
    if cpu_times.too_many {
        summary
            .notes
            .push("too many processes came and went to add up their CPU time".to_owned());
    }
    Ok((summary, info))
}

fn lines_are(count: u64) -> String {
    let verb = if count == 1 { "is" } else { "are" };
    format!("{} {verb}", counted(count, "line"))
}

/// Energy that is left out; a log may name any number.
fn left_out(kwh: f64) -> Energy {
    const MOST_KWH: f64 = 1e9;
    Energy::from_kwh(kwh.clamp(0.0, MOST_KWH)).unwrap_or(Energy::ZERO)
}

fn from_counters(
    counters: &mut RunningTotals,
    info: &Info,
    damage: Damage,
) -> Result<RunSummary, OutOfRange> {
    let parts = counters.parts()?;
    let (phases, occurrences) = counters.phases();
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
    notes.extend(counters.notes_on_marks());
    if counters.fell_back {
        notes.push("a running total fell; the largest was kept".to_owned());
    }
    let contradictions = counters.plausible.notes();
    // What the tracker has left out, its own notes describe.
    let by_tracker = info.balance.iter();
    let by_tracker: f64 = by_tracker
        .filter(|(component, _)| counters.counts(component))
        .map(|(_, balance)| balance.left_out_j.max(0.0))
        .sum();
    let implausible = left_out((counters.left_out_j() + by_tracker) / JOULES_PER_KWH);
    let contradicted = contradictions.len() + usize::from(counters.fell_back);
    notes.extend(contradictions);
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
        occurrences,
        counts: counters.work(),
        started: info.started.map(|time| time.with_timezone(&Utc)),
        has_no_end,
        bad_lines: damage.all(),
        implausible,
        contradictions: contradicted,
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
    let contradictions = integral.notes();
    let contradicted = contradictions.len();
    notes.extend(contradictions);
    Ok(RunSummary {
        absent,
        duration: hours(integral.hours)?,
        gpu_time: integral.gpu_hours().map(hours).transpose()?,
        carbon: integral.carbon.finish(info)?,
        started: integral.started(),
        is_legacy: true,
        has_no_end,
        bad_lines: damage.all(),
        implausible: left_out(integral.left_out_kwh()),
        contradictions: contradicted,
        notes,
        ..described(info, parts)
    })
}

/// A summary with what the info file says and no figures yet.
fn described(info: &Info, parts: BTreeMap<Component, Part>) -> RunSummary {
    RunSummary {
        id: (!info.id.is_empty()).then(|| info.id.clone()),
        inside: info.inside.clone(),
        outer_runs: info.outer_runs.clone(),
        merged_from: info.merged_from.clone(),
        merged_seconds: info.merged_seconds.clone(),
        boot_id: info.host.boot_id.clone(),
        followed: info.followed,
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
        is_legacy: false,
        pue_source: info.pue_source.clone(),
        started: None,
        host: info.host.hostname.clone(),
        hardware: Hardware::default(),
        outcome: RunOutcome::of(info.exit_code),
        phases: Vec::new(),
        occurrences: Vec::new(),
        counts: BTreeMap::new(),
        has_no_end: false,
        bad_lines: 0,
        info_was_changed: false,
        project_settings: info.project_settings.clone(),
        power_cap: info.power_cap.clone(),
        implausible: Energy::ZERO,
        contradictions: 0,
        counted_elsewhere: false,
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
