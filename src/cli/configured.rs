//! Where the configuration stands in for options that were not given.

use std::path::PathBuf;

use clap::ValueEnum;

use super::accounting::{Accounting, doubt};
use super::settings::{Config, Key};
#[cfg(feature = "live")]
use crate::grid::intensity::cache::Cache;
#[cfg(feature = "live")]
use crate::grid::intensity::live::ServiceClient;
use crate::grid::zone::detect;

impl Accounting {
    /// Takes from the configuration what the command line did not say.
    pub fn fill(&mut self, config: &Config) {
        self.pue = config.or(self.pue, "pue");
        self.emissions_factor = config.or(self.emissions_factor, "emissions-factor");
        doubt(self.emissions_factor);
        if self.zone.is_none() {
            self.zone = config.or(None, "zone");
            self.zone_origin = config.setting("zone").map(|zone| zone.origin.clone());
        }
        self.dataset = config.or(self.dataset, "dataset");
    }
}

/// Where this machine's own files say which cloud it is in.
pub fn machine(sysfs: Option<PathBuf>, config: &Config) -> detect::Roots {
    let root = |given: Option<PathBuf>, key: &str, usual: &str| {
        config
            .or(given, key)
            .unwrap_or_else(|| PathBuf::from(usual))
    };
    detect::Roots {
        sys: root(sysfs, "sysfs-root", "/sys"),
        run: root(None, "run-root", "/run"),
    }
}

/// The client of the user, with the tokens of the configuration.
#[cfg(feature = "live")]
pub fn client(config: &Config) -> ServiceClient {
    let tokens = config.foreign_variables();
    let tokens = tokens.map(|(variable, value)| (variable.to_owned(), value.to_owned()));
    let settings = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .chain(tokens)
        .collect();
    ServiceClient::new(settings, Cache::of_the_user())
}

/// Whom to ask how dirty the electricity is.
#[cfg(feature = "live")]
pub fn provider(given: Option<String>, config: &Config) -> String {
    config
        .or(given, "provider")
        .unwrap_or_else(|| "auto".to_owned())
}

/// The format that was set, if the command has it.
pub fn format<F: ValueEnum>(config: &Config) -> Option<F> {
    let name: String = config.set_or(None, "format")?;
    F::from_str(&name, true).ok()
}

/// `KEY=VALUE` of the option --config.
pub fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => {
            let known = Key::find(key.trim()).map_err(|unknown| unknown.to_string())?;
            known.read(value.trim())?;
            Ok((key.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("expected KEY=VALUE, such as pue=1.2".to_owned()),
    }
}
