use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use serde::Serialize;

use crate::files::AtomicFile;
use crate::ledger::figure::Figures;
use crate::ledger::summarise::summarise;
use crate::ledger::{AccountedRun, Assumptions};
use crate::text::escape;
use crate::track::{Ending, Summary};

const SCHEMA: &str = "impact-summary/1";
/// How long the end of a run waits for a slow disk.
const PATIENCE: Duration = Duration::from_secs(2);

/// The file of `--summary`.
#[derive(Debug)]
pub(super) struct SummaryFile {
    path: PathBuf,
    /// What is not to be written.
    redact: bool,
}

/// The closing figures of a run, by the names that reports have.
#[derive(Serialize)]
struct Document {
    schema: &'static str,
    impact_version: &'static str,
    /// The folder of the run; none without a log, and where it is redacted.
    path: Option<PathBuf>,
    /// As a shell would give it; none where the end of the process was not seen.
    exit_code: Option<u8>,
    /// The signal that ended the command.
    signal: Option<u8>,
    /// None where there is no log to account.
    figures: Option<Figures>,
    notes: Vec<String>,
}

impl SummaryFile {
    /// The file, unless it is already there: the error says so.
    pub(super) fn new(path: &Path, redact: bool) -> Result<Self, String> {
        let path = std::path::absolute(path).map_err(|error| error.to_string())?;
        if path.symlink_metadata().is_ok() {
            return Err(format!(
                "{} is already there, so the summary of this run will not be written; name another file",
                path.display()
            ));
        }
        Ok(Self { path, redact })
    }

    /// Writes the figures of a run that has ended, at once or not at all; the error says why not.
    pub(super) fn write(self, summary: &Summary) -> Result<(), String> {
        let shown = self.path.display().to_string();
        let run = summary.run.clone();
        let mut document = Document {
            schema: SCHEMA,
            impact_version: env!("CARGO_PKG_VERSION"),
            path: run.clone().filter(|_| !self.redact),
            exit_code: match summary.ending {
                Ending::Unknown => None,
                ending => Some(ending.code()),
            },
            signal: match summary.ending {
                Ending::Killed(signal) => Some(signal),
                _ => None,
            },
            figures: None,
            notes: summary.notes.clone(),
        };
        let (sender, receiver) = mpsc::channel();
        // A disk may hang for longer than anybody waits.
        std::thread::spawn(move || {
            document.figures = run.as_deref().and_then(figures);
            let _ = sender.send(create(&self.path, &document));
        });
        let why = match receiver.recv_timeout(PATIENCE) {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(why)) => why,
            Err(_) => "the disk takes too long".to_owned(),
        };
        Err(format!("the summary {shown} was not written: {why}"))
    }
}

/// The figures of a log, by what it recorded.
fn figures(run: &Path) -> Option<Figures> {
    let summary = summarise(run).ok()?;
    Some(AccountedRun::new(run, &summary, &Assumptions::default()).figures())
}

fn create(path: &Path, document: &Document) -> Result<(), String> {
    let text = escape::pretty_json(document).map_err(|error| error.to_string())?;
    let write = || {
        let mut file = AtomicFile::new(path)?;
        file.write_all(text.as_bytes())?;
        file.create_new()
    };
    write().map_err(|error| error.to_string())
}
