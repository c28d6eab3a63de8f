use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use super::file;
use super::file::BadFile;
use super::key::{Key, NoSuchKey};
use super::keys::KEYS;
use super::sources::Sources;
use crate::cli::Failure;
use crate::cli::bad_value::BadValue;
use crate::model::Environment;

/// The settings in force.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    settings: Vec<Setting>,
    environment: Environment,
}

/// A key, its value and where it was set.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    pub(crate) key: &'static Key,
    /// None if the key is not set and has no default.
    pub(crate) value: Option<String>,
    pub(crate) origin: Origin,
}

/// The five levels, weakest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    Default,
    UserFile { path: PathBuf, line: usize },
    ProjectFile { path: PathBuf, line: usize },
    Environment { variable: String },
    CommandLine,
}

/// An invalid setting.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum BadSetting {
    #[error(transparent)]
    File(#[from] BadFile),
    #[error("{variable} in the environment: {why}")]
    Environment { variable: String, why: BadValue },
    #[error("--config: {0}")]
    UnknownKey(NoSuchKey),
    #[error("--config {key}: {why}")]
    CommandLine { key: &'static str, why: BadValue },
}

impl BadSetting {
    /// The failure, with what to do.
    fn advised(self) -> Failure {
        let advice = match &self {
            Self::File(BadFile::Key { .. }) | Self::UnknownKey(_) => {
                "impact config show, which lists the keys"
            }
            Self::File(BadFile::Personal { .. }) => "impact config set --user KEY VALUE",
            Self::File(BadFile::Io { .. }) => {
                "a regular file that you may read in its place, or none"
            }
            Self::File(_) => "correct the file, or remove the line",
            Self::Environment { variable, .. } => {
                let advice = format!("unset {variable}, or give it another value");
                return Failure::new(self).advise(advice);
            }
            Self::CommandLine { .. } => "impact config show, which lists the keys and their values",
        };
        Failure::new(self).advise(advice)
    }
}

impl Config {
    /// Only the defaults.
    #[must_use]
    pub(crate) fn defaults() -> Self {
        let unset = |key: &'static Key| Setting {
            key,
            value: key.default.map(str::to_owned),
            origin: Origin::Default,
        };
        Self {
            settings: KEYS.iter().map(unset).collect(),
            environment: Environment::default(),
        }
    }

    /// Reads all levels; an invalid value is an error even if a stronger level sets the same key.
    pub(crate) fn load(sources: &Sources) -> Result<Self, Failure> {
        let (config, faults) = Self::load_past_faults(sources)?;
        match faults.into_iter().next() {
            Some(fault) => Err(fault.advised()),
            None => Ok(config),
        }
    }

    /// As [`Config::load`], but errors in files and variables are returned beside the settings: they must not keep a
    /// job from running.
    pub(crate) fn load_past_faults(
        sources: &Sources,
    ) -> Result<(Self, Vec<BadSetting>), BadSetting> {
        let mut config = Self {
            environment: sources.environment.clone(),
            ..Self::defaults()
        };
        let user = |path, line| Origin::UserFile { path, line };
        let mut wrong = config.take_over(sources.user.as_ref(), user);
        let project = |path, line| Origin::ProjectFile { path, line };
        wrong.extend(config.take_over(sources.project.as_ref(), project));
        let mut faults: Vec<BadSetting> = wrong.into_iter().map(BadSetting::from).collect();
        for key in KEYS {
            // Our own variable is stronger than that of another tool.
            let foreign = key.foreign_variable.map(str::to_owned);
            for variable in foreign.into_iter().chain([key.variable_name()]) {
                let Some(value) = sources.environment.get(&variable) else {
                    continue;
                };
                match key.read(value) {
                    Ok(value) => config.set(key, value, Origin::Environment { variable }),
                    Err(why) => faults.push(BadSetting::Environment { variable, why }),
                }
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

    /// Sets the keys of a file, and returns its errors.
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
            if matches!(origin, Origin::ProjectFile { .. })
                && let Some(refused) = line.refused_to_projects(path)
            {
                wrong.push(refused);
                continue;
            }
            self.set(line.key, line.value, origin);
        }
        wrong
    }

    fn set(&mut self, key: &'static Key, value: String, origin: Origin) {
        let is_key = |setting: &&mut Setting| setting.key.name == key.name;
        if let Some(setting) = self.settings.iter_mut().find(is_key) {
            setting.value = Some(value);
            setting.origin = origin;
        }
    }

    #[must_use]
    pub(crate) fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// The environment of the program, for what other tools set in it.
    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }

    /// The setting with this name.
    #[must_use]
    pub(crate) fn setting(&self, name: &str) -> Option<&Setting> {
        self.settings
            .iter()
            .find(|setting| setting.key.name == name)
    }

    /// The option of the command line if given, else the setting.
    pub(crate) fn or<T: FromStr>(&self, given: Option<T>, name: &str) -> Option<T> {
        given.or_else(|| {
            // Every value was parsed once when it was read, so this cannot fail.
            self.setting(name)?.value.as_ref()?.parse().ok()
        })
    }

    /// As [`Config::or`], but without the default, which is weaker than what a log recorded.
    pub(crate) fn set_or<T: FromStr>(&self, given: Option<T>, name: &str) -> Option<T> {
        let is_set = self
            .setting(name)
            .is_some_and(|setting| setting.origin != Origin::Default);
        if is_set { self.or(given, name) } else { given }
    }

    /// Of keys that exclude each other, the one set on the strongest level.
    #[must_use]
    pub(crate) fn strongest(&self, names: &[&str]) -> Option<&Setting> {
        let mut best: Option<&Setting> = None;
        for setting in names.iter().filter_map(|name| self.setting(name)) {
            let level = |setting: &Setting| setting.origin.level();
            if setting.value.is_some() && best.is_none_or(|known| level(setting) > level(known)) {
                best = Some(setting);
            }
        }
        best
    }

    /// Those of some keys that a project's file has set, with their values.
    #[must_use]
    pub(crate) fn of_project<'k>(
        &self,
        names: impl IntoIterator<Item = &'k str>,
    ) -> BTreeMap<String, String> {
        let settings = names.into_iter().filter_map(|name| self.setting(name));
        settings
            .filter(|setting| matches!(setting.origin, Origin::ProjectFile { .. }))
            .filter_map(|setting| Some((setting.key.name.to_owned(), setting.value.clone()?)))
            .collect()
    }

    /// Settings under the variable names of other tools, such as tokens of live services.
    pub(crate) fn foreign_variables(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.settings
            .iter()
            .filter_map(|setting| Some((setting.key.foreign_variable?, setting.value.as_deref()?)))
    }
}

