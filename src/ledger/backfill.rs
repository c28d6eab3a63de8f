//! Adds the carbon intensity that a grid had at the time to the samples of a run.

use std::fs::{self, OpenOptions};
use std::io;
use std::io::Write as _;
use std::path::Path;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};

use crate::files::AtomicFile;
use crate::grid::intensity::provider_chain::NoProviderAnswered;
use crate::grid::intensity::{NotAPeriod, Period, ProviderChain, Series};
use crate::log::fill::{Averages, History, Recorded, Survey};
use crate::log::{
    DATA_FILE, FOLDER, INFO_FILE, MESSAGES_FILE, ReadError, Record, fill, info_bytes,
};
use crate::model::ZoneId;
use crate::text::number::counted;

/// How runs are filled in.
#[derive(Debug)]
pub struct Backfill<'a> {
    /// The providers to ask.
    pub providers: &'a ProviderChain,
    /// The zone of the runs; none for the one each run recorded.
    pub zone: Option<ZoneId>,
    /// What to do with intensities that were recorded during a run.
    pub recorded: Recorded,
    /// Whether only to find out what would be filled in.
    pub dry_run: bool,
    /// The present time.
    pub now: DateTime<Utc>,
}

/// What was filled into one run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Backfilled {
    /// Every sample had an intensity.
    Complete,
    /// Samples were given an intensity.
    Filled {
        /// How many were.
        samples: u64,
        /// How many were not, because the series has no value for their time.
        gaps: u64,
        /// The intensities and their sources.
        series: Series,
    },
}

/// Why a run was not filled in.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackfillError {
    /// The run has no readable log.
    #[error(transparent)]
    Log(#[from] ReadError),
    /// A tracker may still be writing the log.
    #[error("it is still being written")]
    StillWritten,
    /// The samples cannot be read.
    #[error("cannot read its samples")]
    ReadSamples(#[source] io::Error),
    /// The samples cannot be written.
    #[error("cannot write its samples")]
    WriteSamples(#[source] io::Error),
    /// The samples have times that are no dates.
    #[error("its samples have impossible times")]
    Times,
    /// The samples are too far apart to ask for.
    #[error(transparent)]
    Period(#[from] NotAPeriod),
    /// The run recorded no zone, and none was given.
    #[error("it does not say in which zone it ran")]
    NoZone,
    /// No provider has values.
    #[error("{}: {}", .0, .0.reasons("; "))]
    Unanswered(NoProviderAnswered),
    /// The values are of other times than the samples.
    #[error("{} has no value for any of its samples", .0.source())]
    NoValue(Series),
    /// The description of the run is not a JSON object.
    #[error("its info.json is not one JSON object")]
    Info,
    /// The description of the run cannot be written.
    #[error("cannot write {file}")]
    WriteInfo {
        /// The file in the folder of the log.
        file: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl Backfill<'_> {
    /// Gives the samples of a run the intensity of their time, and notes the source in the run's description.
    pub fn run(&self, run: &Path) -> Result<Backfilled, BackfillError> {
        let folder = run.join(FOLDER);
        let data = folder.join(DATA_FILE);
        let record = Record::open(run)?;
        let info = &record.info;
        if info.ended.is_none() && self.is_recent(&data) {
            return Err(BackfillError::StillWritten);
        }
        let averages = Averages::of(info);
        let survey = fill::survey(&data, self.recorded, averages);
        let survey = survey.map_err(BackfillError::ReadSamples)?;
        let Some(period) = period(&survey)? else {
            return Ok(Backfilled::Complete);
        };
        let recorded_zone = || info.region.as_ref().map(|region| region.zone.clone());
        let zone = self.zone.clone().or_else(recorded_zone);
        let zone = zone.ok_or(BackfillError::NoZone)?;
        let answer = self.providers.intensity(&zone, &period);
        let series = answer.map_err(BackfillError::Unanswered)?.series;
        let history = History {
            at: |seconds| instant(seconds).and_then(|at| series.at(at)),
            sources: &series.sources,
        };
        let filled = if self.dry_run {
            fill::preview(&data, self.recorded, averages, &history)
                .map_err(BackfillError::ReadSamples)?
        } else {
            fill::fill(&data, self.recorded, averages, &history)
                .map_err(BackfillError::WriteSamples)?
        };
        if filled.filled == 0 {
            return Err(BackfillError::NoValue(series));
        }
        if !self.dry_run {
            let mut notes = info.notes.clone();
            if record.info_was_changed {
                // The checksum is made anew with the note.
                notes.push("info.json was changed before impact backfill".to_owned());
            }
            self.note(&folder, notes, &series, filled.filled)?;
        }
        Ok(Backfilled::Filled {
            samples: filled.filled,
            gaps: filled.gaps,
            series,
        })
    }

    /// Whether a file was written to in the last minutes; a tracker usually writes every few seconds.
    ///
    /// For file systems without locks; on others filling in finds out.
    fn is_recent(&self, path: &Path) -> bool {
        let modified = fs::metadata(path).and_then(|about| about.modified()).ok();
        modified.is_none_or(|at| self.now - DateTime::<Utc>::from(at) < TimeDelta::minutes(5))
    }

    /// Notes in the description of the run what was filled in, and from where; for people, as each sample names its
    /// own source.
    fn note(
        &self,
        folder: &Path,
        mut notes: Vec<String>,
        series: &Series,
        samples: u64,
    ) -> Result<(), BackfillError> {
        let note = format!(
            "{} impact backfill: carbon intensity of {} from {} ({})",
            self.now.to_rfc3339_opts(SecondsFormat::Secs, true),
            counted(samples, "sample"),
            series.source(),
            series.basis
        );
        let Some(bytes) = info_bytes(folder)? else {
            // Logs of other trackers have no such file, and one beside their info file would be read in its place.
            let messages = folder.join(MESSAGES_FILE);
            return OpenOptions::new()
                .append(true)
                .create(true)
                .open(messages)
                .and_then(|mut file| writeln!(file, "{note}"))
                .map_err(|source| BackfillError::WriteInfo {
                    file: MESSAGES_FILE,
                    source,
                });
        };
        notes.push(note);
        let notes = serde_json::to_string(&notes).map_err(|_| BackfillError::Info)?;
        let bytes = fill::with_fields(&bytes, &[("notes", &notes)]).ok_or(BackfillError::Info)?;
        replace(&folder.join(INFO_FILE), &bytes).map_err(|source| BackfillError::WriteInfo {
            file: INFO_FILE,
            source,
        })
    }
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = AtomicFile::keeping_permissions(path)?;
    file.write_all(bytes)?;
    file.replace()
}

fn instant(seconds: f64) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp_micros((seconds * 1e6) as i64)
}

/// The time of the samples that lack an intensity; none if none does.
fn period(survey: &Survey) -> Result<Option<Period>, BackfillError> {
    let Some((first, last)) = survey.span else {
        return Ok(None);
    };
    let after = |at: DateTime<Utc>| at.checked_add_signed(TimeDelta::seconds(1));
    let (Some(first), Some(end)) = (instant(first), instant(last).and_then(after)) else {
        return Err(BackfillError::Times);
    };
    Ok(Some(Period::new(first, end)?))
}
