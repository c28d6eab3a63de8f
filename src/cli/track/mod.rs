mod live_line;
mod table;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
#[cfg(feature = "live")]
use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use self::live_line::LiveLine;
#[cfg(feature = "live")]
use super::grid::no_such_provider;
use super::hardware::Hardware;
use super::output::tell;
use super::place::Place;
use super::region::tables::Tables;
use super::require::WantedBefore;
use super::settings::{Config, Sources};
use super::{Failure, Outcome, configured, exit};
use crate::grid::ResolvedPlace;
#[cfg(feature = "live")]
use crate::grid::intensity::{ProviderChain, live};
use crate::grid::zone::cloud;
use crate::ledger::footprint::RunningEmissions;
use crate::ledger::summarise::summarise;
use crate::ledger::{Assumptions, Footprint};
#[cfg(feature = "live")]
use crate::model::info::Region;
use crate::model::{Citation, PueSource};
use crate::text::escape;
use crate::track::mark_socket::outer_run;
use crate::track::{Display, Plan, StartError, Subject, track};
use crate::units::{Pue, Span};

/// Run a command and measure the energy of it and all its descendants
#[derive(Debug, Args)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
#[command(after_help = "\
Examples:
  impact track -- ./run.sh
  impact track --zone US-CA --tag model=small -- python train.py --lr 0.1
  impact track --pid 4711 --duration 10m

The command keeps its input, output and terminal. The exit code is that of the command, or 128+n if
signal n killed it, 127 if it was not found, 126 if it cannot be run, 125 if impact failed before.")]
pub struct TrackArgs {
    /// Folder of the run [default: impact-logs/<time>-<name>-<id>]
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Name of the run [default: the name of the program]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Tag of the run, such as lr=0.1; may be given several times
    #[arg(long = "tag", value_name = "KEY=VALUE", value_parser = tag)]
    tags: Vec<(String, String)>,
    /// Time between two samples [default: 1s]
    #[arg(long, value_name = "TIME")]
    interval: Option<Span>,
    /// Stop measuring after this time, while the command goes on [default: when the command ends]
    #[arg(long, value_name = "TIME")]
    duration: Option<Span>,
    /// Follow a running process and its descendants instead of starting a command
    #[arg(long, value_name = "PID", conflicts_with = "command", value_parser = clap::value_parser!(u32).range(1..))]
    pid: Option<u32>,
    #[command(flatten)]
    place: Place,
    /// Ask live services for the carbon intensity during the run, and log it with each sample
    #[cfg(feature = "live")]
    #[arg(long)]
    live: bool,
    /// Power usage effectiveness of the data centre, written to the log [default: that of the cloud
    /// provider; else none, and statements assume 1.58]
    #[arg(long, value_name = "PUE")]
    pue: Option<Pue>,
    /// Also write the time series to this file, which must be new
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Keep arguments, folders and the host's name out of the log
    #[arg(long)]
    redact: bool,
    /// Print nothing but what the command prints
    #[arg(long, short)]
    quiet: bool,
    /// Do not put the command into a control group of its own
    #[arg(long)]
    no_cgroup: bool,
    #[command(flatten)]
    wanted: WantedBefore,
    #[command(flatten)]
    hardware: Hardware,
    /// The command and its arguments
    #[arg(
        value_name = "CMD",
        help_heading = "Arguments",
        required_unless_present = "pid",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    command: Vec<OsString>,
}

