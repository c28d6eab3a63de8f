use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::{CapRequest, Control};
use crate::grid::intensity::ProviderChain;
use crate::meter::sensor::Roots;
use crate::model::PueSource;
use crate::model::info::Region;
use crate::units::Pue;

/// What to track, and how.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The command or process.
    pub subject: Subject,
    /// The run's folder; if none, a new one below `logs`.
    pub out: Option<PathBuf>,
    /// The folder for runs without a given folder.
    pub logs: PathBuf,
    /// The run's name; if none, that of the program.
    pub name: Option<String>,
    /// Tags of the run.
    pub tags: BTreeMap<String, String>,
    /// Time between two samples.
    pub interval: Duration,
    /// Stop tracking after this time; the command goes on.
    pub duration: Option<Duration>,
    /// Power usage effectiveness of the data centre.
    pub pue: Option<Pue>,
    /// Who stated the PUE.
    pub pue_source: Option<PueSource>,
    /// Where the electricity comes from.
    pub region: Option<Region>,
    /// The services that are asked for the carbon intensity while the command runs.
    pub grid: Option<Arc<ProviderChain>>,
    /// Also write the time series to this file.
    pub csv: Option<PathBuf>,
    /// Cap the NVIDIA boards that the command would see, as long as it runs.
    pub power_cap: Option<CapRequest>,
    /// Notes for the log from before the start.
    pub notes: Vec<String>,
    /// Those of the settings that a project's file made, by key.
    pub project_settings: BTreeMap<String, String>,
    /// Keep arguments, folders, the host's name and the ids of its boot and GPUs out of the log.
    pub redact: bool,
    /// Put the command into a control group of its own where that is allowed.
    pub own_group: bool,
    /// The program that started the tracker, if it wants to hear of it and to end it.
    pub control: Option<Arc<Control>>,
    /// Where /sys, /proc and the GPU library are.
    pub roots: Roots,
}

/// What is tracked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A command to start.
    Command(Vec<OsString>),
    /// A running process and its descendants, by process id.
    Process(u32),
}

impl Plan {
    /// The run's name: the given one, or that of the program.
    pub(crate) fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| match &self.subject {
            Subject::Command(words) => words
                .first()
                .and_then(|word| Some(Path::new(word).file_name()?.to_string_lossy().into_owned()))
                .unwrap_or_default(),
            Subject::Process(pid) => format!("pid-{pid}"),
        })
    }

    /// The name in characters that are valid in any file system.
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

    /// The command line for the log.
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
            power_cap: None,
            notes: Vec::new(),
            project_settings: BTreeMap::new(),
            redact: false,
            own_group: false,
            control: None,
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
