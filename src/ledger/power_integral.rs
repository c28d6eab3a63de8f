//! Integrates power samples as experiment-impact-tracker does, so that published figures are reproduced.

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};

use super::footprint::RecordedSeries;
use crate::log::legacy::LocalTimes;
use crate::log::{ImplausibleSample, RecordedIntensity, Row};
use crate::model::MOST_DEVICE_WATTS;
use crate::text::number::counted;
use crate::text::quantity::Quantity;
use crate::units::SECONDS_PER_HOUR;

/// Time zones differ by whole quarters of an hour.
const QUARTER: f64 = 900.0;
/// Seconds by which clocks may differ before that is noted.
const NOTICEABLE: f64 = 1.0;

/// No tracker samples less often than this; a longer step is a hole in the log, or the clock was set.
const LONGEST_STEP: f64 = 86_400.0;
/// 2000-01-01, before every log.
const FIRST_TIME: f64 = 946_684_800.0;

/// Sums power samples: the power of a row counts for the time since the row before it.
#[derive(Debug)]
pub(super) struct PowerIntegral {
    times: LocalTimes,
    gpus: usize,
    started: Option<f64>,
    offset: f64,
    last: Option<Instant>,
    cpu: Channel,
    gpu: Channel,
    gpu_hours: f64,
    knows_utilization: bool,
    pub(super) carbon: RecordedSeries,
    pub(super) hours: f64,
    pub(super) clock_went_back: bool,
    first: Option<f64>,
    newest: f64,
    is_repeating: bool,
    left_out: LeftOut,
}

/// What cannot be, and is not counted.
#[derive(Debug, Default)]
struct LeftOut {
    kwh: f64,
    /// Samples with more power than the devices can draw.
    overpowered: u64,
    /// Samples from before there were logs.
    timeless: u64,
    repeated: u64,
    /// Hours of steps that are longer than any.
    holes: f64,
}

/// What the latest row said.
#[derive(Debug, Clone, Copy)]
struct Instant {
    timestamp: f64,
    cpu_watts: Option<f64>,
    gpu_watts: Option<f64>,
    gpu_utilization: Option<f64>,
    intensity: RecordedIntensity,
}

/// The energy of one device class.
#[derive(Debug, Default, Clone, Copy)]
struct Channel {
    kwh: f64,
    present: bool,
}

impl Channel {
    fn add(&mut self, watts: Option<f64>, hours: f64) -> f64 {
        let Some(watts) = watts else { return 0.0 };
        self.present = true;
        let kwh = watts * hours / 1000.0;
        self.kwh += kwh;
        kwh
    }

    fn get(self) -> Option<f64> {
        self.present.then_some(self.kwh)
    }
}

impl PowerIntegral {
    pub(super) fn new(times: LocalTimes, gpus: usize) -> Self {
        Self {
            times,
            gpus,
            started: None,
            offset: 0.0,
            last: None,
            cpu: Channel::default(),
            gpu: Channel::default(),
            gpu_hours: 0.0,
            knows_utilization: false,
            carbon: RecordedSeries::default(),
            hours: 0.0,
            clock_went_back: false,
            first: None,
            newest: 0.0,
            is_repeating: false,
            left_out: LeftOut::default(),
        }
    }

    pub(super) fn add(&mut self, row: &Row) -> Result<(), ImplausibleSample> {
        for watts in [row.cpu_watts, row.gpu_watts, row.gpu_utilization]
            .into_iter()
            .flatten()
        {
            if watts < 0.0 {
                return Err(ImplausibleSample::NegativePower(watts));
            }
        }
        if !self.is_next(row.timestamp) {
            return Ok(());
        }
        self.carbon.see_source(row);
        let now = Instant {
            timestamp: row.timestamp,
            cpu_watts: row.cpu_watts,
            gpu_watts: row.gpu_watts,
            gpu_utilization: row.gpu_utilization,
            intensity: row.carbon_intensity,
        };
        let since = match self.last {
            Some(last) => last.timestamp,
            None => self.begin(now.timestamp),
        };
        self.step(now.timestamp - since, now);
        self.last = Some(now);
        Ok(())
    }

    /// Whether a sample of this time is to be counted: it can be, and is not there for the second time.
    fn is_next(&mut self, timestamp: f64) -> bool {
        if timestamp < FIRST_TIME {
            self.left_out.timeless += 1;
            return false;
        }
        let first = *self.first.get_or_insert(timestamp);
        // A log that is appended to itself starts with the very first sample.
        self.is_repeating |= timestamp == first && self.newest > first;
        self.is_repeating &= timestamp <= self.newest;
        self.newest = self.newest.max(timestamp);
        if self.is_repeating {
            self.left_out.repeated += 1;
        }
        !self.is_repeating
    }

