use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::process::Pid;

use super::{Tracker, cards};
use crate::grid::intensity::IntensityPoller;
use crate::meter::clock::{ClockReading, own_cpu_time};
use crate::meter::counter_lag::CounterLag;
use crate::meter::host;
use crate::meter::process_tree::TreeRoot;
use crate::meter::recent_totals::RecentTotals;
use crate::meter::run_cgroup::RunCgroup;
use crate::meter::sampler::Sampler;
use crate::meter::sensor::{Boards, Processor, Roots, Survey};
use crate::model::info::Host;
use crate::model::{Info, SCHEMA};
use crate::track::child::Child;
use crate::track::info_writer::{InfoTask, InfoWriter};
use crate::track::mark_socket::{MarkSocket, VARIABLE, outer_run};
use crate::track::recorder::Recorder;
use crate::track::signals::Signals;
use crate::track::spawn::Launch;
use crate::track::{Display, Plan, Subject, git, python};

/// How long the start waits for the GPU library; a slow one is taken in when it is ready.
const BOARDS_PATIENCE: Duration = Duration::from_millis(3);
/// How long it waits for a library that was asked for by its path.
const NAMED_PATIENCE: Duration = Duration::from_secs(2);

/// Why a run never began.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("the command `{command}` cannot be started")]
    Command {
        command: String,
        #[source]
        source: io::Error,
    },
    #[error("process {pid} cannot be tracked")]
    Process {
        pid: u32,
        #[source]
        source: io::Error,
    },
    #[error("signals cannot be received")]
    Signals(#[source] io::Error),
}

/// The subject, ready to be measured.
enum Ready<'p> {
    Found(Child),
    Launch(Launch, &'p [OsString]),
}

impl<'p> Tracker<'p> {
    /// Gets everything ready, starts the command or finds the process, and begins to count.
    pub(super) fn start(
        plan: &'p Plan,
        display: Option<&'p mut dyn Display>,
    ) -> Result<Self, StartError> {
        let cpu_at_start = own_cpu_time();
        let id = new_id();
        // Before any thread is started: one without the mask would take signals from us.
        let signals = Signals::hold().map_err(StartError::Signals)?;
        let grid = ask_grid(plan);
        let mark_socket = MarkSocket::open(&id).ok();
        let ready = match &plan.subject {
            Subject::Process(pid) => Ready::Found(find(*pid)?),
            Subject::Command(words) => {
                let address = mark_socket
                    .as_ref()
                    .map(MarkSocket::address)
                    .unwrap_or_default();
                let launch = Launch::new(words, &[(VARIABLE, &address)]);
                Ready::Launch(launch.map_err(|source| unstartable(words, source))?, words)
            }
        };
        let boards = find_boards(&plan.roots);
        let mut survey = Survey::of(&plan.roots);
        let (top, cgroup) = match &ready {
            Ready::Found(child) => (TreeRoot::Process(child.pid()), None),
            Ready::Launch(..) if plan.own_group => (TreeRoot::Ours, RunCgroup::make(&plan.roots)),
            Ready::Launch(..) => (TreeRoot::Ours, None),
        };
        let mut sampler = Sampler::new(&plan.roots, &survey, top, cgroup);
        for sensor in std::mem::take(&mut survey.sensors) {
            sampler.sensors.add(sensor, Duration::ZERO);
        }
        let mut info = first_info(plan, &id);
        let patience = match plan.roots.nvml_lib {
            Some(_) => NAMED_PATIENCE,
            None => BOARDS_PATIENCE,
        };
        let early = boards
            .as_ref()
            .and_then(|boards| boards.recv_timeout(patience).ok());
        let boards = boards.filter(|_| early.is_none());
        let mut notes = first_notes(plan, &survey);
        notes.extend(sampler.add_boards(early.unwrap_or_default(), Duration::ZERO));
        (info.host.gpus, info.host.gpu_driver) = cards(&sampler.boards);
        info.sensors = sampler.sensors.sensors();
        info.counters_at_start = sampler.sensors.counters();
        let first = sampler.begin(ClockReading::now());
        let mut recorder = Recorder::create(plan, &id, &info, &first);
        notes.drain(..).for_each(|note| recorder.note(note));
        // The last thing before the command starts: everything read anew.
        sampler.begin(ClockReading::now());
        let baseline = sampler.sensors.totals();
        let (child, began) = match ready {
            Ready::Found(child) => (child, ClockReading::now()),
            Ready::Launch(launch, words) => {
                match Child::start(launch, &signals.inherited, sampler.cgroup()) {
                    Ok((child, started)) => {
                        if !started.is_in_group {
                            sampler.drop_cgroup();
                        }
                        (child, ClockReading::now().back_at(started.began))
                    }
                    Err(source) => {
                        recorder.discard();
                        return Err(unstartable(words, source));
                    }
                }
            }
        };
        sampler.follow(child.pid().as_raw_pid() as u32, began);
        let at = sampler.elapsed(&ClockReading::now());
        sampler.sensors.read_lively(at);
        let timed_totals = sampler.timed_totals(at, sampler.sensors.totals());
        let lag = CounterLag::at(Duration::ZERO, &baseline, &timed_totals);
        let place = recorder
            .log()
            .and_then(|log| Some((log.folder().to_owned(), log.data().ok()?)));
        let memory = sampler.machine().memory().map(|memory| memory.total);
        let info_writer =
            InfoWriter::start(info, place, info_tasks(plan, survey.processor, memory));
        let last_awake = *sampler.started();
        Ok(Self {
            plan,
            display,
            sampler,
            recorder,
            info_writer,
            signals,
            mark_socket,
            child,
            boards,
            grid,
            lag,
            is_lag_known: false,
            recent_totals: RecentTotals::default(),
            last_awake,
            cpu_at_start,
            stop_asked: None,
            is_stopped: false,
            is_over: false,
            ended: None,
            realtime_sources: BTreeSet::new(),
        })
    }
}

