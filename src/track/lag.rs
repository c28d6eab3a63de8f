use std::time::Duration;

/// How often counters are looked at while their rhythm is learned.
pub(crate) const GLANCE: Duration = Duration::from_micros(250);
/// Without a first update by then, the counters have no rhythm.
const FIRST_EDGE_BY: Duration = Duration::from_millis(9);
/// Without enough updates by then, neither.
const GIVE_UP_AFTER: Duration = Duration::from_millis(26);
/// Updates needed before a rhythm is believed.
const EDGES: usize = 4;
/// How far gaps and steps may be from their mean.
const LOOSENESS: f64 = 0.4;

/// What counters that are updated in steps hide between two updates.
///
/// A counter that is updated every few milliseconds is late by up to one update at the start and at
/// the end of a run; for a run of half a second that is up to a hundredth of its energy. Where the
/// updates come in an even rhythm, where in the rhythm the run began and ended says how much.
#[derive(Debug)]
pub(crate) struct Lag {
    traces: Vec<Trace>,
    last_glance: Duration,
}

#[derive(Debug, Clone, Default)]
struct Trace {
    last: Option<u64>,
    /// What was counted between the reading before the command and the first look after it began.
    before: u64,
    edges: Vec<Edge>,
}

#[derive(Debug, Clone, Copy)]
struct Edge {
    at: Duration,
    step: u64,
}

impl Lag {
    /// Starts to watch when the command has begun; `earlier` is what was read before it did.
    pub(crate) fn starting(earlier: &[Option<u64>], faces: &[Option<u64>], at: Duration) -> Self {
        let trace = |(earlier, now): (&Option<u64>, &Option<u64>)| Trace {
            last: *now,
            before: now.unwrap_or(0).saturating_sub(earlier.unwrap_or(0)),
            edges: Vec::new(),
        };
        Self {
            traces: earlier.iter().zip(faces).map(trace).collect(),
            last_glance: at,
        }
    }

    /// Takes in what the counters show; times are since the start of the run.
    pub(crate) fn glance(&mut self, faces: &[Option<u64>], at: Duration) {
        // The update came at some time since the last glance.
        let edge = self.last_glance + (at.saturating_sub(self.last_glance)) / 2;
        for (trace, face) in self.traces.iter_mut().zip(faces) {
            if let (Some(last), Some(now)) = (trace.last, *face)
                && now > last
            {
                trace.edges.push(Edge {
                    at: edge,
                    step: now - last,
                });
            }
            trace.last = *face;
        }
        self.last_glance = at;
    }

    /// Whether looking on would teach nothing more.
    pub(crate) fn is_settled(&self) -> bool {
        let watched = || self.traces.iter().filter(|trace| trace.last.is_some());
        let first_due = self.last_glance < FIRST_EDGE_BY;
        watched().all(|trace| trace.edges.len() >= EDGES)
            || self.last_glance >= GIVE_UP_AFTER
            || (!first_due && watched().all(|trace| trace.edges.is_empty()))
    }

    /// By how many microjoules each counter's total is too large at the start, to be taken off.
    pub(crate) fn at_start(&self) -> Vec<i64> {
        let hidden = |trace: &Trace| {
            let (period, step) = trace.rhythm()?;
            let first = trace.edges.first()?;
            let counted = (trace.before + first.step) as f64;
            let since_the_start = step * first.at.as_secs_f64() / period;
            Some(-((counted - since_the_start).max(0.0) as i64))
        };
        self.traces
            .iter()
            .map(|trace| hidden(trace).unwrap_or(0))
            .collect()
    }

    /// How long to wait after the end for the next update; none where there is no rhythm.
    pub(crate) fn patience(&self) -> Option<Duration> {
        let longest = self
            .traces
            .iter()
            .filter_map(|trace| Some(trace.rhythm()?.0))
            .fold(0.0, f64::max);
        (longest > 0.0).then(|| Duration::from_secs_f64(longest * 1.4))
    }

    /// Begins to watch for the first update after the end of the run.
    pub(crate) fn ending(faces: &[Option<u64>], at: Duration) -> Self {
        Self::starting(faces, faces, at)
    }

