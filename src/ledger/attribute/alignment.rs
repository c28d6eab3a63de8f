use std::fmt;

use super::power_curve::PowerCurve;
use super::profile::{Timed, is_since_1970};
use crate::text::quantity::Quantity;
use crate::units::SECONDS_PER_HOUR;

/// By so many ns a profile may lie outside of its run: clocks and the last sample are no better known.
const NOTICEABLE: i64 = 100_000_000;

/// How the times of a profile were matched with those of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alignment {
    /// By what.
    pub by: AlignedBy,
    /// What is added to a time of the profile to get ns since the start of the run.
    pub(super) shift: i64,
    /// When the first span begins and the last one ends, in ns since the start of the run.
    pub(super) bounds: (i64, i64),
    /// The end of the run, in ns since its start.
    pub(super) run_end: i64,
}

/// What two clocks are matched by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AlignedBy {
    /// The times are since 1970, as are those of the log.
    Epoch,
    /// The profile says when its time 0 was.
    BaseTime,
    /// The user has said when time 0 was.
    Offset,
    /// The user has said with which phase time 0 was.
    Phase,
    /// Time 0 is taken for the start of the run.
    StartOfRun,
    /// The first span is taken to begin with the run.
    FirstSpan,
}

impl Alignment {
    /// The best that can be known of the times of spans, or of memory if there are no spans.
    pub(super) fn of(
        timed: &Timed,
        memory: &[(i64, f64)],
        curve: &PowerCurve,
        given: Option<(AlignedBy, i64)>,
    ) -> Option<Self> {
        let of_memory = memory.first().zip(memory.last());
        let of_memory = of_memory.map(|((first, _), (last, _))| (*first, *last));
        let (first, last) = timed.spans.bounds().or(of_memory)?;
        let base = timed
            .base
            .filter(|base| is_since_1970(base.saturating_add(first)));
        let (by, shift) = match (given, curve.started, base) {
            (Some(given), ..) => given,
            (None, Some(started), _) if is_since_1970(first) => (AlignedBy::Epoch, -started),
            (None, Some(started), Some(base)) => (AlignedBy::BaseTime, base - started),
            _ if first >= 0 && last <= curve.end() + NOTICEABLE => (AlignedBy::StartOfRun, 0),
            _ => (AlignedBy::FirstSpan, first.saturating_neg()),
        };
        Some(Self {
            by,
            shift,
            bounds: (first.saturating_add(shift), last.saturating_add(shift)),
            run_end: curve.end(),
        })
    }

    /// Whether a span and the run have an instant in common.
    pub(super) fn overlaps(&self) -> bool {
        self.bounds.1 >= 0 && self.bounds.0 <= self.run_end
    }

    /// What of the profile is not within the run, for people.
    pub(super) fn outside(&self) -> Option<String> {
        let (before, after) = (-self.bounds.0, self.bounds.1 - self.run_end);
        let parts: Vec<String> = [(before, "begins", "before it"), (after, "ends", "after it")]
            .into_iter()
            .filter(|(time, ..)| *time > NOTICEABLE)
            .map(|(time, what, side)| format!("{what} {} {side}", seconds(time)))
            .collect();
        let parts = (!parts.is_empty()).then(|| parts.join(" and "))?;
        Some(format!(
            "the profile is not within the run: it {parts}; nothing is attributed there"
        ))
    }
}

impl AlignedBy {
    fn sentence(self) -> &'static str {
        match self {
            Self::Epoch => "times since 1970, as in the log",
            Self::BaseTime => "the base time of the profile",
            Self::Offset => "the offset that was given",
            Self::Phase => "time 0 is the start of the phase that was given",
            Self::StartOfRun => "assumed: time 0 of the profile is the start of the run",
            Self::FirstSpan => "assumed: the first span begins with the run",
        }
    }
}

impl fmt::Display for Alignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the profile is from {} to {} of a run of {} ({})",
            seconds(self.bounds.0),
            seconds(self.bounds.1),
            seconds(self.run_end),
            self.by.sentence()
        )
    }
}

fn seconds(time: i64) -> String {
    Quantity::Time.amount(time as f64 / 1e9 / SECONDS_PER_HOUR)
}
