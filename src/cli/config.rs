use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;

use super::destination::Destination;
use super::output::{print, write_file, write_secret};
use super::place::unresolved;
use super::region::tables::Tables;
use super::settings::{
    Config, IgnoredFile, Key, PROJECT_FILE, Setting, Sources, commented, is_outside, perun,
    with_value,
};
use super::{Advise, Failure, Outcome, exit, left_out};
use crate::files;
use crate::grid::zone::{cloud, place, register};
use crate::text::escape;
use crate::text::number::counted;
use crate::text::table::Table;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  impact config show --origin
  impact config init
  impact config set pue 1.2
  impact config get pue

A key is taken from the first of these that sets it: the command line, a variable such as
IMPACT_PUE, the file .impact.toml in the working directory or a parent, the user's config.toml,
the defaults.")]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print the settings in force
    #[command(
        after_help = "Examples:\n  impact config show --origin\n  impact config show --format json"
    )]
    Show {
        /// Print the defaults instead
        #[arg(long)]
        default: bool,
        /// Also print where each value was set; JSON always says it
        #[arg(long)]
        origin: bool,
        #[command(flatten)]
        destination: Destination<Format>,
    },
    /// Print the value of one key
    #[command(after_help = "Example:\n  impact config get currency")]
    Get {
        /// Name of the key, such as pue
        key: String,
    },
    /// Set one key in the project's file
    #[command(after_help = "Example:\n  impact config set pue 1.2")]
    Set {
        /// Name of the key, such as pue
        key: String,
        /// New value, such as 1.2
        value: String,
        /// Write to the user's file instead of the project's
        #[arg(long)]
        user: bool,
    },
    /// Write a file that explains every key and sets none
    #[command(after_help = "Example:\n  impact config init")]
    Init {
        /// Write the user's file instead of the project's
        #[arg(long)]
        user: bool,
        /// Replace an existing file
        #[arg(long)]
        force: bool,
    },
    /// Import the settings of perun
    #[command(after_help = "Example:\n  impact config import .perun.ini")]
    Import {
        /// File of perun
        #[arg(default_value = ".perun.ini")]
        file: PathBuf,
        /// Write to the user's file instead of the project's
        #[arg(long)]
        user: bool,
    },
}

