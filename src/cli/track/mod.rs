mod live_line;
mod python_profile;
mod summary_file;
mod table;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use self::live_line::LiveLine;
use self::python_profile::{Profiler, PythonProfile};
use self::summary_file::SummaryFile;
use super::bad_value::BadValue;
#[cfg(feature = "live")]
use super::grid::no_such_provider;
use super::hardware::Hardware;
use super::output::tell;
use super::place::{self, Place};
use super::region::tables::Tables;
use super::require::WantedBefore;
use super::settings::{Config, Sources};
use super::{Failure, Outcome, configured, exit, powercap};
use crate::grid::ResolvedPlace;
#[cfg(feature = "live")]
use crate::grid::intensity::{ProviderChain, live};
use crate::grid::zone::cloud;
use crate::ledger::footprint::RunningEmissions;
use crate::ledger::summarise::summarise;
use crate::ledger::{Assumptions, Footprint};
use crate::meter::sensor::personal_computer;
#[cfg(feature = "live")]
use crate::model::info::Region;
use crate::model::{Citation, PueSource};
use crate::text::escape;
use crate::track::mark_socket::outer_run;
use crate::track::{CapRequest, Control, Display, Plan, StartError, Subject, track};
use crate::units::{Pue, Span, Watts};

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
  impact track --power-cap 180W --best-effort -- ./run.sh

The command keeps its input, output and terminal. It finds the folder of its run in IMPACT_RUN_DIR.
The exit code is that of the command, or 128+n if signal n killed it, 127 if it was not found, 126
if it cannot be run, 125 if impact failed before, 2 if an option is wrong.")]
pub struct TrackArgs {
    /// Folder of the run; if it holds a run, a new folder inside [default: impact-logs/<time>-<name>-<id>]
    #[arg(long, short, visible_alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,
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
    #[arg(long, value_name = "PID", conflicts_with = "command", value_parser = clap::value_parser!(u32).range(1..=i64::from(i32::MAX)))]
    pid: Option<u32>,
    /// Go on in the background, tell the start and the end of the measurement through this inherited Unix socket, and
    /// end it when `stop` comes from there; for programs that measure themselves
    #[arg(long, value_name = "DESCRIPTOR", requires = "pid", hide = true)]
    control: Option<i32>,
    #[command(flatten)]
    place: Place,
    /// Ask live services for the carbon intensity during the run, and log it with each sample
    #[cfg(feature = "live")]
    #[arg(long)]
    live: bool,
    /// Cap the power of each NVIDIA board that the command would see, such as 180W, until it ends
    #[arg(long, value_name = "POWER", value_parser = powercap::cap)]
    power_cap: Option<Watts>,
    /// Run without the power cap where it cannot be set; the log says so
    #[arg(long, requires = "power_cap")]
    best_effort: bool,
    /// Power usage effectiveness of the data centre, written to the log [default: that of the cloud
    /// provider, 1 on a laptop or workstation, else none, and statements assume the newest average, 1.54]
    #[arg(long, value_name = "PUE")]
    pue: Option<Pue>,
    /// Also write the time series to this file, which must be new
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Also write the closing figures to this JSON file, which must be new
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,
    /// Start the command under a profiler and store what it writes in the folder of the run, for `impact attribute`
    #[arg(long, value_enum, value_name = "PROFILER", conflicts_with = "pid")]
    profile: Option<Profiler>,
    /// Keep arguments, folders, the host's name and the ids of its boot and GPUs out of the log
    #[arg(long)]
    redact: bool,
    /// Print nothing but what the command prints, and what went wrong
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
        trailing_var_arg = true
    )]
    command: Vec<OsString>,
}

impl TrackArgs {
    pub fn run(self, settings: &Sources) -> Outcome {
        let control = self.control.map(control).transpose()?;
        let outcome = self.run_with(control.clone(), settings);
        if let (Some(control), Err(failure)) = (&control, &outcome) {
            control.failed(&failure.line());
        }
        outcome
    }

