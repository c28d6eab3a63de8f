use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

use clap::ValueEnum;
use tempfile::TempDir;

use crate::model::Environment;
use crate::text::escape;

const MODULE: &str = include_str!("sitecustomize.py");
const FILE: &str = "profile.pstats";
const PATH: &str = "PYTHONPATH";

/// A profiler that the job is started under.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Profiler {
    /// cProfile, in the Python that the command starts
    Python,
}

/// A folder with the module that starts cProfile; it is removed at the end.
#[derive(Debug)]
pub(super) struct PythonProfile {
    folder: TempDir,
}

impl PythonProfile {
    pub(super) fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("impact-").tempdir()?;
        fs::write(folder.path().join("sitecustomize.py"), MODULE)?;
        Ok(Self { folder })
    }

    /// Has a Python in this environment import the module.
    pub(super) fn join(&self, environment: &mut Environment) {
        let mut path = OsString::from(self.folder.path());
        if let Some(others) = environment.get_os(PATH) {
            path.push(":");
            path.push(others);
        }
        environment.extend([(PATH, path)]);
    }

    /// What became of it, given the folder of the run.
    pub(super) fn outcome(run: &Path) -> String {
        let profile = run.join(FILE);
        if profile.is_file() {
            let (run, profile) = (escape::shell_path(run), escape::shell_path(&profile));
            return format!("profile: impact attribute {run} --profile {profile}");
        }
        "impact: there is no profile: no Python has ended by itself in the run, or it was started with -I, -E or -S"
            .to_owned()
    }
}
