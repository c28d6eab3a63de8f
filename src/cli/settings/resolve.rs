use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use super::file;
use super::file::BadFile;
use super::key::{Key, NoSuchKey};
use super::keys::KEYS;
use super::sources::Sources;

/// The settings in force.
#[derive(Debug, Clone)]
pub struct Config(Vec<Setting>);

/// A key, its value and where that came from.
#[derive(Debug, Clone)]
pub struct Setting {
    pub key: &'static Key,
    /// None where nothing was set and nothing is assumed.
    pub value: Option<String>,
    pub origin: Origin,
}

/// The five levels, weakest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    Default,
    UserFile { path: PathBuf, line: usize },
    ProjectFile { path: PathBuf, line: usize },
    Environment { variable: String },
    CommandLine,
}

/// A setting that cannot be.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BadSetting {
    #[error(transparent)]
    File(#[from] BadFile),
    #[error("{variable} in the environment: {why}")]
    Environment { variable: String, why: String },
    #[error("--config: {0}")]
    UnknownKey(NoSuchKey),
    #[error("--config {key}: {why}")]
    CommandLine { key: &'static str, why: String },
}

impl Config {
    /// Only the defaults.
    #[must_use]
    pub fn defaults() -> Self {
        let unset = |key: &'static Key| Setting {
            key,
            value: key.default.map(str::to_owned),
            origin: Origin::Default,
        };
        Self(KEYS.iter().map(unset).collect())
    }

    /// Reads all levels; whatever is wrong in any of them is an error, also where a stronger one sets
    /// the same key.
    pub fn load(sources: &Sources) -> Result<Self, BadSetting> {
        let (config, faults) = Self::load_past_faults(sources)?;
        match faults.into_iter().next() {
            Some(fault) => Err(fault.into()),
            None => Ok(config),
        }
    }

    /// As [`Config::load`], but what is wrong in a file is passed over and handed back: it must not keep
    /// a job from running.
    pub fn load_past_faults(sources: &Sources) -> Result<(Self, Vec<BadFile>), BadSetting> {
        let mut config = Self::defaults();
        let user = |path, line| Origin::UserFile { path, line };
        let mut faults = config.take_over(sources.user.as_ref(), user);
        let project = |path, line| Origin::ProjectFile { path, line };
        faults.extend(config.take_over(sources.project.as_ref(), project));
        for key in KEYS {
            // Our own variable is stronger than another tool's.
            let foreign = key.foreign_variable.map(str::to_owned);
            for variable in foreign.into_iter().chain([key.variable_name()]) {
                let Some(value) = sources.environment.get(&variable) else {
                    continue;
                };
                let value = key.read(value).map_err(|why| BadSetting::Environment {
                    variable: variable.clone(),
                    why,
                })?;
                config.set(key, value, Origin::Environment { variable });
            }
        }
        for (name, value) in &sources.command_line {
            let key = Key::find(name).map_err(BadSetting::UnknownKey)?;
            let value = key
                .read(value)
                .map_err(|why| BadSetting::CommandLine { key: key.name, why })?;
            config.set(key, value, Origin::CommandLine);
        }
        Ok((config, faults))
    }

    /// Sets what a file says; what is wrong in it is handed back.
    fn take_over(
        &mut self,
        file: Option<&PathBuf>,
        origin: impl Fn(PathBuf, usize) -> Origin,
    ) -> Vec<BadFile> {
        let Some(path) = file else {
            return Vec::new();
        };
        let (lines, mut wrong) = file::read(path);
        for line in lines {
            let origin = origin(path.clone(), line.number);
            if line.key.is_personal && matches!(origin, Origin::ProjectFile { .. }) {
                wrong.push(BadFile::Personal {
                    path: path.clone(),
                    line: line.number,
                    key: line.key.name,
                });
                continue;
            }
            self.set(line.key, line.value, origin);
        }
        wrong
    }

    fn set(&mut self, key: &'static Key, value: String, origin: Origin) {
        let is_key = |setting: &&mut Setting| setting.key.name == key.name;
        if let Some(setting) = self.0.iter_mut().find(is_key) {
            setting.value = Some(value);
            setting.origin = origin;
        }
    }

    #[must_use]
    pub fn settings(&self) -> &[Setting] {
        &self.0
    }

    /// The setting of a key of the table.
    #[must_use]
    pub fn setting(&self, name: &str) -> Option<&Setting> {
        self.0.iter().find(|setting| setting.key.name == name)
    }

    /// What was given on the command line, else what is set for the key.
    pub fn or<T: FromStr>(&self, given: Option<T>, name: &str) -> Option<T> {
        given.or_else(|| {
            // Every value was checked with the type's own parser when it was read.
            self.setting(name)?.value.as_ref()?.parse().ok()
        })
    }

    /// As [`Config::or`], but the default does not count: a weaker source than what a log recorded.
    pub fn set_or<T: FromStr>(&self, given: Option<T>, name: &str) -> Option<T> {
        let is_set = self
            .setting(name)
            .is_some_and(|setting| setting.origin != Origin::Default);
        if is_set { self.or(given, name) } else { given }
    }

    /// Of keys that say the same thing in different ways, the one set on the strongest level.
    #[must_use]
    pub fn strongest(&self, names: &[&str]) -> Option<&Setting> {
        let mut best: Option<&Setting> = None;
        for setting in names.iter().filter_map(|name| self.setting(name)) {
            let level = |setting: &Setting| setting.origin.level();
            if setting.value.is_some() && best.is_none_or(|known| level(setting) > level(known)) {
                best = Some(setting);
            }
        }
        best
    }

    /// Values that other tools know by variables of their own, such as tokens of live services.
    pub fn foreign_variables(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0
            .iter()
            .filter_map(|setting| Some((setting.key.foreign_variable?, setting.value.as_deref()?)))
    }
}

impl Origin {
    /// Whether it is a line of a file, which a job cannot be blamed for.
    #[must_use]
    pub fn is_file(&self) -> bool {
        matches!(self, Self::UserFile { .. } | Self::ProjectFile { .. })
    }

    fn level(&self) -> u8 {
        match self {
            Self::Default => 0,
            Self::UserFile { .. } => 1,
            Self::ProjectFile { .. } => 2,
            Self::Environment { .. } => 3,
            Self::CommandLine => 4,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::UserFile { path, line } | Self::ProjectFile { path, line } => {
                write!(f, "{}:{line}", path.display())
            }
            Self::Environment { variable } => f.write_str(variable),
            Self::CommandLine => f.write_str("command line"),
        }
    }
}