    fn run_with(self, control: Option<Arc<Control>>, settings: &Sources) -> Outcome {
        let (config, faults) = Config::load_past_faults(settings)
            .map_err(|error| Failure::new(error).exit_with(exit::NOT_STARTED))?;
        let faults = faults.into_iter().map(|fault| Failure::new(fault).line());
        let quiet = self.quiet || config.or(None, "log-level") == Some("error".to_owned());
        let summary_file = self.summary.as_deref().and_then(|path| {
            let told = |why: String| tell(format!("impact: {}", escape::terminal(&why)));
            SummaryFile::new(path, self.redact).map_err(told).ok()
        });
        let profile = self.profile.map(|Profiler::Python| PythonProfile::new());
        let profile = profile.transpose().map_err(|error| {
            let error = anyhow::Error::new(error).context("cannot prepare --profile");
            Failure::new(error).exit_with(exit::NOT_STARTED)
        })?;
        let mut plan = Plan {
            control,
            ..self.plan(settings, &config, faults.collect())?
        };
        if let Some(profile) = &profile {
            profile.join(&mut plan.roots.environment);
        }
        let wanted = plan.out.clone();
        let emissions = RunningEmissions::new(plan.region.as_ref(), plan.pue);
        // An outer tracker already shows its line.
        let is_seen = !quiet
            && LiveLine::can_be_shown(&settings.environment)
            && outer_run(&settings.environment).is_none();
        let display =
            is_seen.then(|| Box::new(LiveLine::new(emissions)) as Box<dyn Display + Send>);
        let label = plan.label();
        let words = match &plan.subject {
            Subject::Command(words) => words.clone(),
            Subject::Process(_) => Vec::new(),
        };
        // A command is not run without the cap that it needs.
        let must_be_capped = plan.power_cap.is_some_and(|request| !request.best_effort);
        let summary = match track(plan, display) {
            Err(error @ StartError::TooFewFiles(_)) if !words.is_empty() && !must_be_capped => {
                tell(format!(
                    "impact: {error}, so the command runs without being measured; raise the limit \
                     with ulimit -n 64"
                ));
                return Err(not_started(run_unmeasured(&words), "track"));
            }
            outcome => outcome.map_err(|error| not_started(error, "track"))?,
        };
        if let Some((wanted, run)) = wanted.as_ref().zip(summary.run.as_ref())
            && run.starts_with(wanted)
            && run != wanted
        {
            // Also with --quiet: whoever reads the folder afterwards would find the earlier run.
            let text = format!(
                "impact: {} holds another run; this one is in {}",
                wanted.display(),
                run.display()
            );
            tell(escape::terminal(&text));
        }
        if !quiet {
            let footprint = summary.run.clone().and_then(footprint);
            let program = std::env::args_os().next().map(PathBuf::from);
            let text = table::table(&summary, footprint.as_ref(), &label, program.as_deref());
            tell(escape::terminal(text.trim_end()));
        } else if summary.run.is_none() {
            // Also with --quiet: without a log the run is lost.
            let notes: Vec<String> = summary
                .notes
                .iter()
                .map(|note| format!("\n  {note}"))
                .collect();
            let text = format!("impact: this run has no log{}", notes.concat());
            tell(escape::terminal(&text));
        } else if !summary.not_in_log.is_empty() {
            let text = format!(
                "impact: the log is incomplete: {}",
                summary.not_in_log.join("; ")
            );
            tell(escape::terminal(&text));
        }
        if let Some(run) = summary
            .run
            .as_deref()
            .filter(|_| profile.is_some() && !quiet)
        {
            tell(escape::terminal(&PythonProfile::outcome(run)));
        }
        if let Some(Err(why)) = summary_file.map(|file| file.write(&summary)) {
            tell(format!("impact: {}", escape::terminal(&why)));
        }
        Ok(summary.ending.code())
    }

