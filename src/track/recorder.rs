use std::path::{Path, PathBuf};

use super::csv_series::CsvSeries;
use super::plan::Plan;
use crate::log::LogWriter;
use crate::model::{Info, Sample};

/// Everything that is written while a run goes on; what cannot be written is counted and told.
#[derive(Debug)]
pub(crate) struct Recorder {
    log: Option<LogWriter>,
    /// The uppermost of the folders that were made for the log.
    made: Option<PathBuf>,
    series: Option<CsvSeries>,
    lost: u64,
    notes: Vec<String>,
    /// Notes that came when there were enough.
    unsaid: u64,
}

/// A sensor that fails and works by turns has always something new to say.
const MOST_NOTES: usize = 200;

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
        // Beside the log that was there already.
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
            lost: 0,
            notes,
            unsaid: 0,
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

    pub(crate) fn sample(&mut self, sample: &Sample) {
        if let Some(log) = &mut self.log
            && let Err(error) = log.sample(sample)
        {
            if self.lost == 0 {
                self.note(format!(
                    "after {:.3} s: a sample was not written: {error}",
                    sample.elapsed
                ));
            }
            self.lost += 1;
        }
        if let Some(series) = &mut self.series
            && let Err(error) = series.write(sample)
        {
            self.series = None;
            self.note(format!(
                "after {:.3} s: the table ends: {error}",
                sample.elapsed
            ));
        }
    }

    pub(crate) fn note(&mut self, text: String) {
        if self.notes.len() >= MOST_NOTES {
            self.unsaid += 1;
        } else {
            self.say(text);
        }
    }

    fn say(&mut self, text: String) {
        if let Some(log) = &mut self.log {
            log.message(&text);
        }
        self.notes.push(text);
    }

    /// Writes the completed info and gives all notes of the run.
    pub(crate) fn close(mut self, mut info: Info) -> (Option<PathBuf>, Vec<String>) {
        let mut last = Vec::new();
        if self.lost > 0 {
            last.push(format!("{} samples were not written", self.lost));
        }
        if self.unsaid > 0 {
            last.push(format!("{} further notes are left out", self.unsaid));
        }
        if self.log.is_some() && self.run().is_none() {
            last.push("the folder of the log is gone".to_owned());
        }
        for text in last {
            self.say(text);
        }
        info.notes.append(&mut self.notes.clone());
        if let Some(log) = &mut self.log {
            let said = match log.info(&info) {
                Ok(()) => "ended".to_owned(),
                Err(error) => {
                    self.notes
                        .push(format!("info.json was not completed: {error}"));
                    format!("ended; info.json was not completed: {error}")
                }
            };
            log.message(&said);
        }
        (self.run().map(Path::to_owned), self.notes)
    }

    /// Leaves nothing behind, for a command that never started.
    pub(crate) fn discard(self) {
        if let Some(series) = self.series {
            series.discard();
        }
        let Some(log) = self.log else { return };
        let _ = std::fs::remove_dir_all(log.folder());
        let Some(top) = self.made else { return };
        for folder in log.run().ancestors().take_while(|f| f.starts_with(&top)) {
            // Another run may have come into it.
            if std::fs::remove_dir(folder).is_err() {
                break;
            }
        }
    }
}
