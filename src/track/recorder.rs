use std::path::{Path, PathBuf};

use super::csv_series::CsvSeries;
use super::plan::Plan;
use crate::log::LogWriter;
use crate::model::{Info, Sample};

/// Writes samples and notes during a run; what cannot be written is counted and noted.
#[derive(Debug)]
pub(crate) struct Recorder {
    log: Option<LogWriter>,
    /// The topmost folder that was created for the log.
    made: Option<PathBuf>,
    series: Option<CsvSeries>,
    has_failed: bool,
    notes: Vec<String>,
    /// Number of notes that were left out.
    left_out: u64,
}

/// What is left of a closed recorder.
#[derive(Debug)]
pub(crate) struct Closed {
    /// The run's folder, if its log is still where it was made.
    pub(crate) run: Option<PathBuf>,
    pub(crate) notes: Vec<String>,
    /// Those of the notes that say what the log lacks.
    pub(crate) not_in_log: Vec<String>,
}

/// More notes are left out: a sensor that fails again and again could produce any number.
const MOST_NOTES: usize = 200;

/// That so many samples are missing.
pub(crate) fn unwritten(samples: u64) -> String {
    match samples {
        1 => "1 sample was not written".to_owned(),
        _ => format!("{samples} samples were not written"),
    }
}

impl Recorder {
    pub(crate) fn create(plan: &Plan, id: &str, info: &Info, first: &Sample) -> Self {
        let folder = plan.out.clone().unwrap_or_else(|| {
            let time = chrono::Local::now().format("%Y%m%dT%H%M%S");
            plan.logs.join(format!("{time}-{}-{id}", plan.label()))
        });
        let mut notes = Vec::new();
        let missing = folder.ancestors().take_while(|folder| !folder.exists());
        let made = missing.last().map(Path::to_owned);
        let log = LogWriter::create(&folder, id, info, first)
            .map_err(|error| {
                notes.push(format!("no log in {}: {error}", folder.display()));
            })
            .ok();
        // The run's folder already had a log, so a new folder was made inside.
        let beside = log.as_ref().map(LogWriter::run);
        let beside = beside.filter(|run| *run != folder).map(Path::to_owned);
        let made = made.or(beside);
        let series = plan.csv.as_ref().and_then(|path| {
            CsvSeries::create(path)
                .and_then(|mut series| series.write(first).map(|()| series))
                .map_err(|error| {
                    let place = if plan.redact {
                        Path::new("its file")
                    } else {
                        path
                    };
                    notes.push(format!("no table in {}: {error}", place.display()));
                })
                .ok()
        });
        Self {
            log,
            made,
            series,
            has_failed: false,
            notes,
            left_out: 0,
        }
    }

    pub(crate) fn log(&self) -> Option<&LogWriter> {
        self.log.as_ref()
    }

    /// The run's folder, if its log is still where it was made.
    pub(crate) fn run(&self) -> Option<&Path> {
        let log = self.log.as_ref()?;
        log.folder().exists().then(|| log.run())
    }

    /// Writes samples; more than one where the disk was slower than the sampling. Gives how many are in the log.
    pub(crate) fn samples(&mut self, samples: &[Sample]) -> usize {
        let Some(first) = samples.first() else {
            return 0;
        };
        let mut in_log = samples.len();
        if let Some(log) = &mut self.log
            && let Err(error) = log.samples(samples)
        {
            if !std::mem::replace(&mut self.has_failed, true) {
                self.note(format!(
                    "after {:.3} s: a sample was not written: {error}",
                    first.elapsed
                ));
            }
            in_log = 0;
        }
        let written = self.series.as_mut().map_or(Ok(()), |series| {
            samples.iter().try_for_each(|sample| series.write(sample))
        });
        if let Err(error) = written {
            self.series = None;
            self.note(format!(
                "after {:.3} s: the table ends: {error}",
                first.elapsed
            ));
        }
        in_log
    }

    pub(crate) fn note(&mut self, text: String) {
        if self.notes.len() >= MOST_NOTES {
            self.left_out += 1;
        } else {
            self.write_note(text);
        }
    }

    fn write_note(&mut self, text: String) {
        if let Some(log) = &mut self.log {
            log.message(&text);
        }
        self.notes.push(text);
    }

    /// Writes the completed info.
    pub(crate) fn close(mut self, mut info: Info, unwritten_samples: u64) -> Closed {
        let mut not_in_log = Vec::new();
        if unwritten_samples > 0 && self.log.is_some() {
            not_in_log.push(unwritten(unwritten_samples));
        }
        let mut last = not_in_log.clone();
        if self.left_out > 0 {
            last.push(format!("{} further notes are left out", self.left_out));
        }
        if self.log.is_some() && self.run().is_none() {
            last.push("the folder of the log is gone".to_owned());
        }
        for text in last {
            self.write_note(text);
        }
        info.notes.append(&mut self.notes.clone());
        if let Some(log) = &mut self.log {
            let message = match log.info(&info) {
                Ok(()) => "ended".to_owned(),
                Err(error) => {
                    not_in_log.push(format!("info.json was not completed: {error}"));
                    self.notes.extend(not_in_log.last().cloned());
                    format!("ended; info.json was not completed: {error}")
                }
            };
            log.message(&message);
        }
        Closed {
            run: self.run().map(Path::to_owned),
            notes: self.notes,
            not_in_log,
        }
    }

    /// Removes all files, for a command that could not be started.
    pub(crate) fn discard(self) {
        if let Some(series) = self.series {
            series.discard();
        }
        let Some(log) = self.log else { return };
        let _ = std::fs::remove_dir_all(log.folder());
        let Some(top) = self.made else { return };
        for folder in log.run().ancestors().take_while(|f| f.starts_with(&top)) {
            // Another run may be in the folder.
            if std::fs::remove_dir(folder).is_err() {
                break;
            }
        }
    }
}