    /// The start of the run, once its clock's offset from UTC can be told from the first sample.
    fn begin(&mut self, first: f64) -> f64 {
        let start = self.times.started.map_or(first, |local| {
            let read_as_utc = seconds(local);
            self.offset = ((first - read_as_utc) / QUARTER).round() * QUARTER;
            read_as_utc + self.offset
        });
        // A tracker samples after it starts; a clock that says otherwise was set meanwhile.
        let start = start.min(first);
        self.started = Some(start);
        start
    }

    fn step(&mut self, seconds: f64, now: Instant) {
        if seconds < -NOTICEABLE {
            self.clock_went_back = true;
        }
        let mut hours = seconds.max(0.0) / SECONDS_PER_HOUR;
        let most_gpu_watts = MOST_DEVICE_WATTS * self.gpus.max(1) as f64;
        let powers = [
            (now.cpu_watts, MOST_DEVICE_WATTS),
            (now.gpu_watts, most_gpu_watts),
        ];
        let is_hole = seconds > LONGEST_STEP;
        let [cpu_watts, gpu_watts] = powers.map(|(watts, most)| {
            let watts = watts?;
            let is_too_much = watts > most;
            if is_too_much || is_hole {
                self.left_out.kwh += watts * hours / 1000.0;
            }
            self.left_out.overpowered += u64::from(is_too_much);
            Some(if is_too_much { 0.0 } else { watts })
        });
        if is_hole {
            self.left_out.holes += hours;
            hours = 0.0;
        }
        self.hours += hours;
        let kwh = self.cpu.add(cpu_watts, hours) + self.gpu.add(gpu_watts, hours);
        self.carbon.add(kwh, now.intensity);
        if let Some(utilization) = now.gpu_utilization {
            self.knows_utilization = true;
            self.gpu_hours += hours * utilization * self.gpus as f64;
        }
    }

    /// Carries the last power on to the end of the run, where the log knows its end.
    pub(super) fn finish(&mut self) {
        let (Some(last), Some(ended)) = (self.last, self.times.ended) else {
            return;
        };
        let tail = seconds(ended) + self.offset - last.timestamp;
        // Daylight saving may have ended or begun during the run.
        let tail = if tail < -NOTICEABLE {
            tail + SECONDS_PER_HOUR
        } else {
            tail
        };
        self.step(tail, last);
    }

    /// Energy that is left out because it cannot be.
    pub(super) fn left_out_kwh(&self) -> f64 {
        self.left_out.kwh
    }

    /// What was found that cannot be, for people.
    pub(super) fn notes(&self) -> Vec<String> {
        let left_out = &self.left_out;
        let mut notes = Vec::new();
        if self.clock_went_back {
            notes.push(
                "the clock was set back during the run; that interval counts as nothing".to_owned(),
            );
        }
        let samples = [
            (left_out.timeless, "at a time before every log; not counted"),
            (left_out.repeated, "there twice; counted once"),
            (
                left_out.overpowered,
                "of more power than the devices can draw; not counted",
            ),
        ];
        for (count, what) in samples.into_iter().filter(|(count, _)| *count > 0) {
            notes.push(format!("{}: {what}", counted(count, "sample")));
        }
        if left_out.holes > 0.0 {
            notes.push(format!(
                "{} lie between two samples that are more than a day apart; not counted",
                Quantity::Time.amount(left_out.holes)
            ));
        }
        notes
    }

    pub(super) fn knows_end(&self) -> bool {
        self.times.ended.is_some()
    }

    pub(super) fn cpu_kwh(&self) -> Option<f64> {
        self.cpu.get()
    }

    pub(super) fn gpu_kwh(&self) -> Option<f64> {
        self.gpu.get()
    }

    pub(super) fn gpu_hours(&self) -> Option<f64> {
        self.knows_utilization.then_some(self.gpu_hours)
    }

    pub(super) fn started(&self) -> Option<DateTime<Utc>> {
        let micros = self.started? * 1e6;
        DateTime::from_timestamp_micros(micros as i64)
    }
}

fn seconds(time: NaiveDateTime) -> f64 {
    let since: TimeDelta = time.and_utc() - DateTime::UNIX_EPOCH;
    since.num_microseconds().unwrap_or_default() as f64 / 1e6
}