impl TrackArgs {
    pub fn run(mut self, settings: &Sources) -> Outcome {
        let (config, faults) = Config::load_past_faults(settings)
            .map_err(|error| Failure::new(error).exit_with(exit::NOT_STARTED))?;
        let mut notes: Vec<String> = faults
            .into_iter()
            .map(|fault| Failure::new(fault).line())
            .collect();
        let roots = self.hardware.roots(&config);
        self.wanted.check(&roots)?;
        self.place.fill(&config);
        let interval = config.or(self.interval, "interval");
        self.quiet |= config.or(None, "log-level") == Some("error".to_owned());
        let subject = match self.pid {
            Some(pid) => Subject::Process(pid),
            None => Subject::Command(self.command),
        };
        let before_start = |failure: Failure| failure.exit_with(exit::NOT_STARTED);
        let tables = Tables::default();
        let places = match tables.open(&config) {
            Err(failure) if is_from_a_file(&config, &["zones", "intensities"]) => {
                notes.push(failure.line());
                tables.open(&Config::defaults())
            }
            opened => opened,
        };
        let places = places.map_err(before_start)?;
        let machine = configured::machine(Some(roots.sysfs.clone()), &config);
        let place = match self.place.find(&places, machine) {
            Err(failure) if self.place.is_from_a_file() => {
                notes.push(failure.line());
                None
            }
            found => found.map_err(before_start)?,
        };
        for note in &mut notes {
            // Also with --quiet: the run is not measured as the user has configured.
            tell(format!("impact: ignored: {}", escape::terminal(note)));
            *note = if self.redact {
                "a setting was ignored".to_owned()
            } else {
                format!("a setting was ignored: {note}")
            };
        }
        let mut pue = config.or(self.pue, "pue");
        let mut pue_source = pue.map(|_| PueSource::User);
        let region = place.as_ref().map(ResolvedPlace::region);
        let cloud_region = place.as_ref().and_then(ResolvedPlace::cloud);
        if pue.is_none()
            && let Some(known) = cloud_region.and_then(cloud::pue)
        {
            pue = Some(known.pue);
            pue_source = Some(PueSource::Provider(Citation {
                source: known.source,
                year: Some(known.year),
            }));
        }
        #[cfg(feature = "live")]
        let grid = if self.live {
            Some(grid(region.as_ref(), &config)?)
        } else {
            None
        };
        #[cfg(not(feature = "live"))]
        let grid = None;
        let plan = Plan {
            subject,
            out: self.out,
            logs: config
                .or(None, "output")
                .unwrap_or_else(|| PathBuf::from("impact-logs")),
            name: self.name,
            tags: BTreeMap::from_iter(self.tags),
            interval: interval.map_or(Duration::from_secs(1), |span| span.0),
            duration: self.duration.map(|span| span.0),
            pue,
            pue_source,
            region,
            grid,
            csv: self.csv,
            notes,
            redact: self.redact,
            own_group: !self.no_cgroup,
            roots,
        };
        let emissions = RunningEmissions::new(plan.region.as_ref(), plan.pue);
        let mut line = LiveLine::new(emissions);
        // An outer tracker already shows its line.
        let is_seen = !self.quiet
            && LiveLine::can_be_shown(&settings.environment)
            && outer_run(&settings.environment).is_none();
        let display = is_seen.then_some(&mut line as &mut dyn Display);
        let summary = track(&plan, display).map_err(not_started)?;
        if !self.quiet {
            let footprint = summary.run.as_deref().and_then(footprint);
            let text = table::table(&summary, footprint.as_ref(), &plan.label());
            tell(escape::terminal(text.trim_end()));
        } else if summary.run.is_none() {
            // Also with --quiet: without a log the run is lost.
            let text = format!("impact: there is no log: {}", summary.notes.join("; "));
            tell(escape::terminal(&text));
        }
        Ok(summary.ending.code())
    }
}

/// The services that know the zone, to be asked each in turn, then the yearly table.
#[cfg(feature = "live")]
fn grid(region: Option<&Region>, config: &Config) -> Result<Arc<ProviderChain>, Failure> {
    if region.is_none() {
        return Err(Failure::new(anyhow::anyhow!(
            "--live needs to know where the run takes place"
        ))
        .advise("--zone, --region or --address")
        .exit_with(exit::NOT_STARTED));
    }
    let places = Arc::new(configured::client(config));
    let provider = configured::provider(None, config);
    live::chosen(&places, &provider)
        .map(Arc::new)
        .ok_or_else(|| no_such_provider(&places, &provider).exit_with(exit::NOT_STARTED))
}

/// The footprint of a log, by what it recorded.
fn footprint(run: &Path) -> Option<Footprint> {
    let summary = summarise(run).ok()?;
    Some(Footprint::of(&summary, &Assumptions::default()))
}

fn is_from_a_file(config: &Config, keys: &[&str]) -> bool {
    let strongest = config.strongest(keys);
    strongest.is_some_and(|setting| setting.origin.is_file())
}

fn tag(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("expected KEY=VALUE".to_owned()),
    }
}

fn not_started(error: StartError) -> Failure {
    let code = match &error {
        StartError::Command { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            exit::NOT_FOUND
        }
        StartError::Command { .. } => exit::CANNOT_RUN,
        _ => exit::NOT_STARTED,
    };
    Failure::new(error).exit_with(code)
}
