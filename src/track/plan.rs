use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::grid::intensity::ProviderChain;
use crate::meter::sensor::Roots;
use crate::model::PueSource;
use crate::model::info::Region;
use crate::units::Pue;

/// What to track, and how.
#[derive(Debug, Clone)]
pub struct Plan {
    pub subject: Subject,
    /// The run's folder; none stands for a new one under `logs`.
    pub out: Option<PathBuf>,
    /// Where runs without a folder of their own are logged.
    pub logs: PathBuf,
    pub name: Option<String>,
    pub tags: BTreeMap<String, String>,
    pub interval: Duration,
    /// Stop tracking after this time; the command goes on.
    pub duration: Option<Duration>,
    pub pue: Option<Pue>,
    /// Who stated the PUE.
    pub pue_source: Option<PueSource>,
    pub region: Option<Region>,
    /// Who is asked how dirty the region's electricity is while the command runs.
    pub grid: Option<Arc<ProviderChain>>,
    /// Where to write the time series as well.
    pub csv: Option<PathBuf>,
    /// What is to be noted in the log before anything is measured.
    pub notes: Vec<String>,
    /// Keep arguments, folders and the host's name out of the log.
    pub redact: bool,
    /// Put the command into a control group of its own where that is allowed.
    pub own_group: bool,
    pub roots: Roots,
}

/// What is tracked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A command to start.
    Command(Vec<OsString>),
    /// A process that is running, and its descendants.
    Process(u32),
}

impl Plan {
    /// The run's name: as given, or that of the program.
    pub(crate) fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| match &self.subject {
            Subject::Command(words) => words
                .first()
                .and_then(|word| Some(Path::new(word).file_name()?.to_string_lossy().into_owned()))
                .unwrap_or_default(),
            Subject::Process(pid) => format!("pid-{pid}"),
        })
    }

    /// The same in letters that any file system takes.
    pub(crate) fn label(&self) -> String {
        let given = self.name();
        let plain = |c: char| {
            if c.is_ascii_alphanumeric() || "._-".contains(c) {
                c
            } else {
                '-'
            }
        };
        let label: String = given.chars().map(plain).take(48).collect();
        let label = label.trim_start_matches('.');
        if label.is_empty() {
            "run".to_owned()
        } else {
            label.to_owned()
        }
    }

    /// The command line as it may be written down.
    pub(crate) fn command_line(&self) -> Vec<String> {
        let Subject::Command(words) = &self.subject else {
            return Vec::new();
        };
        let words = words.iter().map(|word| word.to_string_lossy().into_owned());
        if !self.redact {
            return words.collect();
        }
        words
            .enumerate()
            .map(|(i, word)| match i {
                0 => word.rsplit('/').next().unwrap_or_default().to_owned(),
                _ => "[redacted]".to_owned(),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(words: &[&str]) -> Plan {
        Plan {
            subject: Subject::Command(words.iter().map(OsString::from).collect()),
            out: None,
            name: None,
            tags: BTreeMap::new(),
            interval: Duration::from_secs(1),
            duration: None,
            pue: None,
            pue_source: None,
            logs: PathBuf::from("impact-logs"),
            region: None,
            grid: None,
            csv: None,
            notes: Vec::new(),
            redact: false,
            own_group: false,
            roots: Roots::default(),
        }
    }

    #[test]
    fn a_run_is_named_after_its_program() {
        assert_eq!(plan(&["./bin/train me.sh", "--lr"]).label(), "train-me.sh");
        assert_eq!(plan(&["../.."]).label(), "run");
    }

    #[test]
    fn a_redacted_command_keeps_its_program_and_the_number_of_its_words() {
        let plan = Plan {
            redact: true,
            ..plan(&["/home/me/train.py", "--token", "secret"])
        };
        assert_eq!(
            plan.command_line(),
            ["train.py", "[redacted]", "[redacted]"]
        );
    }
}