    /// What to track, and how; what was wrong with settings files is told and goes into the log.
    fn plan(
        mut self,
        settings: &Sources,
        config: &Config,
        mut faults: Vec<String>,
    ) -> Result<Plan, Failure> {
        let roots = self.hardware.roots(config);
        self.wanted.check(&roots)?;
        let is_place_open = self.place.query().is_none();
        self.place.fill(config);
        let interval = config.or(self.interval, "interval");
        let subject = match self.pid {
            Some(pid) => Subject::Process(pid),
            None => Subject::Command(self.command),
        };
        let before_start = |failure: Failure| failure.exit_with(exit::NOT_STARTED);
        let tables = Tables::default();
        let places = match tables.open(config) {
            Err(failure) if is_configured(config, &["zones", "intensities"]) => {
                faults.push(failure.line());
                tables.open(&Config::defaults())
            }
            opened => opened,
        };
        let places = places.map_err(before_start)?;
        let machine = configured::machine(Some(roots.sysfs.clone()), config);
        let place = match self.place.find(&places, machine.clone()) {
            Err(failure) if self.place.is_configured() => {
                faults.push(failure.line());
                self.place = Place::default();
                self.place.find(&places, machine).map_err(before_start)?
            }
            Err(failure) if is_configured(config, &["dataset", "zones", "intensities"]) => {
                faults.push(failure.line());
                let usual = tables.open(&Config::defaults()).map_err(before_start)?;
                self.place.find(&usual, machine).map_err(before_start)?
            }
            found => found.map_err(before_start)?,
        };
        let region = place
            .as_ref()
            .map(|place| place.region(self.place.source()));
        #[cfg(feature = "live")]
        let grid = if self.live {
            Some(grid(region.as_ref(), config, &mut faults)?)
        } else {
            None
        };
        #[cfg(not(feature = "live"))]
        let grid = None;
        let mut notes = tell_ignored(&faults, self.redact);
        notes.extend(settings.ignored.as_ref().map(|file| {
            if self.redact {
                "the settings of the project belong to somebody else and were not used".to_owned()
            } else {
                file.to_string()
            }
        }));
        let mut open = vec!["dataset", "cpu-tdp", "gpu-tdp", "memory-watts-per-gb"];
        open.extend(self.pue.is_none().then_some("pue"));
        // Only one of the three is used.
        let place_key = config.strongest(&place::KEYS);
        let place_key = place_key.filter(|_| is_place_open);
        open.extend(place_key.map(|setting| setting.key.name));
        let project_settings = config.of_project(open);
        let (pue, pue_source) = match config.or(self.pue, "pue") {
            Some(pue) => Some((pue, PueSource::User)),
            None => place.as_ref().and_then(pue_of_cloud).or_else(|| {
                let is_in_a_cloud = place.as_ref().is_some_and(|place| place.cloud().is_some());
                let machine = personal_computer(&roots).filter(|_| !is_in_a_cloud)?;
                Some((Pue::ONE, PueSource::Machine(machine)))
            }),
        }
        .unzip();
        Ok(Plan {
            subject,
            out: self.output,
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
            power_cap: self.power_cap.map(|cap| CapRequest {
                cap,
                best_effort: self.best_effort,
            }),
            notes,
            project_settings,
            redact: self.redact,
            own_group: !self.no_cgroup,
            control: None,
            roots,
        })
    }
}

/// Leaves the process that started this one, and keeps a connection to it.
fn control(descriptor: i32) -> Result<Arc<Control>, Failure> {
    let failed = |error: io::Error| {
        let failure = Failure::new(anyhow::Error::new(error).context("--control cannot be used"));
        failure.exit_with(exit::NOT_STARTED)
    };
    let control = Control::inherited(descriptor).map_err(failed)?;
    Control::detach().map_err(failed)?;
    Ok(Arc::new(control))
}