    /// Whether every counter with a rhythm has been updated since the end.
    pub(crate) fn has_seen_the_end(&self, before: &Self) -> bool {
        let mut pairs = self.traces.iter().zip(&before.traces);
        pairs.all(|(after, before)| !after.edges.is_empty() || before.rhythm().is_none())
    }

    /// By how many microjoules each counter was late at `end`, to be added.
    pub(crate) fn at_end(&self, before: &Self, end: Duration) -> Vec<i64> {
        let hidden = |after: &Trace, before: &Trace| {
            let (period, _) = before.rhythm()?;
            let next = after.edges.first()?;
            let until_next = next.at.saturating_sub(end).as_secs_f64();
            let part = (1.0 - until_next / period).clamp(0.0, 1.0);
            Some((next.step as f64 * part) as i64)
        };
        self.traces
            .iter()
            .zip(&before.traces)
            .map(|(after, before)| hidden(after, before).unwrap_or(0))
            .collect()
    }
}

impl Trace {
    /// Seconds between updates and microjoules an update, if both are even.
    fn rhythm(&self) -> Option<(f64, f64)> {
        if self.edges.len() < EDGES {
            return None;
        }
        let gaps = self
            .edges
            .windows(2)
            .map(|pair| pair[1].at.saturating_sub(pair[0].at).as_secs_f64());
        let steps = self.edges[1..].iter().map(|edge| edge.step as f64);
        Some((even_mean(gaps)?, even_mean(steps)?))
    }
}

/// The mean of values that lie close to it.
fn even_mean(mut values: impl ExactSizeIterator<Item = f64> + Clone) -> Option<f64> {
    let mean = values.clone().sum::<f64>() / values.len() as f64;
    values
        .all(|value| (value - mean).abs() <= LOOSENESS * mean)
        .then_some(mean)
        .filter(|mean| *mean > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD_US: u64 = 5_000;

    /// 10 W, updated every 5 ms at 2 ms, 7 ms, ...
    fn face(us: u64) -> Option<u64> {
        Some(1_000_000 + (us + 3_000) / PERIOD_US * PERIOD_US * 10)
    }

    fn watched(face: impl Fn(u64) -> Option<u64>) -> Lag {
        let mut lag = Lag::starting(&[face(0)], &[face(0)], Duration::ZERO);
        let mut us = 0;
        while !lag.is_settled() {
            us += 250;
            lag.glance(&[face(us)], Duration::from_micros(us));
        }
        lag
    }

    #[test]
    fn a_late_counter_is_set_right_at_both_ends() {
        let start = watched(face);
        // Three milliseconds had gone by since the last update: 30 mJ.
        assert!(
            (start.at_start()[0] + 30_000).abs() < 3_000,
            "{:?}",
            start.at_start()
        );

        let end_us = 500_900;
        let end = Duration::from_micros(end_us);
        let mut after = Lag::ending(&[face(end_us)], end);
        let mut us = end_us;
        while !after.has_seen_the_end(&start) {
            us += 250;
            after.glance(&[face(us)], Duration::from_micros(us));
        }
        // 3.9 ms since the update at 497 ms.
        assert!((after.at_end(&start, end)[0] - 39_000).abs() < 3_000);
    }

    #[test]
    fn what_was_counted_while_the_command_was_started_is_taken_off() {
        let mut lag = watched(face);
        let without = lag.at_start()[0];
        lag.traces[0].before = 12_000;
        assert_eq!(lag.at_start()[0], without - 12_000);
    }

    #[test]
    fn a_counter_that_moves_once_is_left_as_it_is() {
        let lag = watched(|us| Some(if us < 4_000 { 0 } else { 5_000_000 }));
        assert_eq!(lag.at_start(), [0]);
        assert_eq!(lag.patience(), None);
    }

    #[test]
    fn a_counter_that_stands_still_is_soon_left_alone() {
        let lag = watched(|_| Some(7));
        assert!(lag.last_glance <= FIRST_EDGE_BY);
    }
}