impl ConfigArgs {
    pub(crate) fn run(self, sources: &Sources) -> Outcome {
        match self.action {
            Action::Show {
                default,
                origin,
                destination,
            } => {
                let config = if default {
                    Config::defaults()
                } else {
                    Config::load(sources)?
                };
                destination.write(&match destination.format(&Config::defaults())? {
                    Format::Text => escape::terminal(&show(&config, origin)).into_owned(),
                    Format::Json => json(&config)?,
                })?;
            }
            Action::Get { key } => {
                let key = Key::find(&key).advise("impact config show")?;
                let config = Config::load(sources)?;
                let value = config.setting(key.name).and_then(|s| s.value.as_deref());
                let value = value.ok_or_else(|| {
                    Failure::new(anyhow!("{} is not set", key.name))
                        .advise(format!("impact config set {} VALUE", key.name))
                })?;
                print(&format!("{}\n", escape::terminal(value)))?;
            }
            Action::Set { key, value, user } => {
                let key = Key::find(&key).advise("impact config show")?;
                let file = file(sources, user)?;
                if (key.is_secret || key.is_personal) && !user {
                    let is = if key.is_secret {
                        "a secret"
                    } else {
                        "a personal setting"
                    };
                    return Err(Failure::new(anyhow!(
                        "{} is {is}, and the file of the project is shared with others",
                        key.name
                    ))
                    .advise(format!(
                        "--user, or {} in the environment",
                        key.foreign_variable
                            .map_or_else(|| key.variable_name(), str::to_owned)
                    )));
                }
                if key.is_folder && !user && is_outside(&value) {
                    return Err(Failure::new(anyhow!(
                        "{value} is outside of the working directory, which the file of a project cannot name"
                    ))
                    .advise(format!("--user, or {} in the environment", key.variable_name())));
                }
                is_known(key, &value, sources)?;
                set(&file, key, &value)?;
                print(&escape::terminal(&format!(
                    "{} is set in {}\n",
                    key.name,
                    file.display()
                )))?;
            }
            Action::Init { user, force } => {
                let file = file(sources, user)?;
                make_folder(&file)?;
                write_file(&file, commented().as_bytes(), force)?;
                print(&escape::terminal(&format!(
                    "{} is written\n",
                    file.display()
                )))?;
            }
            Action::Import { file: perun, user } => import(&perun, &file(sources, user)?, user)?,
        }
        Ok(exit::DONE)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    impact_version: &'static str,
    settings: Vec<SettingEntry>,
}

#[derive(Serialize)]
struct SettingEntry {
    key: &'static str,
    /// None where it is not set or secret.
    value: Option<String>,
    is_set: bool,
    /// Whether its value is kept out.
    secret: bool,
    /// Where it was set, as `--origin` prints it.
    from: String,
}

/// The settings for machines, without secrets.
fn json(config: &Config) -> Result<String, Failure> {
    let settings = config.settings().iter().map(|setting| SettingEntry {
        key: setting.key.name,
        value: setting.value.clone().filter(|_| !setting.key.is_secret),
        is_set: setting.value.is_some(),
        secret: setting.key.is_secret,
        from: setting.origin.to_string(),
    });
    Ok(escape::pretty_json(&Document {
        schema: "impact-config/1",
        impact_version: env!("CARGO_PKG_VERSION"),
        settings: settings.collect(),
    })?)
}

fn show(config: &Config, with_origin: bool) -> String {
    let head: &[&str] = if with_origin {
        &["key", "value", "from"]
    } else {
        &["key", "value"]
    };
    let mut table = Table::new(head, &[]);
    for setting in config.settings() {
        let cells = [
            setting.key.name.to_owned(),
            shown(setting),
            setting.origin.to_string(),
        ];
        table.push(cells);
    }
    table.text()
}

fn shown(setting: &Setting) -> String {
    match &setting.value {
        None => "(not set)".to_owned(),
        Some(_) if setting.key.is_secret => "(hidden)".to_owned(),
        Some(value) => value.clone(),
    }
}

/// The file to change: the user's, the project's if there is one, or a new one here.
fn file(sources: &Sources, user: bool) -> Result<PathBuf, Failure> {
    if user {
        return sources.user.clone().ok_or_else(|| {
            Failure::new(anyhow!("there is no folder for the settings of the user"))
                .advise("XDG_CONFIG_HOME or HOME must be an absolute path")
        });
    }
    if let Some(IgnoredFile { path, .. }) = &sources.ignored {
        return Err(
            Failure::new(anyhow!("{} belongs to somebody else", path.display())).advise("--user"),
        );
    }
    Ok(sources
        .project
        .clone()
        .unwrap_or_else(|| PathBuf::from(PROJECT_FILE)))
}

/// Fails if the value is a place that is not known.
fn is_known(key: &Key, value: &str, sources: &Sources) -> Result<(), Failure> {
    let found = match key.name {
        "zone" => {
            // The configured map or table may have zones of its own.
            let (config, _) = Config::load_past_faults(sources)?;
            let places = Tables::default().open(&config)?;
            register::named(value)
                .map_err(Failure::new)
                .and_then(|zone| places.area_called(&zone).map(drop).map_err(unresolved))
        }
        "region" => cloud::find(value)
            .map(drop)
            .advise("impact cloud all, which lists every region"),
        "address" if place::wider(value).is_some() => Ok(()),
        "address" => place::find(value)
            .map(drop)
            .advise("another spelling, or `City, Country`"),
        _ => Ok(()),
    };
    found.map_err(|failure| failure.within(format!("this is not a valid value of {}", key.name)))
}

fn set(file: &Path, key: &Key, value: &str) -> Result<(), Failure> {
    let value = key
        .read(value)
        .map_err(|why| anyhow!("this is not a valid value of {}: {why}", key.name))
        .advise("impact config init, which writes a file that explains every key")?;
    let text = with_value(file, key, &value)?;
    make_folder(file)?;
    if key.is_secret {
        write_secret(file, text.as_bytes())
    } else {
        write_file(file, text.as_bytes(), true)
    }
}

fn make_folder(file: &Path) -> Result<(), Failure> {
    if let Some(folder) = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
    }
    Ok(())
}

/// Larger files are no settings of perun.
const LARGEST_PERUN: u64 = 1 << 20;

fn import(perun: &Path, file: &Path, user: bool) -> Result<(), Failure> {
    let text = files::read_text(perun, LARGEST_PERUN)
        .with_context(|| format!("cannot read {}", perun.display()))
        .advise("impact config import PATH")?;
    let mut imported = perun::read(&text);
    if !user {
        imported.leave_out_outside_folders();
    }
    for taken in &imported.settings {
        set(file, taken.key, &taken.value)?;
    }
    for (line, why) in &imported.left_out {
        left_out::tell(format_args!("{}:{line}", perun.display()), why);
    }
    let (taken, left) = (imported.settings.len(), imported.left_out.len());
    if taken == 0 && left > 0 {
        return Err(Failure::new(anyhow!(
            "none of the {} of {} could be imported",
            counted(left, "line"),
            perun.display()
        )));
    }
    let mut text = String::new();
    for taken in &imported.settings {
        let remark = taken.remark.as_ref();
        let remark = remark.map_or_else(String::new, |remark| format!(" ({remark})"));
        text.push_str(&format!("{} = {}{remark}\n", taken.key.name, taken.value));
    }
    text.push_str(&format!(
        "{} imported into {}, {} left out\n",
        counted(taken, "setting"),
        file.display(),
        counted(left, "line")
    ));
    print(&escape::terminal(&text))
}
