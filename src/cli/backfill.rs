use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::Utc;
use clap::Args;

use super::folder::RunFolders;
use super::grid::no_such_provider;
use super::output::print;
use super::settings::{Config, Sources};
use super::{Failure, Outcome, configured, exit, folder, left_out};
use crate::grid::intensity::live;
use crate::grid::zone::{Iso3, ZoneId, register};
use crate::ledger::backfill::{Backfill, BackfillError, Backfilled};
use crate::log::fill::Recorded;
use crate::log::find;
use crate::text::escape;
use crate::text::number::counted;

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  impact backfill impact-logs/ --dry-run")]
pub struct BackfillArgs {
    #[command(flatten)]
    folders: RunFolders,
    /// Show what would be added, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Also replace intensities that were recorded during the run
    #[arg(long)]
    force: bool,
    /// The zone of the runs, or their country [default: the one each run recorded]
    #[arg(long, value_name = "ZONE", value_parser = register::named)]
    zone: Option<ZoneId>,
    /// The country of the runs, by code or name
    #[arg(long, value_name = "COUNTRY", conflicts_with = "zone")]
    country: Option<Iso3>,
    /// Provider to ask: auto (each service in turn) or the name of one
    /// [default: auto]
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
}

impl BackfillArgs {
    pub fn run(self, settings: &Sources) -> Outcome {
        let config = Config::load(settings)?;
        let client = Arc::new(configured::client(&config));
        let chain = match configured::provider(self.provider.clone(), &config).as_str() {
            "auto" => live::auto(&client),
            name => live::named(&client, name).ok_or_else(|| no_such_provider(&client, name))?,
        };
        let runs = self.folders.or_usual(&config)?;
        folder::check(runs.iter().map(PathBuf::as_path))?;
        let found = find::find(&runs, &|_| {});
        if found.runs.is_empty() {
            return Err(
                Failure::new(anyhow::anyhow!("no run to fill in")).advise(folder::WITH_RUNS)
            );
        }
        let (mut some_left_out, mut done_any) = (!found.unreadable.is_empty(), false);
        for (path, why) in found.unreadable {
            left_out::tell(path.display(), &why);
        }
        let backfill = Backfill {
            providers: &chain,
            zone: self.zone(),
            recorded: if self.force {
                Recorded::Replace
            } else {
                Recorded::Keep
            },
            dry_run: self.dry_run,
            now: Utc::now(),
        };
        for run in &found.runs {
            match backfill.run(run) {
                Ok(done) => {
                    done_any = true;
                    print(&self.tell(run, &done))?;
                }
                Err(why) => {
                    some_left_out = true;
                    left_out::tell(run.display(), &reason(why));
                }
            }
        }
        Ok(if done_any {
            left_out::exit_code(some_left_out)
        } else {
            exit::FAILED
        })
    }

    /// The zone that is named; the services may know some that the tables do not.
    fn zone(&self) -> Option<ZoneId> {
        let zone = self.zone.as_ref();
        let named =
            zone.map(|zone| register::zone_or_country(zone).unwrap_or_else(|_| zone.clone()));
        named.or_else(|| Some(register::of_country(self.country?)?.id.clone()))
    }

    fn tell(&self, run: &Path, done: &Backfilled) -> String {
        let run = run.display().to_string();
        let text = match done {
            Backfilled::Complete => format!("{run}: nothing to fill in\n"),
            Backfilled::Filled {
                samples,
                gaps,
                series,
            } => {
                let verb = if self.dry_run { "would fill" } else { "filled" };
                let gaps = match gaps {
                    0 => String::new(),
                    gaps => format!(", {gaps} left without"),
                };
                format!(
                    "{run}: {verb} {} with {:.1} g/kWh on average from {} ({}){gaps}\n",
                    counted(*samples, "sample"),
                    series.mean().get(),
                    series.source(),
                    series.basis,
                )
            }
        };
        escape::terminal(&text).into_owned()
    }
}

/// Why a run was left out, in one line.
fn reason(error: BackfillError) -> String {
    let advice = match error {
        BackfillError::NoZone => "; --zone does",
        _ => "",
    };
    format!("{:#}{advice}", anyhow::Error::new(error))
}