/// Tells the user what was ignored, also with --quiet: the run is not measured as the user has configured.
///
/// Gives the notes for the log.
fn tell_ignored(faults: &[String], redact: bool) -> Vec<String> {
    let note = |fault: &String| {
        tell(format!("impact: ignored: {}", escape::terminal(fault)));
        if redact {
            "a setting was ignored".to_owned()
        } else {
            format!("a setting was ignored: {fault}")
        }
    };
    faults.iter().map(note).collect()
}

/// The PUE that the provider of a cloud region states.
fn pue_of_cloud(place: &ResolvedPlace) -> Option<(Pue, PueSource)> {
    let known = place.cloud().and_then(cloud::pue)?;
    let citation = Citation {
        source: known.source,
        year: Some(known.year),
    };
    Some((known.pue, PueSource::Provider(citation)))
}

/// The services that know the zone, to be asked each in turn, then the yearly table.
#[cfg(feature = "live")]
fn grid(
    region: Option<&Region>,
    config: &Config,
    faults: &mut Vec<String>,
) -> Result<Arc<ProviderChain>, Failure> {
    if region.is_none() {
        return Err(Failure::new(anyhow::anyhow!(
            "--live needs to know where the run takes place"
        ))
        .advise("--zone, --address, --region or --country")
        .exit_with(exit::NOT_STARTED));
    }
    let places = Arc::new(configured::client(config));
    let provider = configured::provider(None, config);
    if let Some(chain) = live::chosen(&places, &provider) {
        return Ok(Arc::new(chain));
    }
    let failure = no_such_provider(&places, &provider);
    if !is_configured(config, &["provider"]) {
        return Err(failure.exit_with(exit::NOT_STARTED));
    }
    faults.push(failure.line());
    Ok(Arc::new(live::auto(&places)))
}

/// Becomes the command; returns only if that fails.
fn run_unmeasured(words: &[OsString]) -> StartError {
    use std::os::unix::process::CommandExt as _;
    let (program, arguments) = words.split_first().expect("a command has a first word");
    StartError::Command {
        command: program.to_string_lossy().into_owned(),
        source: std::process::Command::new(program).args(arguments).exec(),
    }
}

/// How long the end of a run waits until its log has been read again.
const FOOTPRINT_PATIENCE: Duration = Duration::from_secs(2);

/// The footprint of a log, by what it recorded; none if the disk takes too long.
fn footprint(run: PathBuf) -> Option<Footprint> {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let summary = summarise(&run).ok();
        let footprint = summary.map(|run| Footprint::of(&run, &Assumptions::default()));
        let _ = sender.send(footprint);
    });
    receiver.recv_timeout(FOOTPRINT_PATIENCE).ok().flatten()
}

/// Whether a file or a variable sets one of the keys, and the command line sets none.
fn is_configured(config: &Config, keys: &[&str]) -> bool {
    let strongest = config.strongest(keys);
    strongest.is_some_and(|setting| setting.origin.is_configured())
}

fn tag(text: &str) -> Result<(String, String), BadValue> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(BadValue::NotAPair {
            example: Some("lr=0.1"),
        }),
    }
}

/// Why a command of `impact COMMAND` was not started.
pub(super) fn not_started(error: StartError, command: &str) -> Failure {
    let (code, advice) = match &error {
        StartError::PowerCap(error) => (exit::NOT_STARTED, powercap::advice(error)),
        StartError::Command { source, .. } if source.kind() == io::ErrorKind::NotFound => (
            exit::NOT_FOUND,
            Some("another spelling, or the path of the program if it is not in PATH".to_owned()),
        ),
        StartError::Command { .. } => (
            exit::CANNOT_RUN,
            Some(format!(
                "chmod +x for a program, or its interpreter: impact {command} -- sh ./script"
            )),
        ),
        StartError::Process { .. } => (
            exit::NOT_STARTED,
            Some("the id of a process of yours that runs, as ps shows it".to_owned()),
        ),
        _ => (exit::NOT_STARTED, None),
    };
    let failure = Failure::new(error).exit_with(code);
    match advice {
        Some(advice) => failure.advise(advice),
        None => failure,
    }
}