/// Asks how dirty the electricity is where the run takes place, if that is wanted.
fn ask_grid(plan: &Plan) -> Option<IntensityPoller> {
    let chain = plan.grid.as_ref()?;
    let region = plan.region.as_ref()?;
    Some(IntensityPoller::start(
        Arc::clone(chain),
        region.zone.clone(),
    ))
}

fn unstartable(words: &[OsString], source: io::Error) -> StartError {
    StartError::Command {
        command: words
            .first()
            .map(|word| word.to_string_lossy().into_owned())
            .unwrap_or_default(),
        source,
    }
}

fn find(pid: u32) -> Result<Child, StartError> {
    i32::try_from(pid)
        .ok()
        .and_then(Pid::from_raw)
        .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))
        .and_then(Child::find)
        .map_err(|source| StartError::Process { pid, source })
}

/// Six bytes nobody else has: two trackers never meet.
fn new_id() -> String {
    use std::hash::{BuildHasher, Hasher, RandomState};
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    format!("{:012x}", hasher.finish() & 0xffff_ffff_ffff)
}

/// What the log should say from the start.
fn first_notes(plan: &Plan, survey: &Survey) -> Vec<String> {
    let mut notes = plan.notes.clone();
    notes.extend(survey.what_is_not_read());
    if survey.clock.is_none() {
        notes.push(
            "nobody says how busy the machine is, so all it draws while the run works is taken for \
             the run's"
                .to_owned(),
        );
    }
    notes
}

/// What is known before the command starts; the rest is gathered while it runs.
fn first_info(plan: &Plan, id: &str) -> Info {
    Info {
        schema: SCHEMA,
        impact_version: env!("CARGO_PKG_VERSION").to_owned(),
        id: id.to_owned(),
        inside: outer_run(),
        name: Some(plan.name()).filter(|name| !name.is_empty()),
        tags: plan.tags.clone(),
        command: plan.command_line(),
        started: Some(chrono::Local::now().fixed_offset()),
        interval_s: Some(plan.interval.as_secs_f64()),
        pue: plan.pue,
        region: plan.region.clone(),
        scheduler: host::scheduler(plan.redact),
        ..Info::default()
    }
}

/// What takes time to find out, to be done beside the running command; the quickest first.
fn info_tasks(plan: &Plan, processor: Processor, memory: Option<u64>) -> Vec<InfoTask> {
    let roots = plan.roots.clone();
    let redact = plan.redact;
    let subject = plan.subject.clone();
    let folder = std::env::current_dir().ok();
    let working_directory = folder.as_ref().map(|folder| folder.display().to_string());
    vec![
        Box::new(move |info| {
            info.host = Host {
                gpus: std::mem::take(&mut info.host.gpus),
                gpu_driver: info.host.gpu_driver.take(),
                ..host::host(&roots, &processor, memory)
            };
            if redact {
                info.host.hostname = None;
                info.host.cgroup = None;
            } else {
                info.working_directory = working_directory;
            }
        }),
        Box::new(move |info| info.git = folder.as_deref().and_then(git::state)),
        Box::new(move |info| {
            if let Subject::Command(words) = &subject {
                info.python = python::state(words);
            }
        }),
    ]
}

/// Looks for accelerators beside the start, since loading their library may take long.
fn find_boards(roots: &Roots) -> Option<Receiver<Boards>> {
    if !Boards::are_likely(roots) {
        return None;
    }
    let (sender, receiver) = channel();
    let roots = roots.clone();
    std::thread::Builder::new()
        .name("boards".to_owned())
        .spawn(move || sender.send(Boards::of(&roots)))
        .ok()?;
    Some(receiver)
}