impl Origin {
    /// Whether it is a line of a file or a variable: what the user has not said with this very command.
    #[must_use]
    pub(crate) fn is_configured(&self) -> bool {
        !matches!(self, Self::Default | Self::CommandLine)
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_stronger_level_wins() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, pue: &str| {
            let path = folder.path().join(name);
            fs::write(&path, format!("# a comment\npue = {pue}\n")).unwrap();
            path
        };
        let (user, project) = (file("user.toml", "1.1"), file("project.toml", "1.2"));
        let mut sources = Sources::default();
        let found = |sources: &Sources| {
            let config = Config::load(sources).unwrap();
            let setting = config.setting("pue").unwrap();
            (setting.value.clone(), setting.origin.clone())
        };
        let set = |value: &str| Some(value.to_owned());
        assert_eq!(found(&sources), (None, Origin::Default));
        sources.user = Some(user.clone());
        let origin = Origin::UserFile {
            path: user,
            line: 2,
        };
        assert_eq!(found(&sources), (set("1.1"), origin));
        sources.project = Some(project.clone());
        let origin = Origin::ProjectFile {
            path: project,
            line: 2,
        };
        assert_eq!(found(&sources), (set("1.2"), origin));
        let of_variable = |variable: &str| Origin::Environment {
            variable: variable.to_owned(),
        };
        sources.environment.extend([("OVERRIDE_PUE", "1.3")]);
        assert_eq!(found(&sources), (set("1.3"), of_variable("OVERRIDE_PUE")));
        sources.environment.extend([("IMPACT_PUE", "1.4")]);
        assert_eq!(found(&sources), (set("1.4"), of_variable("IMPACT_PUE")));
        sources.command_line = vec![("pue".to_owned(), "1.5".to_owned())];
        assert_eq!(found(&sources), (set("1.5"), Origin::CommandLine));
    }

    #[test]
    fn a_choice_in_capitals_is_the_same_choice_on_every_level() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        fs::write(&file, "log-level = \"ERROR\"\n").unwrap();
        let in_file = Sources {
            user: Some(file),
            ..Sources::default()
        };
        let in_environment = Sources {
            environment: [("IMPACT_LOG_LEVEL", " Error")].into_iter().collect(),
            ..Sources::default()
        };
        let on_command_line = Sources {
            command_line: vec![("log-level".to_owned(), " Error".to_owned())],
            ..Sources::default()
        };
        for sources in [in_file, in_environment, on_command_line] {
            let config = Config::load(&sources).unwrap();
            let setting = config.setting("log-level").unwrap();
            assert_eq!(setting.value.as_deref(), Some("error"));
        }
    }

    #[test]
    fn every_key_is_found_by_its_name_and_accepts_its_own_default() {
        for key in KEYS {
            assert_eq!(Key::find(key.name).unwrap().name, key.name);
            if let Some(default) = key.default {
                assert_eq!(key.read(default).unwrap(), default, "{}", key.name);
            }
        }
    }
}
