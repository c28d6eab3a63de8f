//! Options that were not given on the command line, taken from the configuration.

use std::path::PathBuf;

use clap::ValueEnum;

use super::accounting::{Accounting, doubt};
use super::bad_value::BadValue;
use super::settings::{Config, Key};
#[cfg(feature = "live")]
use crate::grid::intensity::cache::Cache;
#[cfg(feature = "live")]
use crate::grid::intensity::live::ServiceClient;
use crate::grid::zone::detect;

impl Accounting {
    /// Fills options that were not given.
    pub(crate) fn fill(&mut self, config: &Config) {
        let not_given = [
            ("pue", self.pue.is_none()),
            ("emissions-factor", self.emissions_factor.is_none()),
            ("dataset", self.dataset.is_none()),
        ];
        let keys = not_given.iter().filter(|(_, is_open)| *is_open);
        self.project_settings = config.of_project(keys.map(|(key, _)| *key));
        self.pue = config.or(self.pue, "pue");
        self.emissions_factor = config.or(self.emissions_factor, "emissions-factor");
        doubt(self.emissions_factor);
        if let Some(key) = self.place.fill(config) {
            self.project_settings.extend(config.of_project([key]));
        }
        self.dataset = config.or(self.dataset, "dataset");
    }
}

/// Where to look for the files that name the cloud region of this machine.
pub(crate) fn machine(sysfs: Option<PathBuf>, config: &Config) -> detect::Roots {
    let root = |given: Option<PathBuf>, key: &str, usual: &str| {
        config
            .or(given, key)
            .unwrap_or_else(|| PathBuf::from(usual))
    };
    detect::Roots {
        sys: root(sysfs, "sysfs-root", "/sys"),
        run: root(None, "run-root", "/run"),
        etc: root(None, "etc-root", "/etc"),
        environment: config.environment().clone(),
    }
}

/// A client for live services, with the tokens of the configuration and the cache of the user.
#[cfg(feature = "live")]
pub(crate) fn client(config: &Config) -> ServiceClient {
    let mut settings = config.environment().clone();
    settings.extend(config.foreign_variables());
    ServiceClient::new(settings, Cache::of_user(config.environment()))
}

/// The live provider to ask for intensities.
#[cfg(feature = "live")]
pub(crate) fn provider(given: Option<String>, config: &Config) -> String {
    config
        .or(given, "provider")
        .unwrap_or_else(|| "auto".to_owned())
}

/// The configured format, if the command has it.
pub(crate) fn format<F: ValueEnum>(config: &Config) -> Option<F> {
    let name: String = config.set_or(None, "format")?;
    F::from_str(&name, true).ok()
}

/// `KEY=VALUE` of the option --config.
pub(crate) fn pair(text: &str) -> Result<(String, String), BadValue> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => {
            let known = Key::find(key.trim())?;
            known.read(value.trim())?;
            Ok((key.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(BadValue::NotAPair {
            example: Some("pue=1.2"),
        }),
    }
}
