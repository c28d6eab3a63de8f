use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::curve::Curve;
use crate::ledger::RunSummary;
use crate::ledger::plausible_totals::PlausibleTotals;
use crate::log::{ReadError, Record};
use crate::model::{Component, Info, Meter, Method};

/// One of the runs to merge: its figures, and its running totals on the wall clock of its host.
#[derive(Debug, Clone)]
pub struct Source {
    pub(super) path: PathBuf,
    pub(super) info: Info,
    pub(super) summary: RunSummary,
    pub(super) start: f64,
    pub(super) end: f64,
    pub(super) traces: BTreeMap<Component, Trace>,
}

/// The running totals of one component.
#[derive(Debug, Clone)]
pub(super) struct Trace {
    pub(super) machine: Option<Curve>,
    pub(super) attributed: Curve,
    pub(super) method: Method,
}

impl Source {
    /// Reads a run's log once more, for its course over time.
    pub fn read(run: &Path, summary: RunSummary) -> Result<Self, ReadError> {
        let mut record = Record::open(run)?;
        let mut start = summary
            .started
            .map(|time| time.timestamp_micros() as f64 / 1e6);
        let mut traces: BTreeMap<Component, Trace> = BTreeMap::new();
        let mut plausible = PlausibleTotals::new(&record.info);
        record.for_each_row(|row| {
            let mut meters = row.meters()?;
            let Some(elapsed) = plausible.correct(row, &mut meters)? else {
                return Ok(());
            };
            // The wall clock says when the run started; from there on the monotonic one counts.
            let start = *start.get_or_insert(row.timestamp - elapsed);
            for (component, meter) in meters {
                // Accounting has bounded these; there may be any number of others.
                if summary.parts.contains_key(&component) {
                    follow(&mut traces, component, &meter, start, start + elapsed);
                }
            }
            Ok(())
        })?;
        let start = start.unwrap_or(0.0);
        let end = start + summary.duration.seconds();
        for (component, part) in &summary.parts {
            // Logs of power samples have no running totals, only what they add up to.
            traces.entry(component.clone()).or_insert_with(|| Trace {
                machine: part
                    .machine
                    .map(|machine| Curve::line(start, end, machine.joules())),
                attributed: Curve::line(start, end, part.attributed.joules()),
                method: part.method.clone(),
            });
        }
        Ok(Self {
            path: run.to_owned(),
            info: record.info,
            summary,
            start,
            end,
            traces,
        })
    }

    /// Identifies the run independently of its folder; foreign logs have no id, but no two runs drew
    /// the same energy at the same time.
    pub(super) fn name(&self) -> String {
        let id = self.summary.id.as_deref().unwrap_or_default();
        let host = self.summary.host.as_deref().unwrap_or_default();
        let energy = self.summary.total().exact();
        format!("{id} {host} {} {} {energy}", self.start, self.end)
    }

    /// An order that depends on the runs, not on where they were found first.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        self.start
            .total_cmp(&other.start)
            .then(other.end.total_cmp(&self.end))
            .then_with(|| self.summary.total().cmp(&other.summary.total()))
            .then_with(|| self.path.cmp(&other.path))
    }
}

fn follow(
    traces: &mut BTreeMap<Component, Trace>,
    component: Component,
    meter: &Meter,
    start: f64,
    time: f64,
) {
    let sound = |joules: &f64| joules.is_finite() && *joules >= 0.0;
    let Some(attributed) = meter.attributed_j.filter(sound) else {
        return;
    };
    let from_nothing = || {
        let mut curve = Curve::default();
        curve.push(start, 0.0);
        curve
    };
    let trace = traces.entry(component).or_insert_with(|| Trace {
        machine: meter.total_j.map(|_| from_nothing()),
        attributed: from_nothing(),
        method: meter.method.clone(),
    });
    trace.attributed.push(time, attributed);
    if let (Some(curve), Some(total)) = (&mut trace.machine, meter.total_j.filter(sound)) {
        curve.push(time, total);
    }
    if trace.method.is_measured() {
        trace.method = meter.method.clone();
    }
}
