use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::Context as _;
use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use clap::Args;

use super::grid::no_such_provider;
use super::output::{print, write_file};
use super::settings::{Config, Sources};
use super::{Failure, Outcome, configured, exit, folder, left_out};
use crate::grid::intensity::provider_chain::Answer;
use crate::grid::intensity::{Period, ProviderChain, live};
use crate::grid::zone::ZoneId;
use crate::grid::zone::register;
use crate::log::fill::{Recorded, Survey};
use crate::log::{DATA_FILE, FOLDER, INFO_FILE, MESSAGES_FILE, Record, fill, find, info_bytes};
use crate::model::{Info, SCHEMA};
use crate::text::escape;
use crate::text::number::counted;

/// Add historical carbon intensities to runs that were tracked without a network
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  impact backfill impact-logs/ --dry-run")]
pub struct BackfillArgs {
    /// Runs, or directories with runs in them
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Show what would be added, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Also replace intensities that were recorded during the run
    #[arg(long)]
    force: bool,
    /// The zone of the runs [default: the one each run recorded]
    #[arg(long, value_name = "ZONE", value_parser = register::named)]
    zone: Option<ZoneId>,
    /// Provider to ask: auto (each service in turn) or the name of one
    /// [default: auto]
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
}

/// What became of one run.
enum Done {
    Complete,
    Filled {
        samples: u64,
        gaps: u64,
        answer: Answer,
    },
}

impl BackfillArgs {
    pub fn run(self, settings: &Sources) -> Outcome {
        let config = Config::load(settings)?;
        let client = Arc::new(configured::client(&config));
        let chain = match configured::provider(self.provider.clone(), &config).as_str() {
            "auto" => live::auto(&client),
            name => live::named(&client, name).ok_or_else(|| no_such_provider(&client, name))?,
        };
        folder::check(self.runs.iter().map(PathBuf::as_path))?;
        let found = find::find(&self.runs, &|_| {});
        if found.runs.is_empty() {
            return Err(
                Failure::new(anyhow::anyhow!("no run to fill in")).advise(folder::WITH_RUNS)
            );
        }
        let (mut some_left_out, mut done_any) = (!found.unreadable.is_empty(), false);
        for (path, why) in found.unreadable {
            left_out::tell(path.display(), &why);
        }
        for run in &found.runs {
            match self.backfill(run, &chain) {
                Ok(done) => {
                    done_any = true;
                    print(&self.tell(run, &done))?;
                }
                Err(why) => {
                    some_left_out = true;
                    left_out::tell(run.display(), &format!("{why:#}"));
                }
            }
        }
        Ok(if done_any {
            left_out::exit_code(some_left_out)
        } else {
            exit::FAILED
        })
    }

    fn backfill(&self, run: &Path, chain: &ProviderChain) -> anyhow::Result<Done> {
        let folder = run.join(FOLDER);
        let data = folder.join(DATA_FILE);
        let info = Record::open(run)?.info;
        if info.ended.is_none() && is_fresh(&data) {
            anyhow::bail!("it is still being written");
        }
        let recorded = if self.force {
            Recorded::Replace
        } else {
            Recorded::Keep
        };
        let survey = fill::survey(&data, recorded).context("cannot read its samples")?;
        let Some(period) = period(&survey)? else {
            return Ok(Done::Complete);
        };
        let zone = self
            .zone
            .clone()
            .or_else(|| info.region.as_ref().map(|region| region.zone.clone()))
            .context("it does not say in which zone it ran; --zone does")?;
        let answer = chain.intensity(&zone, &period).map_err(|unanswered| {
            let reasons: Vec<String> = unanswered
                .declined
                .iter()
                .map(ToString::to_string)
                .collect();
            anyhow::anyhow!("{unanswered}: {}", reasons.join("; "))
        })?;
        let at = |seconds| instant(seconds).and_then(|at| answer.series.at(at));
        let filled = if self.dry_run {
            fill::preview(&data, recorded, at).context("cannot read its samples")?
        } else {
            fill::fill(&data, recorded, at).context("cannot write its samples")?
        };
        if filled.filled == 0 {
            anyhow::bail!(
                "{} has no value for any of its samples",
                answer.series.source()
            );
        }
        if !self.dry_run {
            record(&folder, &info, &answer, filled.filled)?;
        }
        Ok(Done::Filled {
            samples: filled.filled,
            gaps: filled.gaps,
            answer,
        })
    }

    fn tell(&self, run: &Path, done: &Done) -> String {
        let run = run.display().to_string();
        let text = match done {
            Done::Complete => format!("{run}: nothing to fill in\n"),
            Done::Filled {
                samples,
                gaps,
                answer,
            } => {
                let verb = if self.dry_run { "would fill" } else { "filled" };
                let gaps = match gaps {
                    0 => String::new(),
                    gaps => format!(", {gaps} left without"),
                };
                let series = &answer.series;
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

/// Whether a file was written to in the last minutes; a tracker usually writes every few seconds.
///
/// For file systems on which it cannot hold the file; where it can, filling in finds out.
fn is_fresh(path: &Path) -> bool {
    fs::metadata(path)
        .and_then(|about| about.modified())
        .ok()
        .and_then(|at| SystemTime::now().duration_since(at).ok())
        .is_none_or(|age| age < Duration::from_secs(300))
}

fn instant(seconds: f64) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp_micros((seconds * 1e6) as i64)
}

/// The time the samples that want an intensity lie in, or none if none does.
fn period(survey: &Survey) -> anyhow::Result<Option<Period>> {
    let Some((first, last)) = survey.span else {
        return Ok(None);
    };
    let after = |at: DateTime<Utc>| at.checked_add_signed(TimeDelta::seconds(1));
    let (Some(first), Some(end)) = (instant(first), instant(last).and_then(after)) else {
        anyhow::bail!("its samples have no times that can be");
    };
    Ok(Some(Period::new(first, end)?))
}

/// Says in the run's own record what was filled in, and from where.
fn record(folder: &Path, info: &Info, answer: &Answer, samples: u64) -> anyhow::Result<()> {
    let series = &answer.series;
    let source = format!("{} ({})", series.source(), series.basis);
    let now = Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true);
    let note = format!(
        "{now} impact backfill: carbon intensity of {} from {source}",
        counted(samples, "sample")
    );
    let path = folder.join(INFO_FILE);
    let Some(bytes) = info_bytes(folder)? else {
        // Logs of other trackers have no such file, and one of ours would hide theirs.
        let messages = folder.join(MESSAGES_FILE);
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(messages)?;
        return Ok(writeln!(file, "{note}")?);
    };
    let mut notes = info.notes.clone();
    notes.push(note);
    let bytes = fill::with_field(&bytes, "notes", &serde_json::to_string(&notes)?)
        .and_then(|bytes| {
            let sources = serde_json::to_string(&series.sources).ok()?;
            fill::with_field(&bytes, "realtime_source", &sources)
        })
        // The list of sources is newer than schema 1.
        .and_then(|bytes| {
            let schema = info.schema.max(SCHEMA).to_string();
            fill::with_field(&bytes, "schema", &schema)
        })
        .context("its info.json is not one JSON object")?;
    write_file(&path, &bytes, true).map_err(|failure| anyhow::anyhow!(failure.report()))
}
